"""The few operations in which NumPy and PyTorch differ: the equations are written once, for both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, TypeAlias

import numpy as np

from query_reduction.heads.softmax import softmax
from query_reduction.recurrence.arrays import scan

__all__ = ["Array", "ArrayOperations", "Operations", "Weights"]

Array: TypeAlias = Any
"""A NumPy array or a PyTorch tensor; shapes are in the comments."""
Weights = Mapping[str, Array]


class Operations(Protocol):
    """What the equations need besides ``@``, ``+``, ``*``, ``sum`` and indexing."""

    def join(self, parts: Sequence[Array], axis: int = -1) -> Array:
        """Arrays one after the other along an axis."""

    def tanh(self, values: Array) -> Array:
        """The hyperbolic tangent."""

    def sigmoid(self, values: Array) -> Array:
        """The logistic function."""

    def softmax(self, scores: Array) -> Array:
        """Probabilities along the last axis."""

    def highest(self, values: Array, axis: int) -> Array:
        """The maximum along an axis."""

    def zeros(self, shape: tuple[int, ...], like: Array) -> Array:
        """Zeros of the same type."""

    def inside(self, counts: Array, length: int, like: Array) -> Array:
        """(n, length): 1 in the first ``counts[i]`` places of each row."""

    def scan(self, gate: Array, value: Array, lengths: Array, *, reverse: bool = False) -> Array:
        """h_t = (1 - gate_t) h_{t-1} + value_t along axis 1; zero past a row's length."""

    def sum_at(self, values: Array, place: Array, size: int) -> Array:
        """(size, dim): the rows of ``values`` added up by their places."""

    def drop(self, values: Array) -> Array:
        """Dropout in training; nothing in use."""


class ArrayOperations:
    """NumPy, for models in use."""

    def join(self, parts: Sequence[Array], axis: int = -1) -> Array:
        """See ``Operations``."""
        return np.concatenate(parts, axis)

    def tanh(self, values: Array) -> Array:
        """See ``Operations``."""
        return np.tanh(values)

    def sigmoid(self, values: Array) -> Array:
        """See ``Operations``; by the hyperbolic tangent, which cannot overflow."""
        return 0.5 * (1 + np.tanh(0.5 * values))

    def softmax(self, scores: Array) -> Array:
        """See ``Operations``."""
        return softmax(scores)

    def highest(self, values: Array, axis: int) -> Array:
        """See ``Operations``."""
        return values.max(axis=axis)

    def zeros(self, shape: tuple[int, ...], like: Array) -> Array:
        """See ``Operations``."""
        return np.zeros(shape, like.dtype)

    def inside(self, counts: Array, length: int, like: Array) -> Array:
        """See ``Operations``."""
        return (np.arange(length) < counts[:, None]).astype(like.dtype)

    def scan(self, gate: Array, value: Array, lengths: Array, *, reverse: bool = False) -> Array:
        """See ``Operations``."""
        if value.size == 0:
            return value
        return scan(np.ascontiguousarray(gate), np.ascontiguousarray(value), lengths, reverse=reverse)

    def sum_at(self, values: Array, place: Array, size: int) -> Array:
        """See ``Operations``."""
        sums = np.zeros((size, values.shape[1]), values.dtype)
        np.add.at(sums, place, values)
        return sums

    def drop(self, values: Array) -> Array:
        """See ``Operations``."""
        return values
