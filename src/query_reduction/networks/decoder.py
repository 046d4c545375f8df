"""Queries in words: the question decoder of the paper's section on interpretations.

A classifier of words for each position of a question, reading the query vector. It is trained to say the question from
the question's own vector, with its loss beside the answer's, and then used on every reduced query. Reduced queries lie
elsewhere than questions do, so the decoder must look at what the two share:

- It sees a query as the update gate does, each unit by the size of its weight there. A unit the gate ignores says
  nothing about what the query asks for; without this, some trained networks name the right person always, others never.
- Vectors are brought to length 1, and what is the same in all questions ("Where is …") is left to the biases, which
  learn faster than the weights.

It can only say words that training questions have at that place: for "Where is Sandra?" there must be questions about
people.
"""

from __future__ import annotations

from itertools import takewhile
from typing import Protocol

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn import functional

from query_reduction.data.vocabulary import NO_WORD, Vocabulary

__all__ = ["Weights", "decode", "losses", "scores", "shapes"]

_BIAS_SPEED = 5.0


class Weights(Protocol):
    """The parameters the decoder uses, found on the network."""

    update_weight: Float[Tensor, "restart layer gate dim"]
    decoder_weight: Float[Tensor, "restart position vocabulary dim"]
    decoder_bias: Float[Tensor, "restart position vocabulary"]


def shapes(positions: int, vocabulary_size: int, dimension: int) -> dict[str, tuple[int, ...]]:
    """Names and shapes of the decoder's parameters, without the restart dimension."""
    return {
        "decoder_weight": (positions, vocabulary_size, dimension),
        "decoder_bias": (positions, vocabulary_size),
    }


def scores(
    weights: Weights, query: Float[Tensor, "restart query dim"]
) -> Float[Tensor, "restart query position vocabulary"]:
    """Scores of every word at every position; no word is a word, too."""
    # Detached: the decoder looks with the gate's eyes but does not tell it where to look.
    sight = weights.update_weight.detach().abs().mean((1, 2))
    direction = functional.normalize(query * sight.unsqueeze(1), dim=-1)
    return (
        torch.einsum("rnd,rjvd->rnjv", direction, weights.decoder_weight) + _BIAS_SPEED * weights.decoder_bias[:, None]
    )


def losses(
    weights: Weights, query: Float[Tensor, "restart query dim"], words: Int[Tensor, "query word"]
) -> Float[Tensor, "restart query"]:
    """Cross entropy of whole questions: the sum over their words and the places after them."""
    positions = weights.decoder_bias.shape[1]
    told = words[:, :positions].long()
    told = functional.pad(told, (0, positions - told.shape[1]), value=NO_WORD)
    by_word = scores(weights, query).permute(0, 3, 1, 2)
    targets = told.expand(query.shape[0], -1, -1)
    return functional.cross_entropy(by_word, targets, reduction="none").sum(2)


def decode(weights: Weights, query: Float[Tensor, "1 query dim"], vocabulary: Vocabulary) -> list[str]:
    """The queries of a stack of one in words, each up to the first place without a word."""
    word_of = {number: word for word, number in vocabulary.number_of_word.items()}
    return [
        " ".join(word_of.get(number, "?") for number in takewhile(lambda number: number != NO_WORD, numbers))
        for numbers in scores(weights, query)[0].argmax(-1).tolist()
    ]
