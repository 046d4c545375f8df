"""Match: two binary features of a candidate word, saying whether the dialog has mentioned it.

The paper: found in the context; found in the question. The original code: found in either; and mentioned
last of all words that could stand in the same place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from query_reduction.network import Floats
from query_reduction.text.batch import Batch, Ints

if TYPE_CHECKING:
    from jaxtyping import Float, Int

__all__ = ["Mentions"]


class Mentions:
    """When each word was last mentioned in each story of a batch."""

    def __init__(self, batch: Batch, vocabulary_size: int, kind: Literal["paper", "original"]) -> None:
        self._kind = kind
        count, time = batch.stories.shape
        rows, moments = np.nonzero(np.arange(time) < batch.lengths[:, None])
        self._context = np.zeros((count, vocabulary_size), np.int64)
        # In the order of time: the last of several values stays.
        self._context[rows[:, None], batch.words[batch.stories[rows, moments]]] = moments[:, None] + 1
        self._question = np.zeros((count, vocabulary_size), bool)
        self._question[np.arange(count)[:, None], batch.words[batch.questions]] = True
        # Words 0 and 1 are not real words: a candidate word missing from the vocabulary has index 0.
        self._context[:, :2] = 0
        self._question[:, :2] = False
        self._last = np.where(self._question, time + 1, self._context)

    def of(
        self, words: Int[Ints, "word"], group: Int[Ints, "word"] | None = None, rows: Int[Ints, "row"] | None = None
    ) -> Float[Floats, "batch word 2"]:
        """The features of these words, for all stories or only those in ``rows``.

        ``group`` says which words could stand in the same place: equal numbers; without it all could.
        """
        pick = slice(None) if rows is None else rows
        if self._kind == "paper":
            return _features(self._context[pick][:, words] > 0, self._question[pick][:, words])
        last = self._last[pick][:, words]
        if group is None:
            latest = last.max(axis=1, keepdims=True)
        else:
            highest = np.zeros((int(group.max()) + 1, len(last)), last.dtype)
            np.maximum.at(highest, group, last.T)
            latest = highest[group].T
        return _features(last > 0, (last > 0) & (last == latest))

    def of_each(self, words: Int[Ints, "row word"], rows: Int[Ints, "row"]) -> Float[Floats, "row word 2"]:
        """The features of each row's own words, in its story; all of a row could stand in the same place."""
        rows = rows[:, None]
        if self._kind == "paper":
            return _features(self._context[rows, words] > 0, self._question[rows, words])
        last = self._last[rows, words]
        return _features(last > 0, (last > 0) & (last == last.max(axis=1, keepdims=True)))


def _features(first: np.ndarray, second: np.ndarray) -> Float[Floats, "row word 2"]:
    return np.stack((first, second), axis=2).astype(np.float32)
