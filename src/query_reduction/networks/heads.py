"""From the final reduced query to scores of all possible answers: the network's output modules.

``answers``    one classifier over whole answers (stories)
``responses``  word by word down a prefix tree of the candidates (dialogs, as the paper describes it)
``slots``      independent classifiers of fixed slots (dialogs, as the original code does it)

A head knows the candidates and how to score them; it declares its weights on the network that uses it, all named
``answer_…``. Any network that ends in a vector can have any head.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, Protocol

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional

from query_reduction.data.batch import Batch
from query_reduction.data.slots import SLOT_PLACES, pieces, places
from query_reduction.data.vocabulary import Vocabulary
from query_reduction.networks.match import Mentions
from query_reduction.networks.protocol import StackedModule, Start, uniform
from query_reduction.networks.response_tree import ResponseTree

__all__ = ["AnswerHead", "Head", "HeadConfig", "ResponseHead", "SlotHead", "Weights", "build_head"]


@dataclass(frozen=True, slots=True)
class HeadConfig:
    """Which output module a task needs."""

    kind: Literal["answers", "responses", "slots"] = "answers"
    match: Literal["none", "paper", "original"] = "none"
    """Two match features per candidate word; see ``match``. Only for responses and slots."""


class Weights(Protocol):
    """The parameters a head may use, found on the network."""

    answer_weight: Float[Tensor, "restart answer dim"]
    answer_current: Float[Tensor, "restart word dim"]
    answer_match: Float[Tensor, "restart position 2 dim"]


class Head(Protocol):
    """One output module."""

    def shapes(self, dimension: int) -> dict[str, tuple[int, ...]]:
        """Names and shapes of the head's parameters, without the restart dimension."""

    def scores(
        self, weights: Weights, reduced: Float[Tensor, "restart batch dim"], batch: Batch | None
    ) -> Float[Tensor, "restart batch answer"]:
        """The score of every candidate; their softmax gives the probabilities."""

    def losses(
        self, weights: Weights, reduced: Float[Tensor, "restart batch dim"], batch: Batch
    ) -> Float[Tensor, "restart batch"]:
        """The cross-entropy of the correct answers."""


def build_head(
    config: HeadConfig, vocabulary: Vocabulary, network: StackedModule, dimension: int, start: Start | None = None
) -> Head:
    """Build the head a task needs and declare its weights on a network whose output has this dimension."""
    head: Head
    if config.kind == "answers":
        head = AnswerHead(len(vocabulary.answers))
    elif config.kind == "responses":
        head = ResponseHead(vocabulary, config)
    else:
        head = SlotHead(vocabulary, config)
    for name, shape in head.shapes(dimension).items():
        network.declare(name, shape, start or uniform(dimension**-0.5))
    return head


class AnswerHead:
    """A single-layer classifier without bias."""

    def __init__(self, answer_count: int) -> None:
        self._count = answer_count

    def shapes(self, dimension: int) -> dict[str, tuple[int, ...]]:
        """One row per answer."""
        return {"answer_weight": (self._count, dimension)}

    def scores(self, weights: Weights, reduced: Tensor, batch: Batch | None) -> Tensor:
        """Every answer's row times the reduced query."""
        return reduced @ weights.answer_weight.transpose(1, 2)

    def losses(self, weights: Weights, reduced: Tensor, batch: Batch) -> Tensor:
        """Cross-entropy over all answers."""
        scores = self.scores(weights, reduced, batch)
        targets = batch.answers.long().expand(scores.shape[0], -1)
        return functional.cross_entropy(scores.transpose(1, 2), targets, reduction="none")


class ResponseHead:
    """Generates a response word by word: a path through the prefix tree of the candidates.

    The classifier of position j scores word w by its row times (reduced query + vector of the current word), among
    the words that lead to a candidate; the end of a response is a word, too. With match, two features of w are
    added, each weighted by the reduced query. There is no recurrent state.
    """

    def __init__(self, vocabulary: Vocabulary, config: HeadConfig) -> None:
        self.tree = ResponseTree([pieces(answer) for answer in vocabulary.answers], vocabulary.number_of_word)
        self._mentions = _mentions_of(config, vocabulary)

    def shapes(self, dimension: int) -> dict[str, tuple[int, ...]]:
        """One row per word and position where it can occur, and one per current word."""
        shapes: dict[str, tuple[int, ...]] = {
            "answer_weight": (self.tree.pair_count, dimension),
            "answer_current": (self.tree.word_count, dimension),
        }
        return shapes | _match_shape(self._mentions, self.tree.position_count, dimension)

    def losses(self, weights: Weights, reduced: Tensor, batch: Batch) -> Tensor:
        """Cross-entropy along the paths to the correct responses; only the classifiers on them are computed."""
        mentions = self._mentions(batch)
        narrow, wide = self.tree.paths(batch.answers)
        # A single lookup for all branches: its gradient is one pass over the weights, not one per branch.
        pairs = [narrow.pairs.flatten(), *(one.branch.pairs for one in wide)]
        all_rows = weights.answer_weight.index_select(1, torch.cat(pairs))
        word_rows = torch.split(all_rows, [len(part) for part in pairs], dim=1)
        current = torch.cat((narrow.currents, torch.tensor([one.branch.current for one in wide], dtype=torch.int64)))
        currents = weights.answer_current.index_select(1, current)
        met = len(narrow.rows)

        query = reduced.index_select(1, narrow.rows)
        scores = torch.einsum("rnd,rnwd->rnw", query + currents[:, :met], word_rows[0].unflatten(1, narrow.pairs.shape))
        if mentions is not None:
            importance = torch.einsum("rnd,rnkd->rnk", query, weights.answer_match.index_select(1, narrow.positions))
            scores = scores + (importance[:, :, None] * mentions.of_each(narrow.words, narrow.rows)).sum(3)
        scores = scores.masked_fill(narrow.absent, -torch.inf)
        losses = _add_cross_entropy(reduced.new_zeros(reduced.shape[:2]), narrow.rows, scores, narrow.choices)

        for number, (branch, rows, choices) in enumerate(wide):
            query = reduced.index_select(1, rows)
            scores = (query + currents[:, met + number, None]) @ word_rows[1 + number].transpose(1, 2)
            if mentions is not None:
                importance = query @ weights.answer_match[:, branch.position].transpose(1, 2)
                scores = scores + (importance[:, :, None] * mentions.of(branch.words, rows=rows)).sum(3)
            losses = _add_cross_entropy(losses, rows, scores, choices)
        return losses

    def scores(self, weights: Weights, reduced: Tensor, batch: Batch | None) -> Tensor:
        """Log-probabilities of all candidates: the whole tree is computed, one restart at a time to save memory."""
        tree = self.tree
        if not tree.branches:
            return reduced.new_zeros(*reduced.shape[:2], 1)
        mentions = self._mentions(batch)
        features = None if mentions is None else mentions.of(tree.edge_word, tree.edge_branch).permute(1, 2, 0)
        return torch.stack([self._tree_scores(weights, r, reduced[r], features).T for r in range(reduced.shape[0])])

    def _tree_scores(self, weights: Weights, restart: int, reduced: Tensor, features: Tensor | None) -> Tensor:
        tree = self.tree
        word_rows = weights.answer_weight[restart]
        scores = (word_rows @ reduced.T).index_select(0, tree.edge_pair)
        currents = weights.answer_current[restart].index_select(0, tree.edge_current)
        scores = scores + (word_rows.index_select(0, tree.edge_pair) * currents).sum(1, keepdim=True)
        if features is not None:
            importance = weights.answer_match[restart] @ reduced.T
            scores = scores + (importance.index_select(0, tree.edge_position) * features).sum(1)
        return tree.log_probabilities(scores)


def _add_cross_entropy(losses: Tensor, rows: Tensor, scores: Tensor, choices: Tensor) -> Tensor:
    """Add the losses of one or more classifiers to the rows that used them."""
    targets = choices.expand(scores.shape[0], -1)
    return losses.index_add(1, rows, functional.cross_entropy(scores.transpose(1, 2), targets, reduction="none"))


class SlotHead:
    """Independent classifiers of fixed slots; a candidate's score is the sum of its slots' log-probabilities."""

    def __init__(self, vocabulary: Vocabulary, config: HeadConfig) -> None:
        slots = [places(answer) for answer in vocabulary.answers]
        values = [sorted(set(at_place)) for at_place in zip(*slots, strict=True)]
        self._sizes = [len(of_place) for of_place in values]
        row_of: dict[tuple[int, str], int] = {}
        for place, of_place in enumerate(values):
            row_of |= {(place, value): len(row_of) + n for n, value in enumerate(of_place)}
        self._rows = torch.tensor([[row_of[pair] for pair in enumerate(slot)] for slot in slots])
        self._place = torch.tensor([place for place, _ in row_of])
        self._words = torch.tensor([vocabulary.number_of_word.get(value, 0) for _, value in row_of])
        self._mentions = _mentions_of(config, vocabulary)

    def shapes(self, dimension: int) -> dict[str, tuple[int, ...]]:
        """One row per slot and value."""
        shape = {"answer_weight": (len(self._words), dimension)}
        return shape | _match_shape(self._mentions, SLOT_PLACES, dimension)

    def losses(self, weights: Weights, reduced: Tensor, batch: Batch) -> Tensor:
        """Cross-entropy summed over the slots."""
        rows = self._rows[batch.answers.long()]
        log_probabilities = self._slots(weights, reduced, self._mentions(batch))
        return -log_probabilities.gather(2, rows.expand(reduced.shape[0], -1, -1)).sum(2)

    def scores(self, weights: Weights, reduced: Tensor, batch: Batch | None) -> Tensor:
        """Sums of the slots' log-probabilities, one restart at a time to save memory."""
        slots = self._slots(weights, reduced, self._mentions(batch))
        return torch.stack([one[:, self._rows].sum(2) for one in slots])

    def _slots(self, weights: Weights, reduced: Tensor, mentions: Mentions | None) -> Tensor:
        scores = reduced @ weights.answer_weight.transpose(1, 2)
        if mentions is not None:
            importance = torch.einsum("rbd,rpkd->rbpk", reduced, weights.answer_match)[:, :, self._place]
            scores = scores + (importance * mentions.of(self._words, self._place)).sum(3)
        return torch.cat([part.log_softmax(2) for part in scores.split(self._sizes, dim=2)], dim=2)


def _mentions_of(config: HeadConfig, vocabulary: Vocabulary) -> Callable[[Batch | None], Mentions | None]:
    """A function giving the match features of a batch, or None without match or without a batch."""
    kind = config.match
    if kind == "none":
        return _no_mentions
    return lambda batch: None if batch is None else Mentions(batch, vocabulary.size, kind)


def _no_mentions(batch: Batch | None) -> None:
    return None


def _match_shape(mentions: object, position_count: int, dimension: int) -> dict[str, tuple[int, ...]]:
    return {} if mentions is _no_mentions else {"answer_match": (position_count, 2, dimension)}
