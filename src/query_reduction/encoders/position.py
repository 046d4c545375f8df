"""Sentences as vectors: a bag of words, each weighted by its position (Sukhbaatar et al., 2015)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn import functional

from query_reduction.encoders.arrays import EncoderConfig
from query_reduction.stacked.layers import look_up

if TYPE_CHECKING:
    from query_reduction.encoders.stacked import Weights

__all__ = ["Position", "bags_of_words", "encode_masked", "encode_sentences", "position_weights", "word_table"]


class Position:
    """The encoder of the paper; its weights are the network's."""

    def __init__(self, config: EncoderConfig) -> None:
        self.config = config

    def encode(
        self, weights: Weights, words: Int[Tensor, "row word"], marks: Int[Tensor, "row word"] | None = None
    ) -> Float[Tensor, "restart row dim"]:
        """The vector of every row."""
        if marks is None:
            return encode_sentences(word_table(self.config, weights), words, self.config.longest)
        x = self.encode_words(weights, words, marks)
        return (x * position_weights(words, x.shape[3], self.config.longest, x.dtype)).sum(2)

    def encode_words(
        self, weights: Weights, words: Int[Tensor, "row word"], marks: Int[Tensor, "row word"] | None = None
    ) -> Float[Tensor, "restart row word dim"]:
        """The vector of every word; zero where there is none."""
        x = look_up(word_table(self.config, weights), words)
        if marks is not None:
            x = x + look_up(weights.mark_embedding, marks)
        return x * (words > 0).unsqueeze(2)


def word_table(config: EncoderConfig, weights: Weights) -> Float[Tensor, "restart vocabulary dim"]:
    """The vector of every word: the learned one and, projected, the one from elsewhere."""
    return weights.embedding + weights.vectors @ weights.vector_projection if config.vectors else weights.embedding


def position_weights(
    words: Int[Tensor, "sentence word"], dimension: int, longest: int, dtype: torch.dtype
) -> Float[Tensor, "sentence word dim"]:
    """l_kj = (1 - k/d) + (j/J)(2k/d - 1), k and j from 1; ``longest`` is J, or 0 for each sentence's own length."""
    present = words > 0
    j = torch.arange(1, words.shape[1] + 1, device=words.device, dtype=dtype)
    length = present.sum(1, keepdim=True).clamp(min=1) if longest == 0 else longest
    k = torch.arange(1, dimension + 1, device=words.device, dtype=dtype) / dimension
    weights = (1 - k) + (j / length).unsqueeze(-1) * (2 * k - 1)
    return weights * present.unsqueeze(-1)


def encode_sentences(
    embedding: Float[Tensor, "restart vocabulary dim"], words: Int[Tensor, "sentence word"], longest: int
) -> Float[Tensor, "restart sentence dim"]:
    """The vector of every sentence for every restart; ``longest`` as in ``position_weights``."""
    weights = position_weights(words, embedding.shape[2], longest, embedding.dtype)
    return (embedding[:, words.long()] * weights).sum(2)


def encode_masked(
    embedding: Float[Tensor, "restart vocabulary dim"],
    mask: Float[Tensor, "restart position dim"],
    words: Int[Tensor, "sentence word"],
) -> Float[Tensor, "restart sentence dim"]:
    """Σ_j f_j ∘ w_j with a learned mask f; words past the longest training sentence use its last position."""
    positions = torch.arange(words.shape[1]).clamp(max=mask.shape[1] - 1)
    vectors = look_up(embedding, words) * (words > 0).unsqueeze(2)
    return (vectors * look_up(mask, positions).unsqueeze(1)).sum(2)


def bags_of_words(
    embedding: Float[Tensor, "restart vocabulary dim"],
    words: Int[Tensor, "sentence word"],
    weights: Float[Tensor, "sentence word"],
) -> Float[Tensor, "restart sentence dim"]:
    """Σ_j w_j A x_j: the weighted sum of each sentence's word vectors, which are not copied."""
    restarts, size, dimension = embedding.shape
    if not words.shape[1]:  # texts of punctuation alone, which embedding_bag refuses
        return embedding.new_zeros(restarts, len(words), dimension)
    # Only the words that occur: of a large vocabulary that is a small part, and so is its gradient.
    occurs = torch.zeros(size, dtype=torch.bool)
    occurs[0] = occurs[words] = True
    found = embedding.index_select(1, occurs.nonzero().squeeze(1))
    words = (occurs.cumsum(0) - 1)[words]
    table = found.transpose(0, 1).flatten(1)
    summed = functional.embedding_bag(words, table, mode="sum", padding_idx=0, per_sample_weights=weights)
    return summed.view(-1, restarts, dimension).transpose(0, 1)
