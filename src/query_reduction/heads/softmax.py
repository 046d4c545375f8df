"""Scores as probabilities, and the best of them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from query_reduction.network import Floats

__all__ = ["best", "log_sum_exp", "softmax"]


def softmax(scores: Floats) -> Floats:
    """Probabilities along the last axis."""
    shares: Floats = np.exp(scores - scores.max(axis=-1, keepdims=True))
    shares /= shares.sum(axis=-1, keepdims=True)
    return shares


def log_sum_exp(scores: Floats, axis: int) -> Floats:
    """The logarithm of the sum of exponentials along an axis; scores may be minus infinity, but not all of them."""
    highest = scores.max(axis=axis, keepdims=True)
    found: Floats = np.squeeze(highest, axis) + np.log(np.exp(scores - highest).sum(axis=axis))
    return found


def best(scores: Floats, count: int) -> NDArray[np.int64]:
    """The places of the highest scores along the last axis, at most ``count``, best first; of equal ones the first."""
    return np.argsort(-scores, axis=-1, kind="stable")[..., :count]
