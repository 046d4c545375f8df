"""Words with their neighbours: a residual convolution over each sentence, so that the order of its words matters.

``word_j = e_j + relu(A e_{j-1} + B e_j + C e_{j+1} + b) W / d``, and a sentence is the sum of these, weighted by
position as in ``encoders.position``, with which it starts: W is zero at first. It is divided by d because Adam moves
every weight by the learning rate, and a sum of d moves at once would be a leap. What a word adds as a left, middle or
right one is computed once for each word of the vocabulary, and W is applied to sums over sentences: both are linear.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn import functional

from query_reduction.encoders.arrays import WIDTH, EncoderConfig
from query_reduction.encoders.position import Position, word_table
from query_reduction.stacked.layers import look_up

if TYPE_CHECKING:
    from query_reduction.encoders.stacked import Weights

__all__ = ["Order"]


class Order:
    """The encoder; its weights are the network's."""

    def __init__(self, config: EncoderConfig) -> None:
        self.config = config
        self._alone = Position(config)

    def encode(
        self, weights: Weights, words: Int[Tensor, "row word"], marks: Int[Tensor, "row word"] | None = None
    ) -> Float[Tensor, "restart row dim"]:
        """The vector of every row."""
        return self._alone.encode(weights, words, marks) + self.context(weights, words, marks)

    def context(
        self, weights: Weights, words: Int[Tensor, "row word"], marks: Int[Tensor, "row word"] | None = None
    ) -> Float[Tensor, "restart row dim"]:
        """What the neighbours of its words add to every row."""
        present = words > 0
        hidden = self._windows(weights, words, marks)
        row = present.nonzero()[:, 0]
        j = torch.arange(1, words.shape[1] + 1, device=words.device, dtype=hidden.dtype)
        longest = self.config.longest or present.sum(1, keepdim=True).clamp(min=1)
        share = (j / longest).expand(words.shape)[present].unsqueeze(1)
        # l_kj = (1 - k/d) + (j/J)(2k/d - 1): two sums over a sentence are projected instead of each of its words.
        none = hidden.new_zeros(hidden.shape[0], len(words), hidden.shape[2])
        sums, shares = none.index_add(1, row, hidden), none.index_add(1, row, hidden * share)
        d = self.config.dimension
        k = torch.arange(1, d + 1, device=words.device, dtype=hidden.dtype) / d
        return sums @ weights.order_out * (1 - k) + shares @ weights.order_out * (2 * k - 1)

    def encode_words(
        self, weights: Weights, words: Int[Tensor, "row word"], marks: Int[Tensor, "row word"] | None = None
    ) -> Float[Tensor, "restart row word dim"]:
        """The vector of every word as it is read in its row; zero where there is none."""
        alone = self._alone.encode_words(weights, words, marks)
        places = (words > 0).flatten().nonzero()[:, 0]
        read = self._windows(weights, words, marks) @ weights.order_out
        return alone.flatten(1, 2).index_add(1, places, read).view_as(alone)

    def _windows(
        self, weights: Weights, words: Int[Tensor, "row word"], marks: Int[Tensor, "row word"] | None
    ) -> Float[Tensor, "restart present dim"]:
        """What each word that is there makes of itself and its neighbours, before W."""
        present = words > 0
        table = word_table(self.config, weights)
        table = table * (torch.arange(table.shape[1], device=table.device) > 0).unsqueeze(1)
        total = weights.order_bias.unsqueeze(1)
        for rows, vectors in ((words, table),) if marks is None else ((words, table), (marks, weights.mark_embedding)):
            parts = vectors.unsqueeze(1) @ weights.order_in
            beside = functional.pad(rows, (1, 1))
            there = functional.pad(present, (1, 1))
            for at in range(WIDTH):
                near = look_up(parts[:, at], beside[:, at : at + words.shape[1]][present])
                # Where there is no word, its vector is zero, but a mark's is not.
                total = total + (near if rows is words else near * there[:, at : at + words.shape[1]][present, None])
        return total.relu() / self.config.dimension
