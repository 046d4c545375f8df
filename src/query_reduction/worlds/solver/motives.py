"""Task 20, read from the text: what somebody last felt, and the common sense of where that leads."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

__all__ = ["SOLVERS"]

_FEELS = re.compile(r"(\w+) is (\w+)\.")
_WHERE = re.compile(r"Where will (\w+) go\?")
_WHY = re.compile(r"Why did (\w+) (?:go to|get) the (\w+)\?")
_LEADS_TO = {"hungry": "kitchen", "thirsty": "kitchen", "bored": "garden", "tired": "bedroom"}


def _motivations(sentences: Sequence[str], question: str) -> str:
    asked = _WHERE.fullmatch(question) or _WHY.fullmatch(question)
    if not asked:
        raise ValueError(f"not a question of task 20: {question}")
    feelings = [
        fact[2]
        for sentence in sentences
        if (fact := _FEELS.fullmatch(sentence)) and fact[1].lower() == asked[1] and fact[2] in _LEADS_TO
    ]
    return _LEADS_TO[feelings[-1]] if question.startswith("Where") else feelings[-1]


SOLVERS: dict[int, Callable[[Sequence[str], str], str]] = {20: _motivations}
