"""How a network is trained, and four families of settings that are known to work.

The paper and the authors' published code differ in places; each difference is a named setting, and a family sets all
of them at once, for the size and kind of data at hand. The docstring under each field is the command line's help.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from query_reduction.errors import InputError
from query_reduction.settings import Between, changed, check

__all__ = ["FAMILIES", "Family", "Recipe", "family"]

MANY_QUESTIONS = 5000
"""From so many training questions on, the published settings for ten thousand are taken."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """How it is trained."""

    batch: Annotated[int, Between(1, 100_000)] = 32
    """Questions in a step; a last batch that is not full is left out, as in the original."""
    optimiser: Literal["adagrad", "adam", "sgd"] = "adagrad"
    """How weights follow their gradients; the paper and the original take adagrad."""
    learning_rate: Annotated[float, Between(1e-9, 1e3)] = 0.5
    """The learning rate at the start."""
    accumulator: Annotated[float, Between(0, 1e6)] = 0.1
    """Adagrad's sum of squared gradients at the start."""
    halve_every: Annotated[int, Between(0, 1_000_000)] = 100
    """Halve the learning rate every so many epochs (original: 100); 0 never does (paper)."""
    halve_after: Annotated[int, Between(0, 1_000_000)] = 0
    """Leave the learning rate alone for so many epochs, and count those to its first halving from there."""
    l2: Annotated[float, Between(0, 1e3)] = 0.001
    """Weight decay: l2/2 times the squared norm is added to the loss."""
    l2_counting: Literal["per-use", "once"] = "per-use"
    """Count a weight shared by several layers once per layer (original) or once."""
    clip: Annotated[float, Between(0, 1e6)] = 0.0
    """Scale each restart's gradient down to this norm where it is larger; 0 never does."""
    batch_loss: Literal["mean", "sum"] = "mean"
    """The loss of a step is the mean over its questions (stories) or their sum (the original's dialogs, where
    weight decay therefore counts so much less)."""
    max_epochs: Annotated[int, Between(1, 1_000_000)] = 500
    """Stop after so many epochs at the latest."""
    evaluate_every: Annotated[int, Between(1, 1_000_000)] = 10
    """Look at the development questions every so many epochs."""
    patience: Annotated[int, Between(0, 1_000_000)] = 50
    """Stop a restart after so many epochs without improvement; 0 trains to the end and keeps the last weights."""
    solved_epochs: Annotated[int, Between(0, 1_000_000)] = 0
    """Stop a restart so many epochs after its first look without a wrong development question; 0 lets it go on while
    the loss on them falls."""
    keep: Literal["accuracy", "loss"] = "accuracy"
    """What counts as improvement on the development questions: accuracy, ties by loss (original), or loss (paper)."""
    dev_fraction: Annotated[float, Between(0.001, 0.9)] = 0.1
    """Share of the training questions held out for development, where the data has no part of its own for it."""
    split: Literal["question", "story"] = "question"
    """Hold out single questions, whose stories also stand in training (original), or whole stories that share nothing
    with training."""
    copies: Annotated[int, Between(0, 10_000)] = 0
    """Train every epoch on so many copies of each story, told in other words that keep its answers true (needs
    --symmetries); 0 trains on the stories as they are."""
    restarts: Annotated[int, Between(1, 10_000)] = 10
    """Trainings from new initial weights; the best on the development questions is chosen."""
    seed: Annotated[int, Between(0, 2**32 - 1)] = 0
    """Decides the held-out questions, the order of batches and, with a restart's number, its initial weights."""

    def __post_init__(self) -> None:
        check(self)


@dataclass(frozen=True, slots=True)
class Family:
    """Settings that go together. Those a chosen network or task does not have are left out."""

    name: str
    about: str
    """One line for people."""
    recipe: Callable[[int, str], Mapping[str, Any]]
    """Changes to the recipe for so many training questions of ``stories`` or ``dialogs``."""
    network: Mapping[str, Any] = field(default_factory=dict)
    task: Mapping[str, Any] = field(default_factory=dict)
    networks: Mapping[str, Mapping[str, Any]] = field(default_factory=lambda: {"2r": {}})
    """The networks that are tried where none is named, each with changes of the recipe for it; the best on
    development questions is chosen."""

    def for_data(self, questions: int, kind: str) -> Recipe:
        """The recipe for so many training questions of ``stories`` or ``dialogs``."""
        return changed(Recipe(), self.recipe(questions, kind))


def _original(questions: int, kind: str) -> dict[str, Any]:
    if kind == "dialogs":
        return {"l2": 0.0003, "max_epochs": 50}
    return {"batch": 128, "learning_rate": 0.1, "l2": 0.0005} if questions >= MANY_QUESTIONS else {}


def _paper(questions: int, kind: str) -> dict[str, Any]:
    own = {"l2_counting": "once", "halve_every": 0, "evaluate_every": 1, "keep": "loss"}
    more = {"restarts": 50} if questions >= MANY_QUESTIONS and kind == "stories" else {}
    return _original(questions, kind) | own | more


def _adam(questions: int, kind: str) -> dict[str, Any]:
    many = questions >= MANY_QUESTIONS
    return {
        "optimiser": "adam",
        "learning_rate": 0.005,
        "halve_every": 20,
        "batch": 128 if many else 32,
        "l2": 0.0001 if many else 0.001,
        "l2_counting": "once",
        "max_epochs": 100,
        "evaluate_every": 5,
        "solved_epochs": 20,
    }


def _best(questions: int, kind: str) -> dict[str, Any]:
    if kind != "stories":
        raise InputError("recipe best is for stories: it finds out which words of a story may stand for each other")
    return {
        "optimiser": "adam",
        "learning_rate": 0.01,
        "halve_every": 15,
        "batch": 64,
        "l2": 0.0001,
        "l2_counting": "once",
        "max_epochs": 40,
        "evaluate_every": 1,
        "patience": 20,
        "solved_epochs": 2,
        "split": "story",
        # About ten thousand questions per epoch, however many there are.
        "copies": max(1, round(10_000 / max(questions, 1))),
        "restarts": 5,
    }


FAMILIES: dict[str, Family] = {
    found.name: found
    for found in (
        Family("original", "the settings a network's authors published, in their code where there is one", _original),
        Family(
            "paper",
            "the settings the paper describes",
            _paper,
            {"init": "paper", "position_length": "sentence"},
            {"memory": 0},
        ),
        Family(
            "adam",
            "Adam, and gates that start half open",
            _adam,
            {"init": "open", "forget_bias": 0.0},
        ),
        Family(
            "best",
            "what learns most from little: 3r and 3rv100 that start by following shared words, trained with Adam on "
            "stories told in other words",
            _best,
            {"init": "following", "forget_bias": 2.5},
            {"symmetries": True, "writing": "any"},
            {
                # Scalar gates learn induction (task 16), with small steps; vector gates learn the rest.
                "3r": {"learning_rate": 0.005},
                "3rv100": {},
            },
        ),
    )
}
"""The families by name."""


def family(name: str) -> Family:
    """The family of this name."""
    if name not in FAMILIES:
        raise InputError(f"no recipe {name!r}; there are {', '.join(FAMILIES)}")
    return FAMILIES[name]
