"""The native reader and scan on NumPy arrays, for models in use: no gradients, and no PyTorch.

Equal to ``native.reader`` and ``scan.fused``, which work on tensors.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from query_reduction.native import library as native
from query_reduction.native.library import EncoderCall, ReaderCall, Stacked
from query_reduction.native.shape import Shape
from query_reduction.native.threads import native_threads

__all__ = ["ArrayReader", "scan"]

_Floats = NDArray[np.floating]
_Ints = NDArray[np.integer]


class ArrayReader:
    """Encodes and reads with one network's weights, whose shapes are checked once."""

    def __init__(self, shape: Shape, weights: Mapping[str, _Floats]) -> None:
        """``weights`` are the network's, by name, each with a leading restart dimension."""
        self._shape = shape
        self._embedding = _contiguous(weights["embedding"])
        self._dtype = self._embedding.dtype
        _refuse_other_numbers("weights", self._dtype)
        restarts, self._vocabulary, dimension = self._embedding.shape
        _refuse_unless(dimension == shape.dimension, f"the embedding must have dimension {shape.dimension}")
        self._weights: dict[str, _Floats] = {}
        for name, wanted in shape.parameters().items():
            weight = self._weights[name] = _contiguous(weights[name], self._dtype)
            _refuse_unless(weight.shape == (restarts, *wanted), f"{name} must be {(restarts, *wanted)}: {weight.shape}")
        self._stacked = {name: _stacked(weight) for name, weight in self._weights.items()}

    def encode(self, words: _Ints, longest: int) -> _Floats:
        """Sentence vectors, (restart, sentence, dim), of (sentence, word) numbers; ``longest`` is J, or 0."""
        _refuse_unless(words.ndim == 2, f"words must be (sentence, word): {words.shape}")
        words = _contiguous(words, np.int64)
        restarts, _, dimension = self._embedding.shape
        table = np.empty((restarts, len(words), dimension), self._dtype)
        call = EncoderCall(
            restarts=restarts,
            dim=dimension,
            threads=native_threads(),
            source=_stacked(self._embedding),
            target=_stacked(table),
        )
        call.owners = (self._embedding, table, words)
        native.encode(call, (_address(words), *words.shape), self._vocabulary, longest, self._dtype, backward=False)
        return table

    def read(self, table: _Floats, query: _Floats, stories: _Ints, lengths: _Ints) -> _Floats:
        """The reduced queries, (restart, batch, dim), at the end of the stories, which are rows of the table."""
        restarts, dimension = self._embedding.shape[0], self._shape.dimension
        _refuse_unless(stories.ndim == 2 and lengths.shape == stories.shape[:1], "stories and lengths do not fit")
        batch, time = stories.shape
        _refuse_unless(table.ndim == 3 and table.shape[::2] == (restarts, dimension), f"the table is {table.shape}")
        _refuse_unless(query.shape == (restarts, batch, dimension), f"the query is {query.shape}")
        table, query = _contiguous(table, self._dtype), _contiguous(query, self._dtype)
        stories, lengths = _contiguous(stories, np.int64), _contiguous(lengths, np.int64)
        out = np.empty_like(query)
        shape = self._shape
        call = ReaderCall(
            restarts=restarts,
            sentences=table.shape[1],
            batch=batch,
            time=time,
            dim=dimension,
            layers=shape.layers,
            tied=shape.tied,
            reset=shape.reset_gate,
            vector=shape.vector_gates,
            threads=native_threads(),
            forget_bias=shape.forget_bias,
            stretch=shape.gate_stretch,
            stories=_address(stories),
            lengths=_address(lengths),
            table=_stacked(table),
            query=_stacked(query),
            out=_stacked(out),
            **self._stacked,
        )
        call.owners = (stories, lengths, table, query, out, self._weights)
        native.read_forward(call, self._dtype, saving=False)
        return out


def scan(z: _Floats, v: _Floats, lengths: _Ints, *, reverse: bool) -> _Floats:
    """All h_t = (1 - z_t) h_{t-1} + v_t; (batch, time, 1 or dim) gates and (batch, time, dim) inputs."""
    batch, time, dimension = v.shape
    _refuse_unless(z.shape in ((batch, time, 1), v.shape), f"z is {z.shape}, v {v.shape}")
    _refuse_unless(lengths.shape == (batch,), f"lengths must be {batch} numbers")
    _refuse_other_numbers("v", v.dtype)
    z, v, lengths = _contiguous(z, v.dtype), _contiguous(v), _contiguous(lengths, np.int64)
    h = np.empty_like(v)
    if not h.size:
        return h
    native.scan(
        False,
        (*v.shape, z.shape[2] == dimension, reverse, native_threads(), 0, _address(lengths), _address(z), _address(v),
         0, 0, 0, _address(h), 0, 0, 0),
        v.itemsize == 8, (z, v, lengths, h),
    )  # fmt: skip
    return h


def _contiguous(array: NDArray[Any], dtype: Any = None) -> NDArray[Any]:
    return np.ascontiguousarray(array, dtype)


def _address(array: NDArray[Any]) -> int:
    return int(array.__array_interface__["data"][0])


def _stacked(array: NDArray[Any]) -> Stacked:
    return Stacked(_address(array), _numbers(array.shape[1:]))


def _numbers(shape: Sequence[int]) -> int:
    return int(np.prod(shape, dtype=np.int64))


def _refuse_other_numbers(name: str, dtype: np.dtype[Any]) -> None:
    """The native code takes whatever it is given for float32 or float64, by its size."""
    _refuse_unless(dtype in (np.float32, np.float64), f"{name} must be float32 or float64; {dtype}")


def _refuse_unless(fits: bool, message: str) -> None:
    if not fits:
        raise ValueError(message)
