"""A trained Query-Reduction Network in use, on NumPy arrays.

Answers come from native code where there is any; what an explanation shows is computed here, step by step, and so are
answers without native code. ``qrn.network`` is the reference that all of it must match.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from query_reduction.encoders.arrays import encode, encoder_shapes, word_table
from query_reduction.errors import InputError
from query_reduction.heads.arrays import HeadConfig, build_head
from query_reduction.native import library as native
from query_reduction.native.arrays import ArrayReader
from query_reduction.network import Floats, TracedBatch, TracedLayer
from query_reduction.qrn.contributions import LayerGates, read_weights
from query_reduction.qrn.decoder import InWords, decoder_shapes
from query_reduction.qrn.variants import QRNConfig, encoder_of, shape_of
from query_reduction.recurrence.arrays import scan
from query_reduction.text.batch import Batch, Ints
from query_reduction.text.vocabulary import Vocabulary

if TYPE_CHECKING:
    from jaxtyping import Float, Int

__all__ = ["QueryReduction", "check_shapes", "entering"]


class QueryReduction:
    """One trained network; see ``query_reduction.network``."""

    shows_reading = True

    def __init__(
        self, config: QRNConfig, vocabulary: Vocabulary, head: HeadConfig, weights: Mapping[str, Floats]
    ) -> None:
        """``weights`` by name, each with a leading dimension of one; they are compared with the settings first."""
        self.config = config
        self.head = build_head(head, vocabulary)
        self._vocabulary = vocabulary
        self._encoder = encoder_of(config, vocabulary)
        shape = shape_of(config)
        wanted = encoder_shapes(self._encoder) | shape.parameters()
        wanted |= self.head.shapes(config.dimension)
        if config.decode_questions:
            wanted |= decoder_shapes(vocabulary, config.dimension)
        check_shapes(weights, wanted)
        # Half precision is for files.
        dtype = np.result_type(np.float32, *(weight.dtype for weight in weights.values()))
        stacked = {name: np.ascontiguousarray(weight, dtype) for name, weight in weights.items()}
        self.weights = {name: weight[0] for name, weight in stacked.items()}
        """By name."""
        self._table = word_table(self._encoder, self.weights)
        stacked["embedding"] = self._table[None]
        self._native = ArrayReader(shape, stacked) if native.available() else None

    def scores(self, batch: Batch) -> Float[Floats, "batch answer"]:
        """See ``Network``."""
        table = self.encode(batch.words)
        reduced = self.read(table, table[batch.questions], batch.stories, batch.lengths)
        return self.head.scores(self.weights, reduced, batch)

    def trace(self, batch: Batch) -> TracedBatch:
        """Gates, candidates, reduced queries, and how much of the answer was read from each sentence."""
        table = self.encode(batch.words)
        query = table[batch.questions]
        gates = self.gates(table, query, batch.stories, batch.lengths)
        layers = tuple(
            TracedLayer(layer.named(), weights, layer.candidate, layer.reduced)
            for layer, weights in zip(gates, read_weights(gates, batch.lengths), strict=True)
        )
        scores = self.head.scores(self.weights, _at_the_end(gates, query, batch.lengths), batch)
        in_words = None
        if self.config.decode_questions:
            in_words = InWords(self.weights, self._vocabulary, query, gates, batch.lengths)
        return TracedBatch(layers, scores, (lambda: self._so_far(gates[-1].reduced)) if gates else None, in_words)

    def encode(self, words: Int[Ints, "sentence word"]) -> Float[Floats, "sentence dim"]:
        """Sentence vectors; one encoder serves sentences and questions."""
        if self._native is not None and self._encoder.name == "position":
            table: Floats = self._native.encode(words, self._encoder.longest)[0]
            return table
        return encode(self._encoder, self.weights, self._table, words)

    def read(
        self,
        table: Float[Floats, "sentence dim"],
        query: Float[Floats, "batch dim"],
        stories: Int[Ints, "batch time"],
        lengths: Int[Ints, "batch"],
    ) -> Float[Floats, "batch dim"]:
        """Reduce each query over its story; the last layer's state at the last sentence is the answer vector."""
        if self._native is not None:
            reduced: Floats = self._native.read(table[None], query[None], stories, lengths)[0]
            return reduced
        return _at_the_end(self.gates(table, query, stories, lengths), query, lengths)

    def gates(
        self,
        table: Float[Floats, "sentence dim"],
        query: Float[Floats, "batch dim"],
        stories: Int[Ints, "batch time"],
        lengths: Int[Ints, "batch"],
    ) -> tuple[LayerGates, ...]:
        """What each layer does at every sentence; nothing if the stories have none."""
        if stories.shape[1] == 0:
            return ()
        found = []
        q = query[:, None]
        for layer in range(self.config.layers):
            found.append(self._layer(layer, table, q, stories, lengths))
            q = found[-1].reduced
        return tuple(found)

    def update_scores(self, layer: int, x: Floats, q: Floats) -> Floats:
        """Equation 1 before its sigmoid: how much does a sentence matter to the query? One query, or one for each."""
        own = self._own(layer)
        weight, bias = self.weights["update_weight"][own], self.weights["update_bias"][own] - self.config.forget_bias
        # One query for many sentences: into the weights with it, which are fewer.
        scores: Floats = (_times(x, (weight * q).T) if q.ndim == 1 else _times(x * q, weight.T)) + bias
        return scores

    def update_gates(self, scores: Floats) -> Floats:
        """The gates of these scores: exactly 0 where they are stretched and shut."""
        z, stretch = _sigmoid(scores), self.config.gate_stretch
        return z if stretch == 1 else np.clip(stretch * z - (stretch - 1) / 2, 0, 1)

    def candidate(self, layer: int, of_sentence: Floats, q: Floats) -> Floats:
        """Equation 2: what would the query become? ``of_sentence`` is the sentence's part of it."""
        own = self._own(layer)
        of_query = _times(q, self.weights["candidate_query"][own])
        found: Floats = np.tanh(of_query + of_sentence + self.weights["candidate_bias"][own])
        return found

    def of_sentence(self, layer: int, x: Floats) -> Floats:
        """What sentences alone add to a candidate."""
        return _times(x, self.weights["candidate_sentence"][self._own(layer)])

    def reset_gates(self, layer: int, similarity: Floats) -> tuple[Floats, Floats] | tuple[None, None]:
        """Equation 5, once per direction of time; the last layer has none."""
        if not self.config.reset_gate or layer == self.config.layers - 1:
            return None, None
        weight, bias = self.weights["reset_weight"][self._own(layer)], self.weights["reset_bias"][self._own(layer)]
        forward, backward = (_sigmoid(_times(similarity, weight[way].T) + bias[way]) for way in (0, 1))
        return forward, backward

    def _own(self, layer: int) -> int:
        """Where a layer's weights are."""
        return 0 if self.config.tied else layer

    def _layer(self, layer: int, table: Floats, q: Floats, stories: Ints, lengths: Ints) -> LayerGates:
        x = table[stories]
        z = self.update_gates(self.update_scores(layer, x, q))
        candidate = self.candidate(layer, self.of_sentence(layer, table)[stories], q)
        forward, backward = self.reset_gates(layer, x * q)
        # Equations 3 and 6; equation 4 adds the two directions. The last layer only looks forward.
        reduced = scan(z, entering(z, forward, candidate), lengths, reverse=False)
        if layer < self.config.layers - 1:
            reduced = reduced + scan(z, entering(z, backward, candidate), lengths, reverse=True)
        return LayerGates(z, forward, backward, candidate, reduced)

    def _so_far(self, states: Float[Floats, "batch time dim"]) -> Float[Floats, "batch time answer"]:
        scores = self.head.scores(self.weights, states.reshape(-1, states.shape[2]), None)
        return scores.reshape(*states.shape[:2], -1)


def check_shapes(weights: Mapping[str, Floats], wanted: Mapping[str, tuple[int, ...]]) -> None:
    """Raise an error unless weights, each with a leading dimension of one, have these names and shapes."""
    for name in sorted(wanted.keys() | weights.keys()):
        found = tuple(weights[name].shape) if name in weights else None
        needed = (1, *wanted[name]) if name in wanted else None
        if found != needed:
            raise InputError(f"weight {name} is {found or 'missing'} but the settings require {needed}")


def _times(x: Floats, weight: Floats) -> Floats:
    """A product over the last dimension, as one matrix: faster than one per question."""
    return (x.reshape(-1, x.shape[-1]) @ weight).reshape(*x.shape[:-1], weight.shape[1])


def entering(z: Floats, reset: Floats | None, candidate: Floats) -> Floats:
    """What enters the state at every sentence."""
    return z * candidate if reset is None else z * reset * candidate


def _at_the_end(gates: tuple[LayerGates, ...], query: Floats, lengths: Ints) -> Floats:
    """The last layer's state at the last sentence; zero if there is none."""
    if not gates:
        return np.zeros_like(query)
    states = gates[-1].reduced
    return states[np.arange(len(states)), np.maximum(lengths - 1, 0)]


def _sigmoid(x: Floats) -> Floats:
    # e^-x overflows to infinity where the result is 0.
    with np.errstate(over="ignore"):
        return 1 / (1 + np.exp(-x))
