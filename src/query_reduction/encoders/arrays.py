"""Encoders on NumPy arrays, for models in use; ``encoders.stacked`` has the same with gradients.

``table`` has the vectors of all words, ``encode_words`` those of the words of each row as its encoder reads them, and
``encode`` the rows: the sum of their words, each weighted by its position.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from query_reduction.network import Floats
from query_reduction.text.batch import Ints

if TYPE_CHECKING:
    from jaxtyping import Float, Int

__all__ = ["WIDTH", "EncoderConfig", "EncoderName", "encode", "encode_words", "encoder_shapes", "word_table"]

EncoderName: TypeAlias = Literal["position", "order"]
WIDTH = 3
"""Words that ``order`` looks at together: the one before, the word itself and the one after."""

Weights = Mapping[str, Floats]


@dataclass(frozen=True, slots=True)
class EncoderConfig:
    """Which encoder a network has, and the sizes of its weights."""

    name: EncoderName
    words: int
    """Word numbers of the vocabulary."""
    dimension: int
    longest: int
    """The J of the position weights; 0 for the length of each row."""
    vectors: int = 0
    """Dimension of the word vectors from elsewhere that are added to the learned ones; 0 for none."""
    marks: int = 0
    """Number of marks that words may have (asked about, another name …), 0 being none; 0 if there are no marks."""


def encoder_shapes(config: EncoderConfig) -> dict[str, tuple[int, ...]]:
    """Names and shapes of an encoder's weights, without the restart dimension, in the order they are drawn."""
    d = config.dimension
    shapes: dict[str, tuple[int, ...]] = {"embedding": (config.words, d)}
    if config.vectors:
        shapes |= {"vectors": (config.words, config.vectors), "vector_projection": (config.vectors, d)}
    if config.marks:
        shapes["mark_embedding"] = (config.marks, d)
    if config.name == "order":
        shapes |= {"order_in": (WIDTH, d, d), "order_bias": (d,), "order_out": (d, d)}
    return shapes


def word_table(config: EncoderConfig, weights: Weights) -> Float[Floats, "vocabulary dim"]:
    """The vector of every word: the learned one and, projected, the one from elsewhere."""
    table = weights["embedding"]
    return table + weights["vectors"] @ weights["vector_projection"] if config.vectors else table


def encode(
    config: EncoderConfig,
    weights: Weights,
    table: Float[Floats, "vocabulary dim"],
    words: Int[Ints, "row word"],
    marks: Int[Ints, "row word"] | None = None,
) -> Float[Floats, "row dim"]:
    """The vector of every row."""
    d = config.dimension
    x = encode_words(config, weights, table, words, marks)
    present = words > 0
    # l_kj = (1 - k/d) + (j/J)(2k/d - 1)
    along = np.arange(1, d + 1, dtype=table.dtype) / d
    longest = config.longest or np.maximum(present.sum(1), 1)
    rows = np.zeros((len(words), d), table.dtype)
    for place in range(words.shape[1]):
        share = np.broadcast_to((place + 1) / longest, len(words)).astype(table.dtype)[:, None]
        rows += x[:, place] * ((1 - along) + share * (2 * along - 1))
    return rows


def encode_words(
    config: EncoderConfig,
    weights: Weights,
    table: Float[Floats, "vocabulary dim"],
    words: Int[Ints, "row word"],
    marks: Int[Ints, "row word"] | None = None,
) -> Float[Floats, "row word dim"]:
    """The vector of every word as it is read in its row; zero where there is none."""
    present = (words > 0)[..., None]
    x = table[words]
    if marks is not None:
        x = x + weights["mark_embedding"][marks]
    x = x * present
    if config.name == "position":
        return x
    beside = np.pad(x, ((0, 0), (1, 1), (0, 0)))
    window = sum(beside[:, at : at + words.shape[1]] @ weights["order_in"][at] for at in range(WIDTH))
    hidden = np.maximum(window + weights["order_bias"], 0) / config.dimension
    read: Floats = (x + hidden @ weights["order_out"]) * present
    return read
