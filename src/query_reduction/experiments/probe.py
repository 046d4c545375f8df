"""A fingerprint of what the code computes, not of how it is written.

A few steps of training on a handful of fixed stories, every rule of the recipe hurried along so that it shows:
the numbers that come out change when initial weights, order, gates, optimiser or choice change, and stay when the
code is merely moved about or made faster. It is computed in double precision and without native code: a wide network
makes so much of the last bits of single precision that two machines would never agree. Results are only ever put
together when their probes agree.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache

import torch

from query_reduction.data.stories import Question, Story
from query_reduction.tasks.dialogs import DialogParts
from query_reduction.tasks.protocol import Parts
from query_reduction.tasks.stories import StoryOptions, StoryParts
from query_reduction.training.run import Run
from query_reduction.training.setup import Setup

__all__ = ["agree", "probe"]

_EPOCHS = 5
_RESTARTS = (0, 3)
_LARGEST = 50
_TOLERANCE = 1e-4

_PEOPLE = ("Ann", "Bob", "Cid", "Dora")
_PLACES = ("kitchen", "garden", "attic", "hall", "cellar")


@cache
def probe(setup: Setup) -> tuple[float, ...]:
    """Losses of a hurried training of this network by this recipe; takes a fraction of a second."""
    recipe = setup.recipe
    hurried = replace(
        recipe,
        batch=min(recipe.batch, 16),
        halve_every=2 if recipe.halve_every else 0,
        evaluate_every=1,
        # Gentler, so that the first steps do not throw the network where all losses are alike.
        learning_rate=recipe.learning_rate / 10,
        patience=1 if recipe.patience else 0,
        max_epochs=_EPOCHS,
        restarts=len(_RESTARTS),
    )
    network = setup.network
    if hasattr(network, "dimension"):
        network = replace(network, dimension=min(network.dimension, _LARGEST))
    parts: Parts = StoryParts("probe", _stories(0, 24)) if isinstance(setup.task, StoryOptions) else _dialogs()
    numbers: list[float] = []
    with _double_precision():
        run = Run(parts, replace(setup, network=network, recipe=hurried), restarts=_RESTARTS)
        run.trainer.network.use_native(False)
        while not run.trainer.finished:
            for point in run.trainer.run_to_next_look():
                numbers += [point.train_loss, point.dev_loss]
    for restart in run.trainer.restarts:
        numbers += [restart.dev_loss, float(restart.best_epoch)]
    return tuple(round(number, 7) if math.isfinite(number) else -1.0 for number in numbers)


@contextmanager
def _double_precision() -> Iterator[None]:
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        yield
    finally:
        torch.set_default_dtype(before)


def agree(one: Sequence[float], other: Sequence[float]) -> bool:
    """Whether two probes are of code that computes the same."""
    return len(one) == len(other) and all(
        math.isclose(a, b, rel_tol=_TOLERANCE, abs_tol=_TOLERANCE) for a, b in zip(one, other, strict=True)
    )


def _dialogs() -> DialogParts:
    """The same stories as dialogs: a question is what the user says, the answer a sentence."""
    dialogs = [
        replace(
            story,
            questions=tuple(replace(question, answer=f"look in the {question.answer}") for question in story.questions),
        )
        for story in _stories(0, 24)
    ]
    responses = tuple(f"look in the {place}" for place in _PLACES)
    rows = tuple((place, "R_floor", str(number % 2)) for number, place in enumerate(_PLACES))
    return DialogParts("probe", dialogs, candidates=responses, knowledge=rows)


def _stories(first: int, last: int) -> list[Story]:
    """Stories of people who walk about, each different from the others, without any chance."""
    stories = []
    for number in range(first, last):
        sentences = []
        at: dict[str, str] = {}
        for step in range(3 + number % 4):
            person = _PEOPLE[(number * 3 + step * (1 + number % 3)) % len(_PEOPLE)]
            place = _PLACES[(number * 2 + step * 3 + number // 5) % len(_PLACES)]
            at[person] = place
            sentences.append(f"{person} went to the {place}.")
        questions = tuple(Question(f"Where is {person}?", place, len(sentences)) for person, place in at.items())
        stories.append(Story(tuple(sentences), questions, "1"))
    return stories
