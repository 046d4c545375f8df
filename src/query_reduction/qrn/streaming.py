"""A Query-Reduction Network that reads a text of any length in constant memory, block by block.

A sentence whose gates are all shut changes no state: it is looked at once per layer and then skipped. What an open one
leaves is kept: its gates, what it adds backward in time, and the state forward in time. From these follow all queries
of the next layer, which are constant between two open sentences. Sentence vectors and open sentences lie in temporary
files once they are large, so the memory needed does not grow with the text; a network that only looks forward (one
layer) needs neither. The equations are those of ``inference.reader``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import chain, pairwise
from tempfile import SpooledTemporaryFile
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from query_reduction.network import Floats
from query_reduction.qrn.reader import QueryReduction, entering
from query_reduction.recurrence.arrays import scan

__all__ = ["BLOCK", "Streaming"]

BLOCK = 2048
"""Sentences that are read together."""
_IN_MEMORY = 1 << 25
"""Bytes of a temporary file that need no disk."""
_MOST_WORDS = 1 << 20
"""Words of sentences that are encoded together, the padding of short ones included."""
_MANY_OPEN = 1 / 16
"""If a larger share of a block's sentences is open, queries are hardly ever constant."""


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
            self._file.write(np.ascontiguousarray(piece).data)
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
class _Queries:
    """What a query has become at each sentence of a block: it changes only at those that are open."""

    rows: NDArray[np.int64]
    """The open sentences."""
    forward: Floats
    """The state before the first of them, and after each."""
    backward: Floats
    """The state, backward in time, at each of them, and after the last."""

    def at(self, places: NDArray[np.int64]) -> Floats:
        """The queries at some sentences."""
        after = np.searchsorted(self.rows, places, side="right")
        before = np.searchsorted(self.rows, places, side="left")
        queries: Floats = self.forward[after] + self.backward[before]
        return queries

    def runs(self, count: int) -> Iterator[tuple[slice, Floats]]:
        """Sentences that follow each other and have the same query, with that query."""
        starts = np.unique(np.concatenate(([0], self.rows, self.rows + 1)))
        starts = starts[starts < count]
        for (start, stop), query in zip(pairwise([*starts.tolist(), count]), self.at(starts), strict=True):
            yield slice(start, stop), query


class Streaming:
    """Reads with one network."""

    def __init__(self, network: QueryReduction) -> None:
        self._network = network
        self._dtype = network.weights["embedding"].dtype
        # Where the stretched sigmoid is 0: no need to compute it for the many sentences below.
        lowest = (network.config.gate_stretch - 1) / (2 * network.config.gate_stretch)
        self._shut = np.log(lowest / (1 - lowest)) if lowest else -np.inf

    def read(self, question: Sequence[int], blocks: Iterable[Sequence[Sequence[int]]]) -> Floats:
        """The answer vector, given the words of the question and, in blocks, those of the sentences."""
        return self.read_vectors(self.encode([question])[0], map(self.encode, blocks))

    def read_vectors(self, asked: Floats, blocks: Iterable[Floats]) -> Floats:
        """The same, given their vectors: those of a sentence that several texts have need be computed only once."""
        layers = self._network.config.layers
        none, unchanged = np.zeros(0, np.int64), np.zeros((1, len(asked)), self._dtype)
        plain = _Queries(none, asked[None], unchanged)
        if layers == 1:
            return self._last(0, ((x, plain) for x in blocks))
        with ExitStack() as stack:

            def spool() -> _Blocks:
                return _Blocks(stack.enter_context(SpooledTemporaryFile(_IN_MEMORY)))

            sentences = spool()
            found = self._layer(0, ((x, plain) for x in _kept(blocks, sentences)), spool(), spool())
            for layer in range(1, layers - 1):
                found = self._layer(layer, _with_queries(sentences, found), spool(), spool())
            return self._last(layers - 1, _with_queries(sentences, found))

    def _last(self, layer: int, told: Iterable[tuple[Floats, _Queries]]) -> Floats:
        """The state of the last layer at the end: it only looks forward."""
        state = np.zeros(self._network.config.dimension, self._dtype)
        for x, queries in told:
            opened = self._opened(layer, x, queries)
            state = _states(opened.gates, opened.forward, state)[-1]
        return state

    def _layer(
        self, layer: int, told: Iterable[tuple[Floats, _Queries]], forward: _Blocks, backward: _Blocks
    ) -> _Found:
        """Read a layer forward in time, and its open sentences then backward."""
        state = np.zeros(self._network.config.dimension, self._dtype)
        for x, queries in told:
            opened = self._opened(layer, x, queries)
            states = _states(opened.gates, opened.forward, state)
            state = states[-1]
            forward.append(opened.rows, states, opened.gates, opened.backward)
        state = np.zeros(self._network.config.dimension, self._dtype)
        for at in reversed(range(len(forward))):
            _, _, z, v = forward[at]
            states = _states(z[::-1], v[::-1], state)[::-1]
            state = states[0]
            backward.append(states)
        return _Found(forward, backward)

    def _opened(self, layer: int, x: Floats, queries: _Queries) -> _Opened:
        """Which sentences of a block open a gate, and what enters the state there. Nothing else is computed."""
        network = self._network
        if len(queries.rows) > _MANY_OPEN * len(x):
            scores = network.update_scores(layer, x, queries.at(np.arange(len(x))))
        else:
            scores = np.concatenate([network.update_scores(layer, x[run], q) for run, q in queries.runs(len(x))])
        rows = np.flatnonzero((scores > self._shut).any(1))
        z = network.update_gates(scores[rows])
        x, q = x[rows], queries.at(rows)
        candidate = network.candidate(layer, network.of_sentence(layer, x), q)
        forward, backward = network.reset_gates(layer, x * q)
        return _Opened(rows, z, entering(z, forward, candidate), entering(z, backward, candidate))

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
        return self._network.encode(words)


@dataclass(frozen=True, slots=True)
class _Opened:
    """The open sentences of a block."""

    rows: NDArray[np.int64]
    gates: Floats
    forward: Floats
    """What enters the state at each of them, forward in time."""
    backward: Floats


class _Found:
    """The open sentences of a layer, block by block."""

    def __init__(self, forward: _Blocks, backward: _Blocks) -> None:
        self._forward, self._backward = forward, backward

    def __getitem__(self, block: int) -> _Queries:
        rows, states, _, _ = self._forward[block]
        (backward,) = self._backward[len(self._forward) - 1 - block]
        return _Queries(rows, states, backward)


def _with_queries(sentences: _Blocks, found: _Found) -> Iterator[tuple[Floats, _Queries]]:
    """The sentence vectors of every block, and what the query has become there."""
    for block in range(len(sentences)):
        (x,) = sentences[block]
        yield x, found[block]


def _kept(blocks: Iterable[Floats], kept: _Blocks) -> Iterator[Floats]:
    """Sentence vectors, kept for the other layers."""
    for x in blocks:
        kept.append(x)
        yield x


def _states(z: Floats, v: Floats, start: Floats) -> Floats:
    """The start, and h_t = (1 - z_t) h_{t-1} + v_t after it."""
    gates = np.concatenate((np.ones_like(z[:1], shape=(1, z.shape[1])), z))
    inputs = np.concatenate((start[None], v))
    states: Floats = scan(gates[None], inputs[None], np.array([len(inputs)]), reverse=False)[0]
    return states
