"""A Query-Reduction Network that reads a text of any length in constant memory, block by block.

A sentence whose gates are all shut changes no state: it is looked at once per layer and then skipped. What an open one
leaves is kept: its gates, what it adds backward in time, and the state forward in time. From these follow all queries
of the next layer, which are constant between two open sentences. Sentence vectors and open sentences lie in temporary
files once they are large, so the memory needed does not grow with the text; a network that only looks forward (one
layer) needs neither. ``networks.qrn`` is the reference that this must match.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import chain
from tempfile import SpooledTemporaryFile
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from query_reduction.native import arrays
from query_reduction.native import library as native
from query_reduction.native.shape import Shape

__all__ = ["BLOCK", "Streaming"]

BLOCK = 2048
"""Sentences that are read together."""
_IN_MEMORY = 1 << 25
"""Bytes of a temporary file that need no disk."""
_MOST_WORDS = 1 << 20
"""Words of sentences that are encoded together, the padding of short ones included."""

Floats = NDArray[np.float32]
Opened = Callable[[NDArray[np.int64], Floats], None]
"""Is told, layer by layer, which sentences of a block have open gates, and these gates."""


class _Blocks:
    """Lists of arrays in a temporary file, one list per block of the text."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._places: list[tuple[int, list[tuple[Any, tuple[int, ...]]]]] = []
        self._end = 0

    def __len__(self) -> int:
        return len(self._places)

    def append(self, *pieces: NDArray[Any]) -> None:
        self._file.seek(self._end)
        self._places.append((self._end, [(piece.dtype, piece.shape) for piece in pieces]))
        for piece in pieces:
            self._file.write(np.ascontiguousarray(piece).tobytes())
        self._end = self._file.tell()

    def __getitem__(self, number: int) -> list[NDArray[Any]]:
        place, kinds = self._places[number]
        self._file.seek(place)
        found = []
        for dtype, shape in kinds:
            size = int(np.prod(shape, dtype=np.int64))
            found.append(np.frombuffer(self._file.read(size * dtype.itemsize), dtype).reshape(shape))
        return found


@dataclass(frozen=True, slots=True)
class _Open:
    """The open sentences of a block: where they are, and the states around them."""

    rows: NDArray[np.int64]
    forward: Floats
    """The state before the first of them, and after each."""
    backward: Floats
    """The state, backward in time, at each of them, and after the last."""

    def queries(self, count: int) -> Floats:
        """What the query has become at each of the block's ``count`` sentences."""
        after = np.searchsorted(self.rows, np.arange(count), side="right")
        before = np.searchsorted(self.rows, np.arange(count), side="left")
        queries: Floats = self.forward[after] + self.backward[before]
        return queries


class Streaming:
    """Reads with the weights of one network."""

    def __init__(self, config: Any, weights: Mapping[str, NDArray[Any]], longest: int) -> None:
        """``weights`` by name, without a restart dimension; ``longest`` is the J of the position encoder, or 0."""
        self._config = config
        self._weights = {name: np.ascontiguousarray(weight, np.float32) for name, weight in weights.items()}
        self._longest = longest
        # Where the stretched sigmoid is 0: no need to compute it for the many sentences below.
        lowest = (config.gate_stretch - 1) / (2 * config.gate_stretch)
        self._shut = np.float32(np.log(lowest / (1 - lowest)) if lowest else -np.inf)
        self._told: Opened | None = None
        self._native = native.available()
        if self._native:
            shape = Shape(
                config.layers, config.dimension, config.tied, config.reset_gate, config.vector_gates, config.forget_bias
            )
            self._encoder = arrays.ArrayReader(shape, {name: weight[None] for name, weight in self._weights.items()})

    def read(self, question: Sequence[int], blocks: Iterable[Sequence[Sequence[int]]]) -> Floats:
        """The answer vector, given the words of the question and, in blocks, those of the sentences."""
        return self.read_vectors(self.encode([question])[0], map(self.encode, blocks))

    def read_vectors(self, asked: Floats, blocks: Iterable[Floats], opened: Opened | None = None) -> Floats:
        """The same, given their vectors: those of a sentence that several texts have need be computed only once."""
        self._told = opened
        with ExitStack() as stack:

            def spool() -> _Blocks:
                return _Blocks(stack.enter_context(SpooledTemporaryFile(_IN_MEMORY)))

            layers = self._config.layers
            sentences = spool() if layers > 1 else None
            state = np.zeros(self._config.dimension, np.float32)
            first = ((x, np.broadcast_to(asked, x.shape)) for x in _kept(blocks, sentences))
            if layers == 1:
                return self._last(0, first)
            found = self._layer(0, first, spool(), spool())
            assert sentences is not None
            for layer in range(1, layers):
                told = ((x, found[at].queries(len(x))) for at in range(len(sentences)) for x in sentences[at])
                if layer == layers - 1:
                    state = self._last(layer, told)
                else:
                    found = self._layer(layer, told, spool(), spool())
            return state

    def _last(self, layer: int, told: Iterable[tuple[Floats, Floats]]) -> Floats:
        """The state of the last layer at the end: it only looks forward."""
        state = np.zeros(self._config.dimension, np.float32)
        for x, q in told:
            _, z, candidate, _ = self._opened(layer, x, q)
            state = _states(z, z * candidate, state)[-1]
        return state

    def _layer(self, layer: int, told: Iterable[tuple[Floats, Floats]], forward: _Blocks, backward: _Blocks) -> _Found:
        """Read a layer forward in time, and its open sentences then backward."""
        state = np.zeros(self._config.dimension, np.float32)
        for x, q in told:
            rows, z, candidate, resets = self._opened(layer, x, q)
            states = _states(z, z * resets[0] * candidate, state)
            state = states[-1]
            forward.append(rows, states, z, z * resets[1] * candidate)
        state = np.zeros(self._config.dimension, np.float32)
        for at in reversed(range(len(forward))):
            _, _, z, v = forward[at]
            states = _states(z[::-1], v[::-1], state)[::-1]
            state = states[0]
            backward.append(states)
        return _Found(forward, backward)

    def _opened(
        self, layer: int, x: Floats, q: Floats
    ) -> tuple[NDArray[np.int64], Floats, Floats, tuple[Floats | float, Floats | float]]:
        """Which sentences of a block open a gate; their gates, candidates and reset gates. Nothing else is computed."""
        config, weights = self._config, self._weights
        own = 0 if config.tied else layer
        similarity = x * q
        # Equations 1, 2 and 5 of the paper; see networks.qrn.
        scores = similarity @ weights["update_weight"][own].T + (weights["update_bias"][own] - config.forget_bias)
        rows = np.flatnonzero((scores > self._shut).any(1))
        z = _sigmoid(scores[rows])
        if config.gate_stretch != 1:
            z = np.clip(np.float32(config.gate_stretch) * z - np.float32((config.gate_stretch - 1) / 2), 0, 1)
        if self._told is not None:
            self._told(rows, z)
        x, q, similarity = x[rows], q[rows], similarity[rows]
        products = q @ weights["candidate_query"][own] + x @ weights["candidate_sentence"][own]
        candidate = np.tanh(products + weights["candidate_bias"][own])
        resets: tuple[Floats | float, Floats | float] = (1.0, 1.0)
        if config.reset_gate and layer < config.layers - 1:
            weight, bias = weights["reset_weight"][own], weights["reset_bias"][own]
            resets = (_sigmoid(similarity @ weight[0].T + bias[0]), _sigmoid(similarity @ weight[1].T + bias[1]))
        return rows, z, candidate, resets

    def encode(self, sentences: Sequence[Sequence[int]]) -> Floats:
        """Sentence vectors, given the numbers of their words."""
        told = np.fromiter(map(len, sentences), np.int64, len(sentences))
        longest = int(told.max(initial=0))
        together = max(1, _MOST_WORDS // max(longest, 1))
        if len(sentences) > together:
            parts = [self.encode(sentences[at : at + together]) for at in range(0, len(sentences), together)]
            return np.concatenate(parts)
        words = np.zeros((len(sentences), longest), np.int64)
        words[np.arange(longest) < told[:, None]] = np.fromiter(chain.from_iterable(sentences), np.int64, told.sum())
        if self._native:
            table: Floats = self._encoder.encode(words, self._longest)[0]
            return table
        d = self._config.dimension
        along = np.arange(1, d + 1, dtype=np.float32) / d
        lengths = np.maximum((words > 0).sum(1), 1) if self._longest == 0 else np.full(len(words), self._longest)
        x = np.zeros((len(words), d), np.float32)
        for place in range(longest):
            share = ((place + 1) / lengths[:, None]).astype(np.float32)
            there = (words[:, place] > 0)[:, None]
            x += there * self._weights["embedding"][words[:, place]] * ((1 - along) + share * (2 * along - 1))
        return x


class _Found:
    """The open sentences of a layer, block by block."""

    def __init__(self, forward: _Blocks, backward: _Blocks) -> None:
        self._forward, self._backward = forward, backward

    def __getitem__(self, block: int) -> _Open:
        rows, states, _, _ = self._forward[block]
        (backward,) = self._backward[len(self._forward) - 1 - block]
        return _Open(rows, states, backward)


def _kept(blocks: Iterable[Floats], kept: _Blocks | None) -> Iterator[Floats]:
    """Sentence vectors, kept for the other layers."""
    for x in blocks:
        if kept is not None:
            kept.append(x)
        yield x


def _states(z: Floats, v: Floats, start: Floats) -> Floats:
    """The start, and h_t = (1 - z_t) h_{t-1} + v_t after it."""
    states = np.empty((len(v) + 1, len(start)), np.float32)
    states[0] = start
    if len(v) and native.available():
        opened = np.concatenate((np.ones_like(z[:1]), z))[None]
        inputs = np.concatenate((start[None], v))[None]
        found: Floats = arrays.scan(opened, inputs, np.array([len(v) + 1]), reverse=False)[0]
        return found
    for t in range(len(v)):
        states[t + 1] = (1 - z[t]) * states[t] + v[t]
    return states


def _sigmoid(x: Floats) -> Floats:
    # e^x overflows to infinity where the result is 0.
    with np.errstate(over="ignore"):
        result: Floats = np.float32(1) / (np.float32(1) + np.exp(-x))
    return result
