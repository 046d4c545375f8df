"""The question decoder in training: its scores with gradients, and its loss.

It is trained to reconstruct the question from the question's own vector, its loss added to the answer's.
``inference.decoder`` says what it does and puts queries into words.
"""

from __future__ import annotations

from typing import Protocol

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn import functional

from query_reduction.qrn.decoder import BIAS_SPEED, decoder_shapes
from query_reduction.stacked.network import StackedModule, zeros
from query_reduction.text.vocabulary import NO_WORD, Vocabulary

__all__ = ["Weights", "declare", "losses", "scores"]


class Weights(Protocol):
    """The parameters the decoder uses, found on the network."""

    update_weight: Float[Tensor, "restart layer gate dim"]
    decoder_weight: Float[Tensor, "restart position vocabulary dim"]
    decoder_bias: Float[Tensor, "restart position vocabulary"]


def declare(network: StackedModule, vocabulary: Vocabulary, dimension: int) -> None:
    """Declare the decoder's parameters on a network."""
    shapes = decoder_shapes(vocabulary, dimension)
    network.declare("decoder_weight", shapes["decoder_weight"], zeros)
    network.declare("decoder_bias", shapes["decoder_bias"], zeros, decay_uses=0)


def scores(
    weights: Weights, query: Float[Tensor, "restart query dim"]
) -> Float[Tensor, "restart query position vocabulary"]:
    """Scores of every word at every position; "no word" counts as a word, too."""
    # Detached: the decoder sees through the gate's weights but must not train them.
    sight = weights.update_weight.detach().abs().mean((1, 2))
    direction = functional.normalize(query * sight.unsqueeze(1), dim=-1)
    return (
        torch.einsum("rnd,rjvd->rnjv", direction, weights.decoder_weight) + BIAS_SPEED * weights.decoder_bias[:, None]
    )


def losses(
    weights: Weights, query: Float[Tensor, "restart query dim"], words: Int[Tensor, "query word"]
) -> Float[Tensor, "restart query"]:
    """Cross-entropy of whole questions: the sum over their words and the empty positions after them."""
    positions = weights.decoder_bias.shape[1]
    told = words[:, :positions].long()
    told = functional.pad(told, (0, positions - told.shape[1]), value=NO_WORD)
    by_word = scores(weights, query).permute(0, 3, 1, 2)
    targets = told.expand(query.shape[0], -1, -1)
    return functional.cross_entropy(by_word, targets, reduction="none").sum(2)
