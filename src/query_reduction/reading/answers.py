"""Right or wrong: the error of a network, over all questions, by task and by kind of question."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from query_reduction.network import Network
from query_reduction.reading.protocol import Given
from query_reduction.text.encoding import EncodedQuestions
from query_reduction.text.words import split_words

__all__ = ["answered_right", "error_by_kind", "error_by_task", "percent_wrong"]

_BATCH = 256
_KINDS = 12
"""The maximum number of question kinds reported separately."""
_OTHERS = "(others)"


def answered_right(network: Network, questions: EncodedQuestions) -> NDArray[np.bool_]:
    """Which questions a network answers correctly; an answer never seen in training counts as wrong."""
    correct = np.zeros(len(questions), bool)
    for part, batch in questions.batches(_BATCH):
        correct[part] = network.scores(batch).argmax(1) == batch.answers
    return correct


def percent_wrong(correct: NDArray[np.bool_]) -> float:
    """Error in percent."""
    return round(100 * float((~correct).mean()), 4)


def error_by_task(questions: EncodedQuestions, correct: NDArray[np.bool_]) -> dict[str, float]:
    """Error in percent by task, where the stories say their task."""
    tasks = np.array(questions.tasks)
    names = sorted({task for task in questions.tasks if task}, key=lambda task: (len(task), task))
    return {name: percent_wrong(correct[tasks == name]) for name in names}


def error_by_kind(given: Iterable[Given]) -> dict[str, dict[str, float]]:
    """Count and error of each kind of question, identified by its first two words; rare kinds are grouped as one."""
    right: dict[str, list[bool]] = {}
    for one in given:
        right.setdefault(" ".join(split_words(one.question.text.lower(), "text")[:2]), []).append(one.right)
    common = sorted(right, key=lambda kind: (-len(right[kind]), kind))[:_KINDS]
    grouped = {kind: right[kind] for kind in common}
    others = [found for kind, every in right.items() if kind not in grouped for found in every]
    if others:
        grouped[_OTHERS] = others
    return {kind: {"questions": len(found), "error": percent_wrong(np.array(found))} for kind, found in grouped.items()}
