"""Queries in words: the question decoder from the paper's section on interpretations.

One word classifier per position of a question, reading the query vector. It is trained to reconstruct the question from
the question's own vector, its loss added to the answer's, and then applied to every reduced query. Reduced queries are
distributed differently from questions, so the decoder must look at what the two share:

- It sees a query as the update gate does, each unit scaled by its weight there. A unit the gate ignores says
  nothing about what the query asks for; without this, some trained networks always name the right person, others never.
- Vectors are normalised to length 1, and what all questions have in common ("Where is …") is left to the biases,
  which learn faster than the weights.

It can only produce words that training questions have at that position: for "Where is Sandra?" there must be
questions about people.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import takewhile
from typing import Protocol

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn import functional

from query_reduction.data.vocabulary import NO_WORD, Vocabulary
from query_reduction.networks.contributions import LayerGates, forward_states
from query_reduction.networks.protocol import QueryWords, StackedModule, zeros

__all__ = ["InWords", "Weights", "declare", "decode", "decode_with_trust", "losses", "scores"]

_BIAS_SPEED = 5.0
_LEAST_READ = 0.2
"""A query is not put into words if less than this share of it has been read and not been reset since."""


class Weights(Protocol):
    """The parameters the decoder uses, found on the network."""

    update_weight: Float[Tensor, "restart layer gate dim"]
    decoder_weight: Float[Tensor, "restart position vocabulary dim"]
    decoder_bias: Float[Tensor, "restart position vocabulary"]


def declare(network: StackedModule, vocabulary: Vocabulary, dimension: int) -> None:
    """Declare the decoder's parameters on a network."""
    positions = vocabulary.longest_sentence
    network.declare("decoder_weight", (positions, vocabulary.size, dimension), zeros)
    network.declare("decoder_bias", (positions, vocabulary.size), zeros, decay_uses=0)


def scores(
    weights: Weights, query: Float[Tensor, "restart query dim"]
) -> Float[Tensor, "restart query position vocabulary"]:
    """Scores of every word at every position; "no word" counts as a word, too."""
    # Detached: the decoder sees through the gate's weights but must not train them.
    sight = weights.update_weight.detach().abs().mean((1, 2))
    direction = functional.normalize(query * sight.unsqueeze(1), dim=-1)
    return (
        torch.einsum("rnd,rjvd->rnjv", direction, weights.decoder_weight) + _BIAS_SPEED * weights.decoder_bias[:, None]
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


def decode(weights: Weights, query: Float[Tensor, "1 query dim"], vocabulary: Vocabulary) -> list[str]:
    """The queries of a stack of one in words, each up to the first position without a word."""
    return [text for text, _ in decode_with_trust(weights, query, vocabulary)]


def decode_with_trust(
    weights: Weights, query: Float[Tensor, "1 query dim"], vocabulary: Vocabulary
) -> list[tuple[str, float]]:
    """The same, each with the probability of its least certain word, the end of the text included."""
    word_of = {number: word for word, number in vocabulary.number_of_word.items()}
    best = torch.softmax(scores(weights, query)[0], dim=-1).max(-1)
    spoken = []
    for numbers, sure in zip(best.indices.tolist(), best.values.tolist(), strict=True):
        said = list(takewhile(lambda number: number != NO_WORD, numbers))
        spoken.append((" ".join(word_of.get(number, "?") for number in said), min(sure[: len(said) + 1])))
    return spoken


@dataclass(frozen=True, slots=True)
class InWords:
    """The queries of a batch's first question in words, computed on demand."""

    weights: Weights
    vocabulary: Vocabulary
    query: Float[Tensor, "1 batch dim"]
    layers: tuple[LayerGates, ...]
    lengths: Int[Tensor, "batch"]

    def __call__(self) -> QueryWords:
        """The question, and below the last layer each reduced query: as passed on, and from the sentences so far."""
        below = self.layers[:-1]
        queries = [self._say(layer.reduced[:, 0]) for layer in below]
        so_far = [self._so_far(layer) for layer in below]
        return QueryWords(
            question=self._say(self.query[:, :1])[0][0],
            queries=tuple(tuple(text for text, _ in layer) for layer in queries),
            so_far=tuple(tuple(text for text, _ in layer) for layer in so_far),
            queries_trust=tuple(tuple(trust for _, trust in layer) for layer in queries),
            so_far_trust=tuple(tuple(trust for _, trust in layer) for layer in so_far),
        )

    def _say(self, vectors: Tensor) -> list[tuple[str, float]]:
        return decode_with_trust(self.weights, vectors, self.vocabulary)

    def _so_far(self, layer: LayerGates) -> list[tuple[str, float]]:
        states, read = forward_states(layer, self.lengths)
        spoken = zip(self._say(states[:, 0]), read[0, 0].tolist(), strict=True)
        return [said if amount >= _LEAST_READ else ("", 0.0) for said, amount in spoken]
