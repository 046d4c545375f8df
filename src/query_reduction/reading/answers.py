"""Right or wrong: the error of a network, over all questions, by task and by kind of question."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from query_reduction.network import Network
from query_reduction.reading.calibration import expected_calibration_error, reliability, risk_at_coverage
from query_reduction.reading.protocol import Given
from query_reduction.text.encoding import EncodedQuestions
from query_reduction.text.words import split_words

__all__ = ["answered_right", "certainty", "error_by_kind", "error_by_task", "percent_wrong"]

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


def certainty(given: Sequence[Given], threshold: float) -> dict[str, Any]:
    """What confidence is worth: its distance from the share of right answers, and the error among the surest."""
    confidences = np.array([one.confidence for one in given])
    right = np.array([one.right for one in given])
    return {
        "questions": len(given),
        "calibration_error": round(100 * expected_calibration_error(confidences, right), 4),
        "error_at_coverage": risk_at_coverage(confidences, right),
        "declined": int((confidences < threshold).sum()),
        "reliability": [asdict(row) for row in reliability(confidences, right)],
    }


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
