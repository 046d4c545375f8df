"""Match: two binary features of a candidate word, saying whether the dialog has mentioned it.

The paper: found in the context; found in the question. The original code: found in either; and mentioned
last of all words that could stand in the same place.
"""

from __future__ import annotations

from typing import Literal

import torch
from jaxtyping import Float, Int
from torch import Tensor

from query_reduction.data.batch import Batch

__all__ = ["Mentions"]


class Mentions:
    """When each word was last mentioned in each story of a batch."""

    def __init__(self, batch: Batch, vocabulary_size: int, kind: Literal["paper", "original"]) -> None:
        self._kind = kind
        count, time = batch.stories.shape
        words = batch.words.long()
        moments = torch.arange(1, time + 1)
        # Past a story's end nothing is mentioned: time 0, which never is the maximum.
        moments = torch.where(moments <= batch.lengths[:, None], moments, 0)
        told = words[batch.stories.long()].flatten(1)
        self._context = torch.zeros(count, vocabulary_size, dtype=torch.int64)
        self._context.scatter_reduce_(1, told, moments.repeat_interleave(words.shape[1], dim=1), "amax")
        self._question = torch.zeros(count, vocabulary_size, dtype=torch.bool)
        self._question.scatter_(1, words[batch.questions.long()], True)
        # Words 0 and 1 are not real words: a candidate word missing from the vocabulary has index 0.
        self._context[:, :2] = 0
        self._question[:, :2] = False
        self._last = torch.where(self._question, time + 1, self._context)

    def of(
        self, words: Int[Tensor, "word"], group: Int[Tensor, "word"] | None = None, rows: Tensor | None = None
    ) -> Float[Tensor, "batch word 2"]:
        """The features of these words, for all stories or only those in ``rows``.

        ``group`` says which words could stand in the same place: equal numbers; without it all could.
        """
        pick = slice(None) if rows is None else rows
        if self._kind == "paper":
            return torch.stack((self._context[pick][:, words] > 0, self._question[pick][:, words]), dim=2).float()
        last = self._last[pick][:, words]
        if group is None:
            latest = last.amax(1, keepdim=True)
        else:
            shape = (last.shape[0], int(group.max()) + 1)
            highest = torch.zeros(shape, dtype=last.dtype).scatter_reduce_(1, group.expand_as(last), last, "amax")
            latest = highest[:, group]
        return torch.stack((last > 0, (last > 0) & (last == latest)), dim=2).float()

    def of_each(self, words: Int[Tensor, "row word"], rows: Int[Tensor, "row"]) -> Float[Tensor, "row word 2"]:
        """The features of each row's own words, in its story; all of a row could stand in the same place."""
        rows = rows[:, None]
        if self._kind == "paper":
            return torch.stack((self._context[rows, words] > 0, self._question[rows, words]), dim=2).float()
        last = self._last[rows, words]
        return torch.stack((last > 0, (last > 0) & (last == last.amax(1, keepdim=True))), dim=2).float()
