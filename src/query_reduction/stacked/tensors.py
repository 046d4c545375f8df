"""Arrays as tensors: what networks compute with while they learn."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Int
from torch import Tensor

from query_reduction.text.batch import Batch

__all__ = ["TensorBatch"]


@dataclass(frozen=True, slots=True)
class TensorBatch:
    """A ``Batch`` as tensors, which share its memory; the fields are explained there."""

    words: Int[Tensor, "sentence word"]
    stories: Int[Tensor, "batch time"]
    lengths: Int[Tensor, "batch"]
    questions: Int[Tensor, "batch"]
    answers: Int[Tensor, "batch"]

    @staticmethod
    def of(batch: Batch) -> TensorBatch:
        """The tensors of a batch."""
        arrays = (batch.words, batch.stories, batch.lengths, batch.questions, batch.answers)
        return TensorBatch(*map(torch.from_numpy, arrays))

    def as_arrays(self) -> Batch:
        """The batch of these tensors."""
        tensors = (self.words, self.stories, self.lengths, self.questions, self.answers)
        return Batch(*(tensor.numpy() for tensor in tensors))
