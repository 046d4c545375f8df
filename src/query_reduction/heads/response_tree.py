"""The prefix tree of the candidates: at each word, the words that can still lead to a possible response.

A classifier is needed only where the tree branches; a word without an alternative is certain. A candidate is a path to
a leaf: the edges it takes at the branches it passes. Its last edge belongs to it alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from query_reduction.heads.softmax import log_sum_exp
from query_reduction.network import Floats
from query_reduction.text.batch import Ints

if TYPE_CHECKING:
    from jaxtyping import Bool, Float, Int

__all__ = ["Branch", "NarrowChoices", "ResponseTree", "WideBranch"]

_END = ""
_NONE = -1
_NARROW = 16
"""Branches of at most this many words are padded to this width, so that many can be computed as one."""


@dataclass(frozen=True, slots=True)
class Branch:
    """A node with several children: the classifier's position, the current word, and the words to choose from."""

    position: int
    current: int
    """Index of the current word, below ``ResponseTree.word_count``."""
    pairs: Int[Ints, "choice"]
    """For each choice, the index of its (position, word) pair, below ``ResponseTree.pair_count``."""
    words: Int[Ints, "choice"]
    """For each choice, its word's index in the vocabulary; 0 if it is not there."""


class WideBranch(NamedTuple):
    """A wide branch, the rows of a batch that pass it, and the choice of each row."""

    branch: Branch
    rows: Int[Ints, "passing"]
    choices: Int[Ints, "passing"]


class NarrowChoices(NamedTuple):
    """All narrow branches that the rows of a batch pass, with one entry per branch and row."""

    rows: Int[Ints, "passing"]
    choices: Int[Ints, "passing"]
    positions: Int[Ints, "passing"]
    currents: Int[Ints, "passing"]
    pairs: Int[Ints, "passing 16"]
    words: Int[Ints, "passing 16"]
    """0 also where there is no choice."""
    absent: Bool[NDArray[np.bool_], "passing 16"]
    """Where there is no choice."""


@dataclass(slots=True)
class _Node:
    """A node while the tree is built: where each next word leads, and the path to the node."""

    next: dict[str, _Node] = field(default_factory=dict)
    current: str = _END
    depth: int = 0
    path: tuple[int, ...] = ()


class ResponseTree:
    """All candidates as paths in a prefix tree; edges are numbered level by level."""

    def __init__(self, candidates: Sequence[Sequence[str]], number_of_word: Mapping[str, int]) -> None:
        self.branches: list[Branch] = []
        self._words: dict[str, int] = {_END: 0}
        self._pairs: dict[tuple[int, str], int] = {}
        self._number_of_word = number_of_word
        self._branch_of_edge: list[int] = []
        self._parent_edge: list[int] = []
        self.levels: list[tuple[int, int]] = []
        root = _Node()
        ends = [_add(root, candidate) for candidate in candidates]
        level = [root]
        while level:
            first = len(self._parent_edge)
            level = [below for node in level for below in self._branch_below(node)]
            if len(self._parent_edge) > first:
                self.levels.append((first, len(self._parent_edge)))
        self._lay_out([end.path for end in ends])

    @property
    def word_count(self) -> int:
        """The number of current words, including the start symbol."""
        return len(self._words)

    @property
    def pair_count(self) -> int:
        """The number of (position, word) pairs that the classifiers score."""
        return len(self._pairs)

    @property
    def position_count(self) -> int:
        """One more than the last position with a classifier."""
        return max((branch.position for branch in self.branches), default=0) + 1

    def paths(self, answers: Int[Ints, "batch"]) -> tuple[NarrowChoices, list[WideBranch]]:
        """The branches on the paths to these answers, with the rows that pass them and the choice of each row."""
        edges = self._edges_of_answer[answers]
        rows, steps = np.nonzero(edges != _NONE)
        taken = edges[rows, steps]
        branches, choices = self._branch_of[taken], self._choice_of[taken]
        narrow = self._is_narrow[branches]
        met = branches[narrow]
        # Every branch has a row in these tables; the rows of wide branches are never read.
        narrow_choices = NarrowChoices(
            rows[narrow],
            choices[narrow],
            self._position_of[met],
            self._current_of[met],
            self._narrow_pairs[met],
            self._narrow_words[met],
            self._narrow_absent[met],
        )
        order = np.flatnonzero(~narrow)
        order = order[np.argsort(branches[order], kind="stable")]
        bounds = np.flatnonzero(np.diff(branches[order], prepend=-1, append=-1))
        parts = [order[start:stop] for start, stop in pairwise(bounds)]
        return narrow_choices, [
            WideBranch(self.branches[branches[part[0]]], rows[part], choices[part]) for part in parts
        ]

    def log_probabilities(self, scores: Float[Floats, "edge batch"]) -> Float[Floats, "answer batch"]:
        """Turn the scores of the choices at all branches into log-probabilities of the candidates.

        Edges come first: selecting edges then copies whole rows, which is many times faster than selecting columns.
        """
        padded = np.concatenate((scores, np.full_like(scores[:1], -np.inf)))
        totals = np.concatenate([log_sum_exp(padded[block], 1) for block in self.blocks])
        steps = scores - totals[self.total_of_edge]
        reached: Floats = np.zeros_like(steps)
        for number, (first, last) in enumerate(self.levels):
            reached[first:last] = steps[first:last]
            if number:
                reached[first:last] += reached[self.parents[first:last]]
        return reached[self.last_edge]

    def _branch_below(self, node: _Node) -> Iterator[_Node]:
        """Follow the only path from a node to the next branch; yield the children there."""
        while len(node.next) == 1:
            ((word, below),) = node.next.items()
            below.path = node.path
            if word == _END:
                return
            node = below
        if not node.next:
            return
        choices = sorted(node.next)
        current = self._words.setdefault(node.current, len(self._words))
        pairs = [self._pairs.setdefault((node.depth, word), len(self._pairs)) for word in choices]
        words = [self._number_of_word.get(word, 0) for word in choices]
        for word in choices:
            below = node.next[word]
            below.path = (*node.path, len(self._parent_edge))
            self._parent_edge.append(node.path[-1] if node.path else 0)
            self._branch_of_edge.append(len(self.branches))
            yield below
        self.branches.append(Branch(node.depth, current, np.array(pairs), np.array(words)))

    def _lay_out(self, paths: Sequence[tuple[int, ...]]) -> None:
        """Build the tables for computing with many edges at once."""
        longest = max(map(len, paths), default=0)
        self._edges_of_answer = np.full((len(paths), longest), _NONE)
        for answer, path in enumerate(paths):
            self._edges_of_answer[answer, : len(path)] = path
        self._branch_of = np.array(self._branch_of_edge, np.int64)
        self._choice_of = np.concatenate(
            [np.arange(len(branch.pairs)) for branch in self.branches] or [np.zeros(0, np.int64)]
        )
        self.parents = np.array(self._parent_edge, np.int64)
        self.last_edge = np.array([path[-1] if path else 0 for path in paths], np.int64)
        first_edge = np.searchsorted(self._branch_of, np.arange(len(self.branches)))
        widths = np.array([len(branch.pairs) for branch in self.branches], np.int64)
        # Branches of similar width are summed in one block, padded with an edge that contributes nothing.
        self.blocks: list[NDArray[np.int64]] = []
        place = np.zeros(len(self.branches), np.int64)
        placed = 0
        sizes = np.ceil(np.log2(widths)).astype(np.int64)
        for size in sorted(set(sizes.tolist())):  # np.unique would load a part of NumPy that takes as long as the model
            members = np.flatnonzero(sizes == size)
            choices = np.arange(widths[members].max())
            block = np.where(
                choices < widths[members][:, None], first_edge[members][:, None] + choices, len(self.parents)
            )
            self.blocks.append(block)
            place[members] = placed + np.arange(len(members))
            placed += len(members)
        self.total_of_edge = place[self._branch_of]
        self._lay_out_narrow(widths)
        self.edge_branch = self._branch_of
        self.edge_pair = _joined([branch.pairs for branch in self.branches])
        self.edge_word = _joined([branch.words for branch in self.branches])
        self.edge_position = np.repeat(self._position_of, widths)
        self.edge_current = np.repeat(self._current_of, widths)

    def _lay_out_narrow(self, widths: NDArray[np.int64]) -> None:
        """Build the tables of all narrow branches, padded to one width."""
        self._is_narrow = widths <= _NARROW
        self._position_of = np.array([branch.position for branch in self.branches], np.int64)
        self._current_of = np.array([branch.current for branch in self.branches], np.int64)
        self._narrow_pairs = np.zeros((len(widths), _NARROW), np.int64)
        self._narrow_words = np.zeros_like(self._narrow_pairs)
        for number in np.flatnonzero(self._is_narrow):
            branch = self.branches[number]
            self._narrow_pairs[number, : len(branch.pairs)] = branch.pairs
            self._narrow_words[number, : len(branch.words)] = branch.words
        self._narrow_absent = np.arange(_NARROW) >= widths[:, None]


def _add(root: _Node, candidate: Sequence[str]) -> _Node:
    """Insert a candidate into the tree; return its leaf."""
    node = root
    for depth, word in enumerate(candidate, start=1):
        node = node.next.setdefault(word, _Node(current=word, depth=depth))
    return node.next.setdefault(_END, _Node())


def _joined(parts: Sequence[Ints]) -> Ints:
    return np.concatenate(parts) if parts else np.zeros(0, np.int64)
