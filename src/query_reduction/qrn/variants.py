"""The settings of a Query-Reduction Network, and the names the paper gives them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Annotated, Literal

from query_reduction.encoders.arrays import EncoderConfig, EncoderName
from query_reduction.native.shape import Shape
from query_reduction.settings import Added, Between, check
from query_reduction.text.vocabulary import Vocabulary

__all__ = ["QRNConfig", "encoder_of", "parse_variant", "shape_of", "variant_name"]

_DIMENSION = 50
"""The dimension of a network whose name does not give one."""


@dataclass(frozen=True, slots=True)
class QRNConfig:
    """The Query-Reduction Network."""

    layers: Annotated[int, Between(1, 64)] = 2
    """Number of stacked layers K."""
    dimension: Annotated[int, Between(1, 4096)] = _DIMENSION
    """Size d of sentence and query vectors."""
    reset_gate: bool = True
    """Reset gates in all layers but the last (equation 5)."""
    vector_gates: bool = False
    """One gate per unit instead of one per sentence."""
    tied: bool = True
    """Share the weights of all layers, as the paper does."""
    forget_bias: Annotated[float, Between(-100, 100)] = 2.5
    """Subtracted inside the update gate, so that it starts mostly closed."""
    gate_stretch: Annotated[float, Between(1, 10)] = 1.0
    """Stretch the range of update gates by this factor and clip it to 0 to 1, so that gates can be exactly shut: a gate
    that is merely small lets a little in, sentence by sentence, and a long story drowns what was read; 1 = as in the
    paper."""
    plain_epochs: Annotated[int, Between(0, 1_000_000)] = 0
    """Train with gates as in the paper for this many epochs: a gate that is exactly shut has no gradient."""
    stretch_epochs: Annotated[int, Between(0, 1_000_000)] = 0
    """After these, stretch gates a little more in each of so many epochs."""
    init: Literal["original", "paper", "open", "following"] = "original"
    """Initial weights: original = embeddings and gates uniform with standard deviation 1; paper = embeddings
    normal with standard deviation 1/sqrt(d), unit weights by Glorot and Bengio; open = as original, but embeddings
    with 0.5, gates with 1/sqrt(d) and the query's weights in a candidate with 2/sqrt(d), so that gates do not start
    shut or wide open and the question is not lost on its way through many layers; following = gates open where a
    sentence shares rare words with the query, and candidates are the sentence itself, so that the network starts by
    following shared words from sentence to sentence."""
    position_length: Literal["task", "sentence"] = "task"
    """The J of the position encoder: the longest sentence of the task (original) or the sentence's own length."""
    encoder: Annotated[EncoderName, Added()] = "position"
    """How the words of a sentence become a vector: position = the paper's bag of words, each weighted by its position;
    order = each word together with its neighbours, so that it matters which word stands where."""
    vectors: Annotated[int, Between(0, 4096), Added()] = 0
    """Dimension of the word vectors from elsewhere that are read beside the learned ones; set by --vectors."""
    decode_questions: bool = False
    """Also learn to decode a question from its vector, so that reduced queries can be put into words (stories)."""

    def __post_init__(self) -> None:
        check(self)


_VARIANT = re.compile(r"(?P<layers>[1-9]\d?)(?P<reset>r?)(?P<vector>v?)(?:(?:d|(?<=[rv]))(?P<dimension>[1-9]\d{0,3}))?")


def parse_variant(name: str) -> QRNConfig | None:
    """The network the paper calls ``2r``, ``6r200``, ``2rv`` …: layers, r(eset), v(ector gates), dimension."""
    match = _VARIANT.fullmatch(name)
    if match is None:
        return None
    return QRNConfig(
        layers=int(match["layers"]),
        reset_gate=bool(match["reset"]),
        vector_gates=bool(match["vector"]),
        dimension=int(match["dimension"] or _DIMENSION),
    )


def variant_name(config: QRNConfig) -> str:
    """The paper's name of a network; the inverse of ``parse_variant``."""
    letters = "r" * config.reset_gate + "v" * config.vector_gates
    # A d keeps the dimension apart from the number of layers where no other letter does.
    dimension = "" if config.dimension == _DIMENSION else f"{'' if letters else 'd'}{config.dimension}"
    return f"{config.layers}{letters}{dimension}"


def shape_of(config: QRNConfig) -> Shape:
    """What native code must know about a network."""
    return Shape(
        config.layers,
        config.dimension,
        config.tied,
        config.reset_gate,
        config.vector_gates,
        config.forget_bias,
        config.gate_stretch,
    )


def encoder_of(config: QRNConfig, vocabulary: Vocabulary) -> EncoderConfig:
    """The encoder of a network with this vocabulary."""
    longest = vocabulary.longest_sentence if config.position_length == "task" else 0
    return EncoderConfig(config.encoder, vocabulary.size, config.dimension, longest, config.vectors)
