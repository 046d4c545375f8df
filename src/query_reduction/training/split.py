"""What is trained on and what is held out for development: whole stories, or single questions as in the original."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from query_reduction.errors import InputError
from query_reduction.reading.protocol import Parts, Task
from query_reduction.text.encoding import EncodedQuestions
from query_reduction.text.splits import split_by_story
from query_reduction.text.stories import Story
from query_reduction.training.recipes import Recipe

__all__ = ["Examples", "Split", "hold_out", "split_stories"]


@dataclass(frozen=True, slots=True)
class Split:
    """Stories to train on, and stories for development: none of the latter if single questions are held out."""

    train: Sequence[Story]
    dev: Sequence[Story]


@dataclass(frozen=True, slots=True)
class Examples:
    """Questions as numbers, and which of them are meant."""

    questions: EncodedQuestions
    chosen: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.chosen)

    @staticmethod
    def all_of(questions: EncodedQuestions) -> Examples:
        """All of these questions."""
        return Examples(questions, np.arange(len(questions)))


def split_stories(parts: Parts, recipe: Recipe) -> Split:
    """The development part if the data has one, else a share of the training stories."""
    if parts.dev or recipe.split == "question":
        return Split(parts.train, parts.dev)
    return Split(*split_by_story(parts.train, recipe.dev_fraction, recipe.seed))


def hold_out(task: Task, split: Split, recipe: Recipe, name: str) -> tuple[Examples, Examples]:
    """The questions for training and those for development; ``name`` is that of the data, for messages."""
    questions = task.encode(split.train)
    if len(questions) < (1 if split.dev else 2):
        raise InputError(f"{name}: {len(questions)} training questions are too few to train on")
    if split.dev:
        return Examples.all_of(questions), Examples.all_of(task.encode(split.dev))
    # 2 marks this use of the seed; batch orders use (seed, epoch).
    order = np.random.default_rng((recipe.seed, 0, 2)).permutation(len(questions))
    held_out = min(max(1, round(len(questions) * recipe.dev_fraction)), len(questions) - 1)
    return Examples(questions, np.sort(order[held_out:])), Examples(questions, np.sort(order[:held_out]))
