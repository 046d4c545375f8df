"""A fingerprint of what the code computes, not of how it is written.

A few steps of training on a handful of fixed stories, every rule of the recipe accelerated so that it shows: the
resulting numbers change when initial weights, order, gates, optimiser or choice change, and stay when the code is
merely moved or made faster. The plain numbers are computed in double precision and without native code: a wide
network amplifies the last bits of single precision so much that two machines would never agree. The native numbers come
from the kernels, in double precision and, before rounding grows, in single; so a changed kernel is noticed, and two
instruction sets still agree. Results are only combined if their fingerprints agree.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache

import torch

from query_reduction.dialog.dialogs import DialogOptions, DialogParts
from query_reduction.native import library
from query_reduction.reading.protocol import Parts
from query_reduction.reading.stories import StoryOptions, StoryParts
from query_reduction.stacked.network import StackedNetwork
from query_reduction.text.stories import Question, Story
from query_reduction.training.run import Run
from query_reduction.training.setup import Setup

__all__ = ["Fingerprint", "agree", "fingerprint", "native_probe", "probe", "uses_native"]

_EPOCHS = 5
_RESTARTS = (0, 3)
_LARGEST = 50
_TOLERANCE = 1e-4
_NATIVE_TOLERANCE = 1e-5
"""The largest difference seen between instruction sets is 3e-7; a different implementation of exp would show."""
_SINGLE_EPOCHS = 1
"""How long training is followed in single precision."""

_PEOPLE = ("Ann", "Bob", "Cid", "Dora")
_PLACES = ("kitchen", "garden", "attic", "hall", "cellar")


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """What the code computes for one setup."""

    plain: tuple[float, ...]
    native: tuple[float, ...] = ()
    """Empty if no native code is used or it was not recorded: then it is ignored."""

    def agrees(self, other: Fingerprint) -> bool:
        """Whether two fingerprints come from code that computes the same."""
        if not agree(self.plain, other.plain):
            return False
        return not self.native or not other.native or agree(self.native, other.native, _NATIVE_TOLERANCE)


def fingerprint(setup: Setup) -> Fingerprint:
    """Both probes of this network and recipe."""
    return Fingerprint(probe(setup), native_probe(setup))


@cache
def probe(setup: Setup) -> tuple[float, ...]:
    """Losses of an accelerated training without native code; takes a fraction of a second."""
    with _precision(torch.float64):
        return _losses(_hurried_run(setup, _EPOCHS), native=False)


@cache
def native_probe(setup: Setup) -> tuple[float, ...]:
    """Losses of the same training by native code; empty if none is used."""
    if not library.available():
        return ()
    with _precision(torch.float64):
        run = _hurried_run(setup, _EPOCHS)
        if not uses_native(run.trainer.network):
            return ()
        double = _losses(run, native=True)
    with _precision(torch.float32):
        return double + _losses(_hurried_run(setup, _SINGLE_EPOCHS), native=True)


def uses_native(network: StackedNetwork) -> bool:
    """Whether native code is used for a network here."""
    return library.available() and type(network).use_native is not StackedNetwork.use_native


def _hurried_run(setup: Setup, epochs: int) -> Run:
    recipe = setup.recipe
    restarts = _RESTARTS[:1] if recipe.alone else _RESTARTS
    hurried = replace(
        recipe,
        batch=min(recipe.batch, 16),
        halve_every=2 if recipe.halve_every else 0,
        evaluate_every=1,
        # Smaller steps, so that the first ones do not move the network to where all losses are alike.
        learning_rate=recipe.learning_rate / 10,
        patience=1 if recipe.patience else 0,
        max_epochs=epochs,
        restarts=len(restarts),
    )
    network = setup.network
    if hasattr(network, "dimension"):
        heads = getattr(network, "heads", 1)  # a dimension is divided among them
        network = replace(network, dimension=min(network.dimension, _LARGEST - _LARGEST % heads))
    parts: Parts = (
        StoryParts("probe", _stories(0, 24)) if isinstance(setup.task, StoryOptions) else _dialogs(setup.task)
    )
    return Run(parts, replace(setup, network=network, recipe=hurried), restarts=restarts)


def _losses(run: Run, *, native: bool) -> tuple[float, ...]:
    run.trainer.network.use_native(native)
    numbers: list[float] = []
    while not run.trainer.finished:
        for point in run.trainer.run_to_next_look():
            numbers += [point.train_loss, point.dev_loss]
    for restart in run.trainer.restarts:
        numbers += [restart.dev_loss, float(restart.best_epoch)]
    return tuple(round(number, 7) if math.isfinite(number) else -1.0 for number in numbers)


@contextmanager
def _precision(dtype: torch.dtype) -> Iterator[None]:
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        yield
    finally:
        torch.set_default_dtype(before)


def agree(one: Sequence[float], other: Sequence[float], tolerance: float = _TOLERANCE) -> bool:
    """Whether two probes are the same up to rounding."""
    return len(one) == len(other) and all(
        math.isclose(a, b, rel_tol=tolerance, abs_tol=tolerance) for a, b in zip(one, other, strict=True)
    )


def _dialogs(options: DialogOptions) -> DialogParts:
    """The same stories as dialogs: a question is what the user says, the answer a sentence.

    With copying, a name is mentioned before a row says what it is.
    """
    before, after = (("Eve went to the zoo.",), ("eve r_at zoo",)) if options.copying else ((), ())
    dialogs = []
    for story in _stories(0, 24):
        sentences = (*before, *story.sentences, *after)
        asked = [Question(q.text, f"look in the {q.answer}", len(sentences)) for q in story.questions]
        dialogs.append(Story(sentences, tuple(asked), story.task))
    responses = tuple(f"look in the {place}" for place in _PLACES)
    rows = tuple((place, "R_floor", str(number % 2)) for number, place in enumerate(_PLACES))
    return DialogParts("probe", dialogs, candidates=responses, knowledge=rows)


def _stories(first: int, last: int) -> list[Story]:
    """Stories of people who walk around, each different from the others, without randomness."""
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
