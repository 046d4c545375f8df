"""What most networks share: a story and a question become one vector, and a head reads the answer from it."""

from __future__ import annotations

from abc import abstractmethod

from jaxtyping import Float
from torch import Tensor

from query_reduction.heads.stacked import Head, Weights
from query_reduction.stacked.network import StackedNetwork
from query_reduction.stacked.tensors import TensorBatch

__all__ = ["VectorReader"]


class VectorReader(StackedNetwork):
    """A stack of networks that read a batch into vectors; a subclass reads, and builds its head."""

    head: Head
    answer_weight: Float[Tensor, "restart answer dim"]
    answer_current: Float[Tensor, "restart word dim"]
    answer_match: Float[Tensor, "restart position 2 dim"]

    @abstractmethod
    def read(self, batch: TensorBatch) -> Float[Tensor, "restart batch dim"]:
        """The vector each answer is read from."""

    def head_weights(self) -> Weights:
        """Where the head finds its weights."""
        return self

    def scores(self, batch: TensorBatch) -> Float[Tensor, "restart batch answer"]:
        """The score of every answer."""
        return self.head.scores(self.head_weights(), self.read(batch), batch)

    def losses(self, batch: TensorBatch) -> Float[Tensor, "restart batch"]:
        """The cross-entropy of every correct answer."""
        return self.head.losses(self.head_weights(), self.read(batch), batch)
