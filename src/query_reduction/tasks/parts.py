"""A set of stories in parts: for training, development and test."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from query_reduction.data import jsonl
from query_reduction.data.stories import Story

__all__ = ["Parts", "hold_out_stories"]


@dataclass(frozen=True, slots=True)
class Parts:
    """Stories for training, development (may be empty: then it is held out of train) and test."""

    name: str
    train: list[Story]
    dev: list[Story] = field(default_factory=list)
    test: list[Story] = field(default_factory=list)
    unseen: list[Story] = field(default_factory=list)
    """Of dialogs: a second test, with names that training never mentions."""
    dialogs: bool = False
    candidates: tuple[str, ...] = ()
    """Of dialogs: the responses there are to choose from, beside those in training."""
    knowledge: tuple[tuple[str, str, str], ...] = ()
    """Of dialogs: the rows (subject, relation, value) of the knowledge base."""

    def map(self, prepare: Callable[[list[Story]], list[Story]]) -> Parts:
        """The same parts with other stories."""
        return replace(
            self,
            train=prepare(self.train),
            dev=prepare(self.dev),
            test=prepare(self.test),
            unseen=prepare(self.unseen),
        )

    def checksum(self) -> str:
        """sha256 of the stories themselves: the same content has the same sum, whatever the file format."""
        digest = hashlib.sha256()
        for part in (self.train, self.dev, self.test):
            for line in jsonl.format_stories(part):
                digest.update(line.encode())
            digest.update(b"\0")
        if self.dialogs:
            for line in (*jsonl.format_stories(self.unseen), *self.candidates, *map(" ".join, self.knowledge)):
                digest.update(line.encode())
        return digest.hexdigest()


def hold_out_stories(stories: list[Story], seed: int) -> tuple[list[Story], list[Story]]:
    """A tenth of the stories, chosen at random, apart from the others; none of a single one."""
    if len(stories) < 2:
        return stories, []
    order = np.random.default_rng((seed, len(stories))).permutation(len(stories))
    held_out = set(order[: max(1, len(stories) // 10)].tolist())
    kept = [story for number, story in enumerate(stories) if number not in held_out]
    return kept, [stories[number] for number in sorted(held_out)]
