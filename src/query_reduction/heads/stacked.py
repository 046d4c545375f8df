"""The output modules in training: the scores of ``inference.heads`` with gradients, for all restarts, and their losses.

A head declares its weights on the network that uses it. Any network that ends in a vector can have any head.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional

from query_reduction.heads import arrays as plain
from query_reduction.heads.arrays import HeadConfig
from query_reduction.heads.match import Mentions
from query_reduction.stacked.network import StackedModule, Start, uniform
from query_reduction.stacked.tensors import TensorBatch
from query_reduction.text.vocabulary import Vocabulary

__all__ = ["AnswerHead", "Head", "ResponseHead", "Weights", "build_head"]


class Weights(Protocol):
    """The parameters a head may use, found on the network."""

    answer_weight: Float[Tensor, "restart answer dim"]
    answer_current: Float[Tensor, "restart word dim"]
    answer_match: Float[Tensor, "restart position 2 dim"]


class Head(Protocol):
    """One output module."""

    def scores(
        self, weights: Weights, reduced: Float[Tensor, "restart batch dim"], batch: TensorBatch | None
    ) -> Float[Tensor, "restart batch answer"]:
        """The score of every candidate; their softmax gives the probabilities."""

    def losses(
        self, weights: Weights, reduced: Float[Tensor, "restart batch dim"], batch: TensorBatch
    ) -> Float[Tensor, "restart batch"]:
        """The cross-entropy of the correct answers."""


def build_head(
    config: HeadConfig, vocabulary: Vocabulary, network: StackedModule, dimension: int, start: Start | None = None
) -> Head:
    """Build the head a task needs and declare its weights on a network whose output has this dimension."""
    known = plain.build_head(config, vocabulary)
    for name, shape in known.shapes(dimension).items():
        network.declare(name, shape, start or uniform(dimension**-0.5), readout=True)
    return ResponseHead(known) if isinstance(known, plain.ResponseHead) else AnswerHead()


class AnswerHead:
    """A single-layer classifier without bias."""

    def scores(self, weights: Weights, reduced: Tensor, batch: TensorBatch | None) -> Tensor:
        """Every answer's row times the reduced query."""
        return reduced @ weights.answer_weight.transpose(1, 2)

    def losses(self, weights: Weights, reduced: Tensor, batch: TensorBatch) -> Tensor:
        """Cross-entropy over all answers."""
        scores = self.scores(weights, reduced, batch)
        targets = batch.answers.long().expand(scores.shape[0], -1)
        return functional.cross_entropy(scores.transpose(1, 2), targets, reduction="none")


class ResponseHead:
    """Generates a response word by word: a path through the prefix tree of the candidates."""

    def __init__(self, known: plain.ResponseHead) -> None:
        self._known = known
        tree = self.tree = known.tree
        self._blocks = [torch.from_numpy(block) for block in tree.blocks]
        self._total_of_edge = torch.from_numpy(tree.total_of_edge)
        self._parents = torch.from_numpy(tree.parents)
        self._last_edge = torch.from_numpy(tree.last_edge)
        edges = (tree.edge_pair, tree.edge_current, tree.edge_position)
        self._pair, self._current, self._position = map(torch.from_numpy, edges)

    def losses(self, weights: Weights, reduced: Tensor, batch: TensorBatch) -> Tensor:
        """Cross-entropy along the paths to the correct responses; only the classifiers on them are computed."""
        mentions = _mentions(self._known, batch)
        narrow, wide = self.tree.paths(batch.answers.numpy())
        narrow_rows = torch.from_numpy(narrow.rows)
        # A single lookup for all branches: its gradient is one pass over the weights, not one per branch.
        pairs = [torch.from_numpy(part) for part in (narrow.pairs.flatten(), *(one.branch.pairs for one in wide))]
        all_rows = weights.answer_weight.index_select(1, torch.cat(pairs))
        word_rows = torch.split(all_rows, [len(part) for part in pairs], dim=1)
        of_wide = np.array([one.branch.current for one in wide], np.int64)
        current = torch.from_numpy(np.concatenate((narrow.currents, of_wide)))
        currents = weights.answer_current.index_select(1, current)
        met = len(narrow.rows)

        query = reduced.index_select(1, narrow_rows)
        scores = torch.einsum("rnd,rnwd->rnw", query + currents[:, :met], word_rows[0].unflatten(1, narrow.pairs.shape))
        if mentions is not None:
            positions = torch.from_numpy(narrow.positions)
            importance = torch.einsum("rnd,rnkd->rnk", query, weights.answer_match.index_select(1, positions))
            features = torch.from_numpy(mentions.of_each(narrow.words, narrow.rows))
            scores = scores + (importance[:, :, None] * features).sum(3)
        scores = scores.masked_fill(torch.from_numpy(narrow.absent), -torch.inf)
        losses = _add_cross_entropy(
            reduced.new_zeros(reduced.shape[:2]), narrow_rows, scores, torch.from_numpy(narrow.choices)
        )

        for number, (branch, passing, choices) in enumerate(wide):
            rows = torch.from_numpy(passing)
            query = reduced.index_select(1, rows)
            scores = (query + currents[:, met + number, None]) @ word_rows[1 + number].transpose(1, 2)
            if mentions is not None:
                importance = query @ weights.answer_match[:, branch.position].transpose(1, 2)
                features = torch.from_numpy(mentions.of(branch.words, rows=passing))
                scores = scores + (importance[:, :, None] * features).sum(3)
            losses = _add_cross_entropy(losses, rows, scores, torch.from_numpy(choices))
        return losses

    def scores(self, weights: Weights, reduced: Tensor, batch: TensorBatch | None) -> Tensor:
        """Log-probabilities of all candidates: the whole tree is computed, one restart at a time to save memory."""
        tree = self.tree
        if not tree.branches:
            return reduced.new_zeros(*reduced.shape[:2], 1)
        mentions = _mentions(self._known, batch)
        features = None
        if mentions is not None:
            features = torch.from_numpy(mentions.of(tree.edge_word, tree.edge_branch)).permute(1, 2, 0)
        return torch.stack([self._tree_scores(weights, r, reduced[r], features).T for r in range(reduced.shape[0])])

    def _tree_scores(self, weights: Weights, restart: int, reduced: Tensor, features: Tensor | None) -> Tensor:
        word_rows = weights.answer_weight[restart]
        scores = (word_rows @ reduced.T).index_select(0, self._pair)
        currents = weights.answer_current[restart].index_select(0, self._current)
        scores = scores + (word_rows.index_select(0, self._pair) * currents).sum(1, keepdim=True)
        if features is not None:
            importance = weights.answer_match[restart] @ reduced.T
            scores = scores + (importance.index_select(0, self._position) * features).sum(1)
        return self._log_probabilities(scores)

    def _log_probabilities(self, scores: Float[Tensor, "edge batch"]) -> Float[Tensor, "answer batch"]:
        """See ``ResponseTree``."""
        padded = torch.cat((scores, torch.full_like(scores[:1], -torch.inf)))
        totals = torch.cat(
            [padded.index_select(0, block.flatten()).unflatten(0, block.shape).logsumexp(1) for block in self._blocks]
        )
        steps = scores - totals.index_select(0, self._total_of_edge)
        reached: list[Tensor] = []
        before = steps.new_zeros(1, steps.shape[1])
        offset = 0
        for first, last in self.tree.levels:
            before = steps[first:last] + before.index_select(0, self._parents[first:last] - offset)
            offset = first
            reached.append(before)
        return torch.cat(reached).index_select(0, self._last_edge)


def _add_cross_entropy(losses: Tensor, rows: Tensor, scores: Tensor, choices: Tensor) -> Tensor:
    """Add the losses of one or more classifiers to the rows that used them."""
    targets = choices.expand(scores.shape[0], -1)
    return losses.index_add(1, rows, functional.cross_entropy(scores.transpose(1, 2), targets, reduction="none"))


def _mentions(known: plain.ResponseHead, batch: TensorBatch | None) -> Mentions | None:
    return known.mentions(None if batch is None else batch.as_arrays())
