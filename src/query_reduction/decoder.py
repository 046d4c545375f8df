"""Queries in words: the question decoder of the paper's section on interpretations.

A classifier of words for each position of a question, reading the direction of the query vector. It is trained to
say the question from the question's own vector, with its loss beside the answer's, and then used on every reduced
query. Reduced queries lie elsewhere than questions do and have other lengths, so what they share with questions has to
count: vectors are brought to length 1, and what is the same in all questions ("Where is …") is left to the biases,
which learn faster than the weights. The decoder can only say words that training questions have at that place: for
"Where is Sandra?" there must be questions about people.
"""

from __future__ import annotations

from itertools import takewhile

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn import functional

from query_reduction.data.vocabulary import NO_WORD, Vocabulary

__all__ = ["decode", "losses", "scores", "shapes"]

_BIAS_SPEED = 5.0


def shapes(positions: int, vocabulary_size: int, dimension: int) -> dict[str, tuple[int, ...]]:
    """Names and shapes of the decoder's parameters, without the restart dimension."""
    return {
        "decoder_weight": (positions, vocabulary_size, dimension),
        "decoder_bias": (positions, vocabulary_size),
    }


def scores(
    weight: Float[Tensor, "restart position vocabulary dim"],
    bias: Float[Tensor, "restart position vocabulary"],
    query: Float[Tensor, "restart query dim"],
) -> Float[Tensor, "restart query position vocabulary"]:
    """Scores of every word at every position; no word is a word, too."""
    direction = functional.normalize(query, dim=-1)
    return torch.einsum("rnd,rjvd->rnjv", direction, weight) + _BIAS_SPEED * bias.unsqueeze(1)


def losses(
    weight: Float[Tensor, "restart position vocabulary dim"],
    bias: Float[Tensor, "restart position vocabulary"],
    query: Float[Tensor, "restart query dim"],
    words: Int[Tensor, "query word"],
) -> Float[Tensor, "restart query"]:
    """Cross entropy of whole questions: the sum over their words and the places after them."""
    positions = weight.shape[1]
    told = words[:, :positions].long()
    told = functional.pad(told, (0, positions - told.shape[1]), value=NO_WORD)
    by_word = scores(weight, bias, query).permute(0, 3, 1, 2)
    targets = told.expand(weight.shape[0], -1, -1)
    return functional.cross_entropy(by_word, targets, reduction="none").sum(2)


def decode(
    weight: Float[Tensor, "restart position vocabulary dim"],
    bias: Float[Tensor, "restart position vocabulary"],
    query: Float[Tensor, "restart query dim"],
    vocabulary: Vocabulary,
) -> list[str]:
    """The first restart's queries in words, each up to the first place without a word."""
    best = scores(weight[:1], bias[:1], query[:1])[0].argmax(-1)
    word_of = {number: word for word, number in vocabulary.number_of_word.items()}
    return [
        " ".join(word_of.get(number, "?") for number in takewhile(lambda number: number != NO_WORD, numbers))
        for numbers in best.tolist()
    ]
