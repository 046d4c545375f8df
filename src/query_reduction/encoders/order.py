"""Words with their neighbours: a residual convolution over each sentence, so that the order of its words matters.

``word_j = e_j + relu(A e_{j-1} + B e_j + C e_{j+1} + b) W``, and a sentence is the sum of these, weighted by position
as in ``encoders.position``, with which it starts: W is zero at first. What a word adds as a left, middle or right
one is computed once for each word that occurs, however often it does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from jaxtyping import Float, Int
from torch import Tensor

from query_reduction.encoders.arrays import WIDTH, EncoderConfig
from query_reduction.encoders.position import position_weights, word_table
from query_reduction.stacked.layers import look_up

if TYPE_CHECKING:
    from query_reduction.encoders.stacked import Weights

__all__ = ["Order"]


class Order:
    """The encoder; its weights are the network's."""

    def __init__(self, config: EncoderConfig) -> None:
        self.config = config

    def encode(
        self, weights: Weights, words: Int[Tensor, "row word"], marks: Int[Tensor, "row word"] | None = None
    ) -> Float[Tensor, "restart row dim"]:
        """The vector of every row."""
        x, hidden = self._read(weights, words, marks)
        # l_kj = a_k + (j/J) b_k: two sums over a sentence are projected in place of all its words.
        d = self.config.dimension
        k = torch.arange(1, d + 1, device=words.device, dtype=x.dtype) / d
        share = _shares(words, self.config.longest, x.dtype)
        added = hidden.sum(2) @ weights.order_out * (1 - k)
        added = added + (hidden * share).sum(2) @ weights.order_out * (2 * k - 1)
        return (x * position_weights(words, d, self.config.longest, x.dtype)).sum(2) + added

    def encode_words(
        self, weights: Weights, words: Int[Tensor, "row word"], marks: Int[Tensor, "row word"] | None = None
    ) -> Float[Tensor, "restart row word dim"]:
        """The vector of every word as it is read in its row; zero where there is none."""
        x, hidden = self._read(weights, words, marks)
        return x + (hidden.flatten(1, 2) @ weights.order_out).view_as(x)

    def _read(
        self, weights: Weights, words: Int[Tensor, "row word"], marks: Int[Tensor, "row word"] | None
    ) -> tuple[Float[Tensor, "restart row word dim"], Float[Tensor, "restart row word dim"]]:
        """The vector of every word, and what its neighbours make of it, before it is projected."""
        words = words.long()
        occurs, places = torch.cat((words.new_zeros(1), words.flatten())).unique(return_inverse=True)
        places = places[1:].view_as(words)
        present = (words > 0).unsqueeze(2)
        table = word_table(self.config, weights).index_select(1, occurs) * (occurs > 0).unsqueeze(1)
        x, parts = look_up(table, places), (table.unsqueeze(1) @ weights.order_in).unbind(1)
        window = weights.order_bias[:, None, None]
        padded = torch.nn.functional.pad(places, (1, 1))
        for at, part in enumerate(parts):
            window = window + look_up(part, padded[:, at : at + words.shape[1]])
        if marks is not None:
            marked = look_up(weights.mark_embedding, marks) * present
            x = x + marked
            beside = torch.nn.functional.pad(marked, (0, 0, 1, 1))
            for at in range(WIDTH):
                window = window + (
                    beside[:, :, at : at + words.shape[1]].flatten(1, 2) @ weights.order_in[:, at]
                ).view_as(x)
        return x, window.relu() * present


def _shares(words: Int[Tensor, "row word"], longest: int, dtype: torch.dtype) -> Float[Tensor, "row word 1"]:
    """j/J for every word."""
    j = torch.arange(1, words.shape[1] + 1, device=words.device, dtype=dtype)
    length = (words > 0).sum(1, keepdim=True).clamp(min=1) if longest == 0 else longest
    return (j / length).broadcast_to(words.shape).unsqueeze(2)
