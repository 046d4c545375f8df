"""What answering, testing and explaining ask of a network in use, and all they know about one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from query_reduction.text.batch import Batch

if TYPE_CHECKING:
    from jaxtyping import Float

__all__ = ["Floats", "Network", "QueryWords", "TracedBatch", "TracedLayer"]

Floats = NDArray[np.floating[Any]]
"""Numbers in single precision; the tests also use double."""


@dataclass(frozen=True, slots=True)
class TracedLayer:
    """What one layer (or hop) did at every sentence."""

    gates: Mapping[str, Float[Floats, "batch time _"]]
    """Values from 0 to 1 by name: ``update``, ``reset_forward``, ``attention`` …; one per sentence, or one per unit."""
    weights: Float[Floats, "batch time"]
    """How much of the answer was read from each sentence: at least 0, summing to at most 1."""
    candidate: Float[Floats, "batch time dim"] | None = None
    """What the query would become."""
    reduced: Float[Floats, "batch time dim"] | None = None
    """What the query became."""


@dataclass(frozen=True, slots=True)
class QueryWords:
    """Queries in words, for one question: by layer below the last, then by sentence."""

    question: str
    queries: tuple[tuple[str, ...], ...]
    so_far: tuple[tuple[str, ...], ...]
    queries_trust: tuple[tuple[float, ...], ...]
    """The probability of the least certain word of each, from 0 to 1."""
    so_far_trust: tuple[tuple[float, ...], ...]


@dataclass(frozen=True, slots=True)
class TracedBatch:
    """How a network read a batch."""

    layers: tuple[TracedLayer, ...]
    scores: Float[Floats, "batch answer"]
    so_far: Callable[[], Float[Floats, "batch time answer"]] | None = None
    """Scores from the state at each sentence, where the network has one."""
    in_words: Callable[[], QueryWords] | None = None
    """The queries of the batch's first question in words, where the network can decode them."""


class Network(Protocol):
    """One trained network."""

    @property
    def shows_reading(self) -> bool:
        """Whether it has gates or attention to show."""

    def scores(self, batch: Batch) -> Float[Floats, "batch answer"]:
        """The score of every answer; their softmax gives the probabilities."""

    def trace(self, batch: Batch) -> TracedBatch | None:
        """How the batch was read; None if the network has nothing to show."""
