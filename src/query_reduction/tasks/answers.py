"""Right or wrong, and how sure: error and loss of every restart of a stack."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn import functional

from query_reduction.data.encoding import EncodedQuestions
from query_reduction.data.words import split_words
from query_reduction.networks.protocol import StackedNetwork
from query_reduction.tasks.protocol import Given

__all__ = ["Evaluation", "error_by_kind", "error_by_task", "evaluate", "percent_wrong"]

_BATCH = 256
_KINDS = 12
"""The maximum number of question kinds reported separately."""
_OTHERS = "(others)"


@dataclass(frozen=True, slots=True)
class Evaluation:
    """Results of a stack on a set of questions."""

    loss: NDArray[np.float64]
    """Mean cross-entropy of each restart, over the questions whose answer it could give."""
    correct: NDArray[np.bool_]
    """restart x question."""
    variation: NDArray[np.float64]
    """How much the score of any one answer differs between questions, for each restart; 0 if it does not read them."""

    @property
    def error(self) -> NDArray[np.float64]:
        """Error of each restart in percent; an answer never seen in training counts as wrong."""
        error: NDArray[np.float64] = 100 * (1 - self.correct.mean(axis=1))
        return error


@torch.inference_mode()
def evaluate(
    network: StackedNetwork, questions: EncodedQuestions, chosen: NDArray[np.integer] | None = None
) -> Evaluation:
    """Answer all (or the chosen) questions with every restart."""
    order = np.arange(len(questions)) if chosen is None else chosen
    restarts = network.restarts
    network.eval()
    correct = np.zeros((restarts, len(questions)), bool)
    loss = torch.zeros(restarts, dtype=torch.float64)
    answerable = 0
    highest, lowest = torch.tensor(-torch.inf), torch.tensor(torch.inf)  # restart x answer
    for part, batch in questions.batches(_BATCH, order):
        scores = network.scores(batch)
        highest = torch.maximum(highest, scores.amax(1))
        lowest = torch.minimum(lowest, scores.amin(1))
        answers = batch.answers.long()
        correct[:, part] = (scores.argmax(2) == answers).numpy()
        targets = answers.expand(restarts, -1)
        losses = functional.cross_entropy(scores.transpose(1, 2), targets, ignore_index=-1, reduction="none")
        loss += losses.double().sum(1)
        answerable += int((answers >= 0).sum())
    variation = (highest - lowest).double().expand(restarts, -1).amax(1)
    return Evaluation((loss / max(answerable, 1)).numpy(), correct[:, order], variation.numpy())


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
