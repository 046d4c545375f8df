"""Queries in words: the question decoder from the paper's section on interpretations.

One word classifier per position of a question, reading the query vector. ``networks.decoder`` trains it to reconstruct
the question from the question's own vector; here it is applied to every reduced query. Reduced queries are distributed
differently from questions, so the decoder must look at what the two share:

- It sees a query as the update gate does, each unit scaled by its weight there. A unit the gate ignores says
  nothing about what the query asks for; without this, some trained networks always name the right person, others never.
- Vectors are normalised to length 1, and what all questions have in common ("Where is …") is left to the biases,
  which learn faster than the weights.

It can only produce words that training questions have at that position: for "Where is Sandra?" there must be
questions about people.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import takewhile
from typing import TYPE_CHECKING

import numpy as np

from query_reduction.heads.softmax import softmax
from query_reduction.network import Floats, QueryWords
from query_reduction.qrn.contributions import LayerGates, forward_states
from query_reduction.text.batch import Ints
from query_reduction.text.vocabulary import NO_WORD, Vocabulary

if TYPE_CHECKING:
    from jaxtyping import Float, Int

__all__ = ["BIAS_SPEED", "InWords", "decode", "decode_with_trust", "decoder_shapes", "scores"]

BIAS_SPEED = 5.0
"""How much faster the biases learn than the weights."""
_LEAST_READ = 0.2
"""A query is not put into words if less than this share of it has been read and not been reset since."""
_SHORTEST = 1e-12
"""Shorter vectors are not normalised."""

Weights = Mapping[str, Floats]
"""By name: ``update_weight``, ``decoder_weight`` and ``decoder_bias``."""


def decoder_shapes(vocabulary: Vocabulary, dimension: int) -> dict[str, tuple[int, ...]]:
    """Names and shapes of the decoder's weights."""
    positions = vocabulary.longest_sentence
    return {
        "decoder_weight": (positions, vocabulary.size, dimension),
        "decoder_bias": (positions, vocabulary.size),
    }


def scores(weights: Weights, query: Float[Floats, "query dim"]) -> Float[Floats, "query position vocabulary"]:
    """Scores of every word at every position; "no word" counts as a word, too."""
    seen = query * np.abs(weights["update_weight"]).mean(axis=(0, 1))
    length = np.sqrt((seen * seen).sum(axis=-1, keepdims=True))
    direction = seen / np.maximum(length, _SHORTEST)
    weight = weights["decoder_weight"]
    products: Floats = direction @ weight.reshape(-1, weight.shape[2]).T
    return products.reshape(len(query), *weight.shape[:2]) + BIAS_SPEED * weights["decoder_bias"]


def decode(weights: Weights, query: Float[Floats, "query dim"], vocabulary: Vocabulary) -> list[str]:
    """The queries in words, each up to the first position without a word."""
    return [text for text, _ in decode_with_trust(weights, query, vocabulary)]


def decode_with_trust(
    weights: Weights, query: Float[Floats, "query dim"], vocabulary: Vocabulary
) -> list[tuple[str, float]]:
    """The same, each with the probability of its least certain word, the end of the text included."""
    word_of = {number: word for word, number in vocabulary.number_of_word.items()}
    shares = softmax(scores(weights, query))
    spoken = []
    for numbers, sure in zip(shares.argmax(-1).tolist(), shares.max(-1).tolist(), strict=True):
        said = list(takewhile(lambda number: number != NO_WORD, numbers))
        spoken.append((" ".join(word_of.get(number, "?") for number in said), min(sure[: len(said) + 1])))
    return spoken


@dataclass(frozen=True, slots=True)
class InWords:
    """The queries of a batch's first question in words, computed on demand."""

    weights: Weights
    vocabulary: Vocabulary
    query: Float[Floats, "batch dim"]
    layers: tuple[LayerGates, ...]
    lengths: Int[Ints, "batch"]

    def __call__(self) -> QueryWords:
        """The question, and below the last layer each reduced query: as passed on, and from the sentences so far."""
        below = self.layers[:-1]
        queries = [self._say(layer.reduced[0]) for layer in below]
        so_far = [self._so_far(layer) for layer in below]
        return QueryWords(
            question=self._say(self.query[:1])[0][0],
            queries=tuple(tuple(text for text, _ in layer) for layer in queries),
            so_far=tuple(tuple(text for text, _ in layer) for layer in so_far),
            queries_trust=tuple(tuple(trust for _, trust in layer) for layer in queries),
            so_far_trust=tuple(tuple(trust for _, trust in layer) for layer in so_far),
        )

    def _say(self, vectors: Floats) -> list[tuple[str, float]]:
        return decode_with_trust(self.weights, vectors, self.vocabulary)

    def _so_far(self, layer: LayerGates) -> list[tuple[str, float]]:
        states, read = forward_states(layer, self.lengths)
        spoken = zip(self._say(states[0]), read[0].tolist(), strict=True)
        return [said if amount >= _LEAST_READ else ("", 0.0) for said, amount in spoken]
