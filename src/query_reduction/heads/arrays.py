"""From the final reduced query to scores of all possible answers: the output modules.

``answers``    one classifier over whole answers (stories)
``responses``  word by word down a prefix tree of the candidates (dialogs, as the paper describes it)

A head knows the candidates, the shapes of its weights, all named ``answer_…``, and how to score with them.
``networks.heads`` has the same with gradients, and the losses.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

import numpy as np

from query_reduction.heads.match import Mentions
from query_reduction.heads.response_tree import ResponseTree
from query_reduction.heads.slots import pieces
from query_reduction.network import Floats
from query_reduction.text.batch import Batch
from query_reduction.text.vocabulary import Vocabulary

if TYPE_CHECKING:
    from jaxtyping import Float

__all__ = ["AnswerHead", "Head", "HeadConfig", "ResponseHead", "build_head"]

Weights = Mapping[str, Floats]


@dataclass(frozen=True, slots=True)
class HeadConfig:
    """Which output module a task needs."""

    kind: Literal["answers", "responses"] = "answers"
    match: Literal["none", "paper", "original"] = "none"
    """Two match features per candidate word; see ``match``. Only for responses."""


class Head(Protocol):
    """One output module."""

    def shapes(self, dimension: int) -> dict[str, tuple[int, ...]]:
        """Names and shapes of the head's weights."""

    def scores(
        self, weights: Weights, reduced: Float[Floats, "batch dim"], batch: Batch | None
    ) -> Float[Floats, "batch answer"]:
        """The score of every candidate; their softmax gives the probabilities."""


def build_head(config: HeadConfig, vocabulary: Vocabulary) -> AnswerHead | ResponseHead:
    """Build the head a task needs."""
    return AnswerHead(len(vocabulary.answers)) if config.kind == "answers" else ResponseHead(vocabulary, config)


class AnswerHead:
    """A single-layer classifier without bias."""

    def __init__(self, answer_count: int) -> None:
        self._count = answer_count

    def shapes(self, dimension: int) -> dict[str, tuple[int, ...]]:
        """One row per answer."""
        return {"answer_weight": (self._count, dimension)}

    def scores(
        self, weights: Weights, reduced: Float[Floats, "batch dim"], batch: Batch | None
    ) -> Float[Floats, "batch answer"]:
        """Every answer's row times the reduced query."""
        return reduced @ weights["answer_weight"].T


class ResponseHead:
    """Generates a response word by word: a path through the prefix tree of the candidates.

    The classifier of position j scores word w by its row times (reduced query + vector of the current word), among
    the words that lead to a candidate; the end of a response is a word, too. With match, two features of w are
    added, each weighted by the reduced query. There is no recurrent state.
    """

    def __init__(self, vocabulary: Vocabulary, config: HeadConfig) -> None:
        self._match = config.match
        self._vocabulary_size = vocabulary.size
        self.tree = ResponseTree([pieces(answer) for answer in vocabulary.answers], vocabulary.number_of_word)

    def shapes(self, dimension: int) -> dict[str, tuple[int, ...]]:
        """One row per word and position where it can occur, and one per current word."""
        shapes: dict[str, tuple[int, ...]] = {
            "answer_weight": (self.tree.pair_count, dimension),
            "answer_current": (self.tree.word_count, dimension),
        }
        if self._match != "none":
            shapes["answer_match"] = (self.tree.position_count, 2, dimension)
        return shapes

    def mentions(self, batch: Batch | None) -> Mentions | None:
        """The match features of a batch; None without match or without a batch."""
        if self._match == "none" or batch is None:
            return None
        return Mentions(batch, self._vocabulary_size, self._match)

    def scores(
        self, weights: Weights, reduced: Float[Floats, "batch dim"], batch: Batch | None
    ) -> Float[Floats, "batch answer"]:
        """Log-probabilities of all candidates: the whole tree is computed."""
        tree, word_rows = self.tree, weights["answer_weight"]
        if not tree.branches:
            return np.zeros((len(reduced), 1), reduced.dtype)
        of_current = (word_rows[tree.edge_pair] * weights["answer_current"][tree.edge_current]).sum(1)
        scores = (word_rows @ reduced.T)[tree.edge_pair] + of_current[:, None]
        mentions = self.mentions(batch)
        if mentions is not None:
            features = mentions.of(tree.edge_word, tree.edge_branch).transpose(1, 2, 0)
            importance = weights["answer_match"] @ reduced.T
            scores += (importance[tree.edge_position] * features).sum(1)
        return tree.log_probabilities(scores).T
