"""Error and loss of every restart of a stack while it trains."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn import functional

from query_reduction.stacked.network import StackedNetwork
from query_reduction.stacked.tensors import TensorBatch
from query_reduction.text.encoding import EncodedQuestions

__all__ = ["Evaluation", "evaluate"]

_BATCH = 256


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
    for part, encoded in questions.batches(_BATCH, order):
        batch = TensorBatch.of(encoded)
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
