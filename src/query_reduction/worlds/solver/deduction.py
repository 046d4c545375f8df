"""Tasks 15 and 16, read from the text."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

__all__ = ["SOLVERS"]

_ARE_AFRAID = re.compile(r"(\w+) are afraid of (\w+)\.")
_IS_A = re.compile(r"(\w+) is a (\w+)\.")
_IS_COLOUR = re.compile(r"(\w+) is (\w+)\.")
_AFRAID_OF = re.compile(r"What is (\w+) afraid of\?")
_WHAT_COLOUR = re.compile(r"What color is (\w+)\?")
_SINGULAR = {"mice": "mouse", "sheep": "sheep", "wolves": "wolf", "moose": "moose"}


def _singular(plural: str) -> str:
    return _SINGULAR.get(plural.lower()) or plural.lower().removesuffix("s")


def _deduction(sentences: Sequence[str], question: str) -> str:
    asked = _AFRAID_OF.fullmatch(question)
    if not asked:
        raise ValueError(f"not a question of task 15: {question}")
    animal_of: dict[str, str] = {}
    fear_of: dict[str, str] = {}
    for sentence in sentences:
        if fact := _ARE_AFRAID.fullmatch(sentence):
            fear_of[_singular(fact[1])] = _singular(fact[2])
        elif fact := _IS_A.fullmatch(sentence):
            animal_of[fact[1].lower()] = fact[2]
    return fear_of[animal_of[asked[1]]]


def _induction(sentences: Sequence[str], question: str) -> str:
    """The colour of the one that appeared last among the others of the same kind."""
    asked = _WHAT_COLOUR.fullmatch(question)
    if not asked:
        raise ValueError(f"not a question of task 16: {question}")
    animal_of: dict[str, str] = {}
    colour_of: dict[str, str] = {}
    for sentence in sentences:
        if fact := _IS_A.fullmatch(sentence):
            animal_of.setdefault(fact[1], fact[2])
        elif fact := _IS_COLOUR.fullmatch(sentence):
            colour_of[fact[1]] = fact[2]
    company = [name for name, animal in animal_of.items() if animal == animal_of[asked[1]] and name != asked[1]]
    return colour_of[company[-1]]


SOLVERS: dict[int, Callable[[Sequence[str], str], str]] = {15: _deduction, 16: _induction}
