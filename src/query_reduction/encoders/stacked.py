"""Encoders in training: the vectors of ``encoders.arrays`` with gradients, for all restarts."""

from __future__ import annotations

from typing import Protocol

from jaxtyping import Float, Int
from torch import Tensor

from query_reduction.encoders.arrays import EncoderConfig, encoder_shapes
from query_reduction.encoders.order import Order
from query_reduction.encoders.position import Position
from query_reduction.stacked.layers import glorot
from query_reduction.stacked.network import StackedModule, Start, zeros

__all__ = ["Encoder", "Weights", "build_encoder"]


class Weights(Protocol):
    """The parameters an encoder may use, found on the network."""

    embedding: Float[Tensor, "restart vocabulary dim"]
    vectors: Float[Tensor, "restart vocabulary outside"]
    vector_projection: Float[Tensor, "restart outside dim"]
    mark_embedding: Float[Tensor, "restart mark dim"]
    order_in: Float[Tensor, "restart width dim dim"]
    order_bias: Float[Tensor, "restart dim"]
    order_out: Float[Tensor, "restart dim dim"]


class Encoder(Protocol):
    """One input module; rows are distinct sentences and questions."""

    config: EncoderConfig

    def encode(
        self, weights: Weights, words: Int[Tensor, "row word"], marks: Int[Tensor, "row word"] | None = None
    ) -> Float[Tensor, "restart row dim"]:
        """The vector of every row."""

    def encode_words(
        self, weights: Weights, words: Int[Tensor, "row word"], marks: Int[Tensor, "row word"] | None = None
    ) -> Float[Tensor, "restart row word dim"]:
        """The vector of every word as it is read in its row; zero where there is none."""


def build_encoder(config: EncoderConfig, network: StackedModule, start: Start) -> Position | Order:
    """Build an encoder and declare its weights on a network; ``start`` gives the initial word vectors."""
    d = config.dimension
    starts: dict[str, Start] = {
        "embedding": start,
        "vector_projection": zeros,
        "mark_embedding": zeros,
        "order_in": glorot(3 * d, d),
        "order_bias": zeros,
        # At first every word is read by itself, as by the position encoder.
        "order_out": zeros,
    }
    for name, shape in encoder_shapes(config).items():
        if name == "vectors":
            network.fix(name, shape)
        else:
            network.declare(name, shape, starts[name], decay_uses=0 if name == "order_bias" else 1)
    return Order(config) if config.name == "order" else Position(config)
