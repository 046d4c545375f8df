"""Questions about the same story: a network that reads word by word need not read it anew for each of them."""

from __future__ import annotations

import torch
from jaxtyping import Int
from torch import Tensor

from query_reduction.stacked.tensors import TensorBatch

__all__ = ["story_lines"]


def story_lines(batch: TensorBatch) -> tuple[Int[Tensor, "line"], Int[Tensor, "batch"]]:
    """The questions whose stories together contain all of the batch; and for every question the one of these that
    begins with its story, or is its story."""
    lengths = batch.lengths.long()
    questions, time = batch.stories.shape
    # Two stories have the same number in a column if they agree up to there.
    prefix = torch.zeros(questions, time + 1, dtype=torch.int64)
    for t, sentence in enumerate(batch.stories.long().unbind(1)):
        pairs = prefix[:, t] * len(batch.words) + sentence
        prefix[:, t + 1] = pairs.unique(return_inverse=True)[1]
    own = prefix.gather(1, lengths.unsqueeze(1))
    continues = (own == prefix[:, lengths].T) & (lengths >= lengths.unsqueeze(1))
    # The longest, of equal ones the first.
    rank = lengths * questions + torch.arange(questions).flip(0)
    whole, begins = torch.where(continues, rank, -1).argmax(1).unique(return_inverse=True)
    return whole, begins
