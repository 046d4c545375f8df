"""Presets: settings of network, reading and training that belong together and are known to work.

A preset is chosen by name (``--recipe best``) and gives the settings for the size and kind of data at hand. Everything
in it is a field of a dataclass, so a misspelt setting is an error when this file is loaded.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from query_reduction.errors import InputError
from query_reduction.training.recipes import Recipe

__all__ = ["PRESETS", "NetworkChanges", "Preset", "ReadingChanges", "changes_of", "preset"]

MANY_QUESTIONS = 5000
"""From this many training questions on, the published settings for ten thousand are used."""
_JOINT_EPOCH = 36_000
"""Questions per epoch of several tasks, about."""
_MANY_OF_ALL_TASKS = 100_000
"""From this many questions of several tasks on, an epoch trains on a part of them."""


@dataclass(frozen=True, slots=True)
class NetworkChanges:
    """Settings of a network that a preset may change; None leaves them. A network takes those that it has."""

    init: Literal["paper", "open", "following"] | None = None
    forget_bias: float | None = None
    position_length: Literal["task", "sentence"] | None = None
    gate_stretch: float | None = None
    plain_epochs: int | None = None
    stretch_epochs: int | None = None


@dataclass(frozen=True, slots=True)
class ReadingChanges:
    """Settings of reading that a preset may change; None leaves them. Stories or dialogs take those that they have."""

    memory: int | None = None
    symmetries: bool | None = None
    writing: Literal["any"] | None = None
    unreadable: Literal["read"] | None = None


@dataclass(frozen=True, slots=True)
class Preset:
    """Settings that belong together."""

    name: str
    about: str
    """A one-line description."""
    recipe: Callable[[int, str], Recipe]
    """How to train, given the number of training questions of ``stories`` or ``dialogs``."""
    network: NetworkChanges = NetworkChanges()
    reading: ReadingChanges = ReadingChanges()
    default_network: str = "2r"
    """The network to train if none is named."""


def changes_of(changes: NetworkChanges | ReadingChanges) -> dict[str, Any]:
    """The settings that are changed, by name."""
    return {name: value for name, value in asdict(changes).items() if value is not None}


def _original(questions: int, kind: str) -> Recipe:
    if kind == "dialogs":
        return Recipe(l2=0.0003, max_epochs=50)
    return Recipe(batch=128, learning_rate=0.1, l2=0.0005) if questions >= MANY_QUESTIONS else Recipe()


def _paper(questions: int, kind: str) -> Recipe:
    published = _original(questions, kind)
    return replace(
        published,
        l2_counting="once",
        halve_every=0,
        evaluate_every=1,
        keep="loss",
        restarts=50 if questions >= MANY_QUESTIONS and kind == "stories" else published.restarts,
    )


def _adam(questions: int, kind: str) -> Recipe:
    many = questions >= MANY_QUESTIONS
    return Recipe(
        optimiser="adam",
        learning_rate=0.005,
        halve_every=20,
        batch=128 if many else 32,
        l2=0.0001 if many else 0.001,
        l2_counting="once",
        max_epochs=100,
        evaluate_every=5,
        solved_epochs=20,
    )


def _best(questions: int, kind: str) -> Recipe:
    if kind != "stories":
        raise InputError(
            "recipes best, joint and long are for stories: they discover which words of a story are interchangeable"
        )
    return Recipe(
        optimiser="adam",
        learning_rate=0.006,
        halve_every=15,
        batch=64,
        # Weight decay outweighs the first, small gradients of tasks that are learned all at once (16, 17, 18), and
        # renamed stories leave nothing to learn by heart.
        l2=0.0,
        max_epochs=40,
        evaluate_every=1,
        patience=20,
        solved_epochs=6,
        split="story",
        # About ten thousand questions per epoch, however many there are.
        copies=max(1, round(10_000 / max(questions, 1))),
        restarts=5,
    )


def _joint(questions: int, kind: str) -> Recipe:
    return replace(
        _best(questions, kind),
        learning_rate=0.003,
        # The rate stays high until all tasks have left chance.
        halve_after=35,
        halve_every=4,
        max_epochs=50,
        patience=50,
        solved_epochs=3,
        readout_epochs=3,
        focus=0.7,
        copies=max(1, round(_JOINT_EPOCH / max(questions, 1))),
        focus_questions=_JOINT_EPOCH if questions >= _MANY_OF_ALL_TASKS else 0,
        restarts=1,
    )


def _long(questions: int, kind: str) -> Recipe:
    return replace(
        _best(questions, kind),
        hidden=20,
        # Late enough for every task to be learned before: gates that are to be shut do not learn what to open for.
        hidden_after=12,
        hidden_growth=1,
        decoys=0.3,
        hard=0.5,
        shut=3.0,
        halve_every=1,
        halve_after=15,
        max_epochs=19,
        # What is learned last, and with small steps, is to shut gates, of which a hundred development questions tell
        # nothing: train to the end, and keep the last weights.
        patience=0,
        solved_epochs=0,
        restarts=1,
    )


_FOLLOWING = NetworkChanges(init="following", forget_bias=2.5)
_RENAMED = ReadingChanges(symmetries=True, writing="any")

PRESETS: dict[str, Preset] = {
    entry.name: entry
    for entry in (
        Preset("original", "the settings published by a network's authors, from their code if there is any", _original),
        Preset(
            "paper",
            "the settings the paper describes",
            _paper,
            NetworkChanges(init="paper", position_length="sentence"),
            ReadingChanges(memory=0),
        ),
        Preset("adam", "Adam, and gates that start half open", _adam, NetworkChanges(init="open", forget_bias=0.0)),
        Preset(
            "best",
            "learns most from little data: 3rv100, which starts by following shared words, trained with Adam on "
            "stories retold in other words",
            _best,
            _FOLLOWING,
            _RENAMED,
            "3rv100",
        ),
        Preset(
            "joint",
            "several tasks in one network: as best, but trains the answer layer first and samples tasks by their "
            "errors",
            _joint,
            # Sentences of different tasks have very different lengths: each has its own positions.
            replace(_FOLLOWING, position_length="sentence"),
            _RENAMED,
            "3rv100",
        ),
        Preset(
            "long",
            "finds facts in a whole book: as best, with stories hidden in other text (needs --haystack) and gates that "
            "learn to be exactly shut",
            _long,
            replace(_FOLLOWING, gate_stretch=1.2, plain_epochs=12, stretch_epochs=2, position_length="sentence"),
            replace(_RENAMED, memory=0, unreadable="read"),
            "3rv100",
        ),
    )
}
"""The presets by name."""


def preset(name: str) -> Preset:
    """The preset of this name."""
    if name not in PRESETS:
        raise InputError(f"no recipe {name!r}; choose from {', '.join(PRESETS)}")
    return PRESETS[name]
