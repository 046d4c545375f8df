"""The prefix tree of the candidates: at each word, the words that can still lead to a possible response.

Only where the way parts is a classifier needed; a word without alternative is certain. A candidate is a way down: the
edges it takes at the partings it meets. Its last edge belongs to it alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from numpy.typing import NDArray
from torch import Tensor

__all__ = ["NarrowChoices", "Parting", "ResponseTree", "Way"]

_END = ""
_NONE = -1
_NARROW = 16
"""A parting of at most so many words is filled up to this width, so that many can be computed as one."""


@dataclass(frozen=True, slots=True)
class Parting:
    """A node where the way parts: the classifier's position, the current word, and the words to choose from."""

    position: int
    current: int
    """Number of the current word, below ``ResponseTree.word_count``."""
    pairs: Int[Tensor, "choice"]
    """For each choice the number of its (position, word), below ``ResponseTree.pair_count``."""
    words: Int[Tensor, "choice"]
    """For each choice its word in the vocabulary, 0 where it is not there."""


class Way(NamedTuple):
    """A wide parting, the rows of a batch that meet it, and what each chooses there."""

    parting: Parting
    rows: Int[Tensor, "meeting"]
    choices: Int[Tensor, "meeting"]


class NarrowChoices(NamedTuple):
    """All narrow partings the rows of a batch meet: each time one is met is an entry."""

    rows: Int[Tensor, "meeting"]
    choices: Int[Tensor, "meeting"]
    positions: Int[Tensor, "meeting"]
    currents: Int[Tensor, "meeting"]
    pairs: Int[Tensor, "meeting 16"]
    words: Int[Tensor, "meeting 16"]
    """0 also where there is no choice."""
    absent: Bool[Tensor, "meeting 16"]
    """Where there is no choice."""


@dataclass(slots=True)
class _Node:
    """A node while the tree is built: where each next word leads, and the way taken to it."""

    next: dict[str, _Node] = field(default_factory=dict)
    current: str = _END
    depth: int = 0
    way: tuple[int, ...] = ()


class ResponseTree:
    """All candidates as ways down a tree; edges are numbered level by level."""

    def __init__(self, candidates: Sequence[Sequence[str]], number_of_word: Mapping[str, int]) -> None:
        self.partings: list[Parting] = []
        self._words: dict[str, int] = {_END: 0}
        self._pairs: dict[tuple[int, str], int] = {}
        self._number_of_word = number_of_word
        self._parting_of_edge: list[int] = []
        self._parent_edge: list[int] = []
        self._levels: list[tuple[int, int]] = []
        root = _Node()
        ends = [_add(root, candidate) for candidate in candidates]
        level = [root]
        while level:
            first = len(self._parent_edge)
            level = [below for node in level for below in self._part(node)]
            if len(self._parent_edge) > first:
                self._levels.append((first, len(self._parent_edge)))
        self._lay_out([end.way for end in ends])

    @property
    def word_count(self) -> int:
        """How many current words there are, the beginning included."""
        return len(self._words)

    @property
    def pair_count(self) -> int:
        """How many (position, word) a classifier must know."""
        return len(self._pairs)

    @property
    def position_count(self) -> int:
        """How many positions have a classifier, at most."""
        return max((parting.position for parting in self.partings), default=0) + 1

    def ways(self, answers: Int[Tensor, "batch"]) -> tuple[NarrowChoices, list[Way]]:
        """The partings on the ways to these answers, with the rows that meet them, and what they choose there."""
        edges = self._edges_of_answer[answers.numpy()]
        rows, steps = np.nonzero(edges != _NONE)
        taken = edges[rows, steps]
        partings, choices = self._parting_of[taken], self._choice_of[taken]
        narrow = self._is_narrow[partings]
        met = torch.from_numpy(partings[narrow])
        # Narrow partings all have a row in these tables; those of wide ones are never looked at.
        narrow_choices = NarrowChoices(
            torch.from_numpy(rows[narrow]),
            torch.from_numpy(choices[narrow]),
            self._position_of[met],
            self._current_of[met],
            self._narrow_pairs[met],
            self._narrow_words[met],
            self._narrow_absent[met],
        )
        order = np.flatnonzero(~narrow)
        order = order[np.argsort(partings[order], kind="stable")]
        bounds = np.flatnonzero(np.diff(partings[order], prepend=-1, append=-1))
        parts = [order[start:stop] for start, stop in pairwise(bounds)]
        return narrow_choices, [
            Way(self.partings[partings[part[0]]], torch.from_numpy(rows[part]), torch.from_numpy(choices[part]))
            for part in parts
        ]

    def log_probabilities(self, scores: Float[Tensor, "edge batch"]) -> Float[Tensor, "answer batch"]:
        """Scores of the choices at all partings to log-probabilities of the candidates.

        Edges come first: picking some of them then copies whole rows, many times faster than picking columns.
        """
        padded = torch.cat((scores, torch.full_like(scores[:1], -torch.inf)))
        totals = torch.cat(
            [padded.index_select(0, block.flatten()).unflatten(0, block.shape).logsumexp(1) for block in self._blocks]
        )
        steps = scores - totals.index_select(0, self._total_of_edge)
        reached: list[Tensor] = []
        before = steps.new_zeros(1, steps.shape[1])
        offset = 0
        for first, last in self._levels:
            before = steps[first:last] + before.index_select(0, self._parents[first:last] - offset)
            offset = first
            reached.append(before)
        return torch.cat(reached).index_select(0, self._last_edge)

    def _part(self, node: _Node) -> Iterator[_Node]:
        """Follow the way from a node to where it parts; yield the nodes below."""
        while len(node.next) == 1:
            ((word, below),) = node.next.items()
            below.way = node.way
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
            below.way = (*node.way, len(self._parent_edge))
            self._parent_edge.append(node.way[-1] if node.way else 0)
            self._parting_of_edge.append(len(self.partings))
            yield below
        self.partings.append(Parting(node.depth, current, torch.tensor(pairs), torch.tensor(words)))

    def _lay_out(self, ways: Sequence[tuple[int, ...]]) -> None:
        """Tables for computing with many edges at once."""
        longest = max(map(len, ways), default=0)
        self._edges_of_answer = np.full((len(ways), longest), _NONE)
        for answer, way in enumerate(ways):
            self._edges_of_answer[answer, : len(way)] = way
        self._parting_of = np.array(self._parting_of_edge, np.int64)
        self._choice_of = np.concatenate(
            [np.arange(len(parting.pairs)) for parting in self.partings] or [np.zeros(0, np.int64)]
        )
        self._parents = torch.tensor(self._parent_edge, dtype=torch.int64)
        self._last_edge = torch.tensor([way[-1] if way else 0 for way in ways])
        first_edge = np.searchsorted(self._parting_of, np.arange(len(self.partings)))
        widths = np.array([len(parting.pairs) for parting in self.partings], np.int64)
        # Partings of like width are summed in one block, filled up with an edge that does not count.
        self._blocks: list[Tensor] = []
        place = np.zeros(len(self.partings), np.int64)
        placed = 0
        for size in np.unique(np.ceil(np.log2(widths)).astype(np.int64)) if len(widths) else ():
            members = np.flatnonzero(np.ceil(np.log2(widths)).astype(np.int64) == size)
            choices = np.arange(widths[members].max())
            block = np.where(
                choices < widths[members][:, None], first_edge[members][:, None] + choices, len(self._parents)
            )
            self._blocks.append(torch.from_numpy(block))
            place[members] = placed + np.arange(len(members))
            placed += len(members)
        self._total_of_edge = torch.from_numpy(place[self._parting_of])
        self._lay_out_narrow(widths)
        self.edge_parting = torch.from_numpy(self._parting_of)
        self.edge_pair = _joined([parting.pairs for parting in self.partings])
        self.edge_word = _joined([parting.words for parting in self.partings])
        self.edge_position = torch.from_numpy(np.repeat([parting.position for parting in self.partings], widths))
        self.edge_current = torch.from_numpy(np.repeat([parting.current for parting in self.partings], widths))

    def _lay_out_narrow(self, widths: NDArray[np.int64]) -> None:
        """Tables of all narrow partings, filled up to one width."""
        self._is_narrow = widths <= _NARROW
        self._position_of = torch.tensor([parting.position for parting in self.partings], dtype=torch.int64)
        self._current_of = torch.tensor([parting.current for parting in self.partings], dtype=torch.int64)
        self._narrow_pairs = torch.zeros(len(widths), _NARROW, dtype=torch.int64)
        self._narrow_words = torch.zeros_like(self._narrow_pairs)
        for number in np.flatnonzero(self._is_narrow):
            parting = self.partings[number]
            self._narrow_pairs[number, : len(parting.pairs)] = parting.pairs
            self._narrow_words[number, : len(parting.words)] = parting.words
        self._narrow_absent = torch.arange(_NARROW) >= torch.from_numpy(widths)[:, None]


def _add(root: _Node, candidate: Sequence[str]) -> _Node:
    """Put a candidate into the tree; return its end."""
    node = root
    for depth, word in enumerate(candidate, start=1):
        node = node.next.setdefault(word, _Node(current=word, depth=depth))
    return node.next.setdefault(_END, _Node())


def _joined(parts: Sequence[Tensor]) -> Tensor:
    return torch.cat(list(parts)) if parts else torch.zeros(0, dtype=torch.int64)
