"""A Query-Reduction Network in training, with native code wherever there is some for its parts.

``FUSED`` lists the encoders and heads for which a whole training step is one call. For other combinations the part that
reads is one call between those that PyTorch computes. Everything equals ``qrn.network`` in value and gradient.
"""

from __future__ import annotations

from dataclasses import replace

from jaxtyping import Float, Int
from torch import Tensor

from query_reduction.encoders.position import Position, word_table
from query_reduction.heads.arrays import HeadConfig
from query_reduction.heads.stacked import AnswerHead
from query_reduction.native import reader as native_reader
from query_reduction.native.shape import Shape
from query_reduction.native.step import TrainingStep
from query_reduction.qrn.network import LayerGates, QueryReductionNetwork
from query_reduction.qrn.variants import QRNConfig, shape_of
from query_reduction.stacked.network import Seeds
from query_reduction.stacked.tensors import TensorBatch
from query_reduction.text.vocabulary import Vocabulary

__all__ = ["FUSED", "FusedNetwork"]

FUSED: dict[tuple[type, type], type[TrainingStep]] = {(Position, AnswerHead): TrainingStep}
"""The native training step for an encoder and a head."""


class FusedNetwork(QueryReductionNetwork):
    """A stack of Query-Reduction Networks that trains in native code where it is available."""

    def __init__(self, config: QRNConfig, vocabulary: Vocabulary, head: HeadConfig, seeds: Seeds) -> None:
        super().__init__(config, vocabulary, head, seeds)
        self.use_native(True)
        self._shape = shape_of(config)
        plain = not config.vectors and not config.decode_questions
        self._step_type = FUSED.get((type(self.encoder), type(self.head))) if plain else None
        self._step: TrainingStep | None = None

    def use_native(self, wanted: bool) -> None:
        """See ``StackedNetwork``."""
        self.native = wanted and native_reader.available()
        self.scan_backend = "auto" if self.native else "associative"

    @property
    def _shape_now(self) -> Shape:
        return replace(self._shape, gate_stretch=self.gate_stretch)

    def _fast(self, tensor: Tensor) -> bool:
        return self.native and native_reader.supports(tensor)

    def backpropagate(self, batch: TensorBatch, scale: float = 1.0) -> Float[Tensor, "restart"]:
        """See ``StackedNetwork``; in the common case one call of native code."""
        if self._step_type is None or not self._fast(self.embedding):
            return super().backpropagate(batch, scale)
        # All parameters are the network's own; named_parameters would look for more in every step.
        parameters = {name: own for name, own in self._parameters.items() if own is not None}
        if self._step is None or not self._step.serves(parameters):
            self._step = self._step_type(parameters)
        parts = (batch.words, batch.stories, batch.lengths, batch.questions, batch.answers)
        return self._step.take(self._shape_now, self.encoder.config.longest, parts, scale)

    def encode(self, words: Int[Tensor, "sentence word"]) -> Float[Tensor, "restart sentence dim"]:
        """See ``QueryReductionNetwork``."""
        if not self._fast(self.embedding):
            return super().encode(words)
        rows = native_reader.encode(word_table(self.encoder.config, self), words, self.encoder.config.longest)
        return rows if isinstance(self.encoder, Position) else rows + self.encoder.context(self, words)

    def asked(
        self, table: Float[Tensor, "restart sentence dim"], questions: Int[Tensor, "batch"]
    ) -> Float[Tensor, "restart batch dim"]:
        """See ``QueryReductionNetwork``."""
        return native_reader.rows(table, questions) if self._fast(table) else super().asked(table, questions)

    def read(
        self,
        table: Float[Tensor, "restart sentence dim"],
        query: Float[Tensor, "restart batch dim"],
        stories: Int[Tensor, "batch time"],
        lengths: Int[Tensor, "batch"],
        recorded: list[LayerGates] | None = None,
    ) -> Float[Tensor, "restart batch dim"]:
        """See ``QueryReductionNetwork``; what is recorded is computed step by step."""
        if recorded is not None or not self._fast(table):
            return super().read(table, query, stories, lengths, recorded)
        return native_reader.read(self._shape_now, dict(self.named_parameters()), table, query, stories, lengths)
