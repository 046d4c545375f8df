"""What a task is to the rest of the program: data in parts, and what a model keeps of it.

``Parts`` are the stories or dialogs one trains and tests on. ``Task`` is what is learned from the training part besides
the weights, and saved with them: how texts become numbers, how numbers become words again, and how answers are scored.
"""

from __future__ import annotations

import hashlib
import random
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeAlias

import numpy as np

from query_reduction.errors import InputError
from query_reduction.heads.arrays import HeadConfig
from query_reduction.network import Network
from query_reduction.text.encoding import EncodedQuestions
from query_reduction.text.stories import Question, Story
from query_reduction.text.vectors import WordVectors
from query_reduction.text.vocabulary import Vocabulary

__all__ = ["Given", "Parts", "Progress", "Scores", "Task", "hold_out_stories", "test"]


Progress: TypeAlias = Callable[[str, float], None]
"""Told what is being done, and which part of all has been done."""


@dataclass(frozen=True, slots=True)
class Scores:
    """How well a network did on a set of questions, in percent."""

    error: float
    """The error by the task's main measure, over all questions."""
    questions: int
    errors: Mapping[str, Mapping[str, float]]
    """Measure → row of a table (the stories' task, or nothing) → error."""


@dataclass(frozen=True, slots=True)
class Given:
    """A question and the answer a model gave to it."""

    sentences: tuple[str, ...]
    """The sentences before it."""
    question: Question
    answer: str
    right: bool
    confidence: float
    """How sure the model was, from 0 to 1."""


class Task(ABC):
    """What a model keeps of its task."""

    kind: ClassVar[str]
    """``stories`` or ``dialogs``: what the task is called in files and messages."""
    vocabulary: Vocabulary
    options: Any
    """The settings it was made with: a frozen dataclass."""

    @property
    @abstractmethod
    def head(self) -> HeadConfig:
        """The output module a network needs for it."""

    @abstractmethod
    def encode(self, stories: Sequence[Story]) -> EncodedQuestions:
        """The questions of stories or dialogs as numbers."""

    @abstractmethod
    def score(self, networks: Sequence[Network], stories: Sequence[Story]) -> list[Scores]:
        """The scores of several networks on all questions of some stories or dialogs."""

    @abstractmethod
    def given(self, network: Network, stories: Sequence[Story]) -> list[Given]:
        """The answers of one network to all questions of some stories or dialogs."""

    def describe(self) -> list[str]:
        """What was learned about the task, as lines of text."""
        return []

    def retell(self, stories: Sequence[Story]) -> Callable[[random.Random], Sequence[Story]]:
        """A function that retells the stories in other words, drawn anew with every call, if the task knows any."""
        raise InputError(f"copies has no effect on {self.kind}")

    def extended(self, stories: Sequence[Story]) -> Task:
        """The task with the new words and answers of some stories after its own, whose numbers stay."""
        raise InputError(f"training cannot go on from a model of {self.kind}: it is possible with stories only")

    @abstractmethod
    def as_json(self) -> dict[str, Any]:
        """Everything except the vocabulary, as plain values."""


@dataclass(frozen=True)
class Parts(ABC):
    """Stories or dialogs for training, development (if empty, held out from training) and test."""

    kind: ClassVar[str]
    options_type: ClassVar[type]
    """The dataclass of the task's settings."""

    name: str
    train: list[Story]
    dev: list[Story] = field(default_factory=list)
    test: list[Story] = field(default_factory=list)
    vectors: WordVectors | None = field(default=None, kw_only=True)
    """Word vectors from elsewhere, beside those that are learned."""

    @abstractmethod
    def learn(self, options: Any, train: Sequence[Story], progress: Progress | None = None) -> Task:
        """Learn the task, everything besides the weights; ``train`` is the training part without held-out stories.

        ``progress`` is told how far that is.
        """

    def hidden_in(self, haystack: Sequence[str]) -> Parts:
        """The same with sentences in which stories are to be hidden in training."""
        raise InputError(f"a haystack has no effect on {self.kind}")

    def with_vectors(self, vectors: WordVectors, nearest: int = 0) -> Parts:
        """The same with word vectors from elsewhere; the ``nearest`` words to each known one are read as it."""
        raise InputError(f"vectors have no effect on {self.kind}")

    def tests(self) -> Iterator[tuple[str, list[Story]]]:
        """The tests, each with the suffix it adds to its row's name in a table."""
        if self.test:
            yield "", self.test

    def checksum(self) -> str:
        """The sha256 of the content: the same stories have the same sum, whatever the file format."""
        from query_reduction.text.formats import jsonl  # all formats of stories come with it

        digest = hashlib.sha256()
        for part in (self.train, self.dev, self.test):
            for line in jsonl.format_stories(part):
                digest.update(line.encode())
            digest.update(b"\0")
        for line in self.more_content():
            digest.update(line.encode())
        return digest.hexdigest()

    def more_content(self) -> Iterator[str]:
        """What else belongs to the content, as lines."""
        yield from ()


def test(task: Task, networks: Sequence[Network], parts: Parts) -> list[Scores | None]:
    """Test several networks on all tests of some parts; None if there are none. All testing goes through here."""
    found: list[Scores | None] = [None] * len(networks)
    for suffix, stories in parts.tests():
        for at, scores in enumerate(task.score(networks, stories)):
            found[at] = _joined(found[at], scores, suffix)
    return found


def _joined(before: Scores | None, scores: Scores, suffix: str) -> Scores:
    """The scores of a further test added as rows; the main error stays that of the first."""
    errors = {
        measure: {f"{row}{suffix}": error for row, error in rows.items()} for measure, rows in scores.errors.items()
    }
    if before is None:
        return Scores(scores.error, scores.questions, errors)
    both = {measure: {**before.errors[measure], **rows} for measure, rows in errors.items()}
    return Scores(before.error, before.questions, both)


def hold_out_stories(stories: list[Story], seed: int) -> tuple[list[Story], list[Story]]:
    """Split off a random tenth of the stories; none if there is only one."""
    if len(stories) < 2:
        return stories, []
    order = np.random.default_rng((seed, len(stories))).permutation(len(stories))
    held_out = set(order[: max(1, len(stories) // 10)].tolist())
    kept = [story for number, story in enumerate(stories) if number not in held_out]
    return kept, [stories[number] for number in sorted(held_out)]
