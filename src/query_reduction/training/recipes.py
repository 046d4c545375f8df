"""How a network is trained, and six families of settings that are known to work.

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
"""From this many training questions on, the published settings for ten thousand are used."""
_JOINT_EPOCH = 36_000
"""Questions per epoch of several tasks, about."""
_MANY_OF_ALL_TASKS = 100_000
"""From this many questions of several tasks on, an epoch tells only a part."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """How a network is trained."""

    batch: Annotated[int, Between(1, 100_000)] = 32
    """Questions per step; a last batch that is not full is dropped, as in the original."""
    optimiser: Literal["adagrad", "adam", "sgd"] = "adagrad"
    """The optimiser; the paper and the original use adagrad."""
    learning_rate: Annotated[float, Between(1e-9, 1e3)] = 0.5
    """The initial learning rate."""
    accumulator: Annotated[float, Between(0, 1e6)] = 0.1
    """Adagrad's initial sum of squared gradients."""
    halve_every: Annotated[int, Between(0, 1_000_000)] = 100
    """Halve the learning rate every N epochs (original: 100); 0 for never (paper)."""
    halve_after: Annotated[int, Between(0, 1_000_000)] = 0
    """Keep the learning rate constant for this many epochs, and only then start counting to its first halving."""
    l2: Annotated[float, Between(0, 1e3)] = 0.001
    """Weight decay: l2/2 times the squared norm is added to the loss."""
    l2_counting: Literal["per-use", "once"] = "per-use"
    """Count a weight shared by several layers once per layer (original) or once."""
    clip: Annotated[float, Between(0, 1e6)] = 0.0
    """Clip each restart's gradient to this norm; 0 for no clipping."""
    batch_loss: Literal["mean", "sum"] = "mean"
    """The loss of a step is the mean over its questions (stories) or their sum (the original's dialogs, where
    weight decay therefore matters that much less)."""
    max_epochs: Annotated[int, Between(1, 1_000_000)] = 500
    """Maximum number of epochs."""
    evaluate_every: Annotated[int, Between(1, 1_000_000)] = 10
    """Evaluate on the development questions every N epochs."""
    patience: Annotated[int, Between(0, 1_000_000)] = 50
    """Stop a restart after this many epochs without improvement; 0 trains to the end and keeps the last weights."""
    solved_epochs: Annotated[int, Between(0, 1_000_000)] = 0
    """Stop a restart this many epochs after it first answers every development question correctly; 0 lets it continue
    while the development loss falls."""
    keep: Literal["accuracy", "loss"] = "accuracy"
    """What counts as improvement on the development questions: accuracy, ties by loss (original), or loss (paper)."""
    dev_fraction: Annotated[float, Between(0.001, 0.9)] = 0.1
    """Share of the training questions held out for development, if the data has no development part."""
    split: Literal["question", "story"] = "question"
    """Hold out single questions, whose stories also appear in training (original), or whole stories that share nothing
    with training."""
    copies: Annotated[int, Between(0, 10_000)] = 0
    """Train every epoch on this many copies of each story, retold in other words that keep its answers true (needs
    --symmetries); 0 trains on the stories as they are."""
    focus: Annotated[float, Between(0, 0.99)] = 0.0
    """With several tasks, draw this share of an epoch's stories from the tasks whose questions the network, as it is at
    the start of the epoch, answers wrongly; the more errors, the more stories. Needs copies, and restarts=1, because
    every restart would need different stories."""
    focus_questions: Annotated[int, Between(0, 100_000_000)] = 0
    """With focus, draw stories with about this many questions per epoch, so that what is wrong is found out often
    enough where there are very many; 0 for --copies times as many as there are."""
    readout_epochs: Annotated[int, Between(0, 1_000_000)] = 0
    """In this many epochs at the start, train only the weights that score answers. A network that is to learn which of
    many answers a question can have at all, as with several tasks, moves all its weights for it, and may lose a start
    from which the rest is easily learned."""
    hidden: Annotated[int, Between(0, 1_000_000)] = 0
    """Hide every training story among up to this many sentences of --haystack, drawn anew in every epoch; development
    stories among forty times as many, which training does not see. 0 hides nothing."""
    hidden_after: Annotated[int, Between(0, 1_000_000)] = 0
    """Hide nothing in this many epochs at the start."""
    hidden_growth: Annotated[int, Between(0, 1_000_000)] = 0
    """After that, let the number of sentences grow to --hidden in equal steps over this many epochs."""
    decoys: Annotated[float, Between(0, 1)] = 0.0
    """In this share of the haystack's sentences, replace one to three words by words of the stories, or keep only a few
    words: sentences that mention what the stories mention, but state nothing."""
    hard: Annotated[float, Between(0, 1)] = 0.0
    """Draw this share of the sentences that stories are hidden among from those of the whole haystack at which the
    gates of the network, as it is at the start of the epoch, exceed --shut-below the most: a few sentences then teach
    as much as a whole book. Half of the sentences that --shut tries are of this kind too. Needs restarts=1, because
    every restart would find different ones."""
    shut: Annotated[float, Between(0, 1e6)] = 0.0
    """Weight, in the loss, of the mean by which gate scores (before the sigmoid) exceed --shut-below at sentences of
    the haystack, tried at single positions in training stories: gates that are merely small leak, and a book has
    thousands of sentences between two facts."""
    shut_below: Annotated[float, Between(-1e3, 1e3)] = -3.4
    """Scores below this cost nothing. Gates stretched by 1.2 are exactly shut below -2.4; the rest is a margin for
    sentences that training does not have."""
    restarts: Annotated[int, Between(1, 10_000)] = 10
    """Trainings from new initial weights; the best on the development questions is chosen."""
    seed: Annotated[int, Between(0, 2**32 - 1)] = 0
    """Determines the held-out questions, the order of batches and, with a restart's number, its initial weights."""

    def __post_init__(self) -> None:
        check(self)

    @property
    def alone(self) -> bool:
        """Whether every restart needs stories of its own, so that restarts cannot train together."""
        return self.hard > 0 or self.focus > 0


@dataclass(frozen=True, slots=True)
class Family:
    """Settings that belong together. Those that the chosen network or task does not have are ignored."""

    name: str
    about: str
    """A one-line description."""
    recipe: Callable[[int, str], Mapping[str, Any]]
    """Changes to the recipe, given the number of training questions of ``stories`` or ``dialogs``."""
    network: Mapping[str, Any] = field(default_factory=dict)
    task: Mapping[str, Any] = field(default_factory=dict)
    default_network: str = "2r"
    """The network to train if none is named."""

    def for_data(self, questions: int, kind: str) -> Recipe:
        """The recipe for this many training questions of ``stories`` or ``dialogs``."""
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
        raise InputError(
            "recipes best, joint and long are for stories: they discover which words of a story are interchangeable"
        )
    return {
        "optimiser": "adam",
        "learning_rate": 0.006,
        "halve_every": 15,
        "batch": 64,
        # Weight decay outweighs the first, small gradients of tasks that are learned all at once (16, 17, 18), and
        # renamed stories leave nothing to learn by heart.
        "l2": 0.0,
        "max_epochs": 40,
        "evaluate_every": 1,
        "patience": 20,
        "solved_epochs": 6,
        "split": "story",
        # About ten thousand questions per epoch, however many there are.
        "copies": max(1, round(10_000 / max(questions, 1))),
        "restarts": 5,
    }


def _joint(questions: int, kind: str) -> dict[str, Any]:
    return _best(questions, kind) | {
        "learning_rate": 0.003,
        # The rate stays high until all tasks have left chance.
        "halve_after": 35,
        "halve_every": 4,
        "max_epochs": 50,
        "patience": 50,
        "solved_epochs": 3,
        "readout_epochs": 3,
        "focus": 0.7,
        "copies": max(1, round(_JOINT_EPOCH / max(questions, 1))),
        "focus_questions": _JOINT_EPOCH if questions >= _MANY_OF_ALL_TASKS else 0,
        "restarts": 1,
    }


def _long(questions: int, kind: str) -> dict[str, Any]:
    return _best(questions, kind) | {
        "hidden": 20,
        # Late enough for every task to be learned before: gates that are to be shut do not learn what to open for.
        "hidden_after": 12,
        "hidden_growth": 1,
        "decoys": 0.3,
        "hard": 0.5,
        "shut": 3.0,
        "halve_every": 1,
        "halve_after": 15,
        "max_epochs": 19,
        # What is learned last, and with small steps, is to shut gates, of which a hundred development questions tell
        # nothing: train to the end, and keep the last weights.
        "patience": 0,
        "solved_epochs": 0,
        "restarts": 1,
    }


FAMILIES: dict[str, Family] = {
    found.name: found
    for found in (
        Family("original", "the settings published by a network's authors, from their code if there is any", _original),
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
            "learns most from little data: 3rv100, which starts by following shared words, trained with Adam on "
            "stories retold in other words",
            _best,
            {"init": "following", "forget_bias": 2.5},
            {"symmetries": True, "writing": "any"},
            "3rv100",
        ),
        Family(
            "joint",
            "several tasks in one network: as best, but which answers a question can have is learned first, and what "
            "is answered wrong is told more often",
            _joint,
            # Sentences of different tasks have very different lengths: each has its own positions.
            {"init": "following", "forget_bias": 2.5, "position_length": "sentence"},
            {"symmetries": True, "writing": "any"},
            "3rv100",
        ),
        Family(
            "long",
            "finds facts in a whole book: as best, with stories hidden in other text (needs --haystack) and gates that "
            "learn to be exactly shut",
            _long,
            {
                "init": "following",
                "forget_bias": 2.5,
                "gate_stretch": 1.2,
                "plain_epochs": 12,
                "stretch_epochs": 2,
                "position_length": "sentence",
            },
            {"symmetries": True, "writing": "any", "memory": 0, "unreadable": "read"},
            "3rv100",
        ),
    )
}
"""The families by name."""


def family(name: str) -> Family:
    """The family of this name."""
    if name not in FAMILIES:
        raise InputError(f"no recipe {name!r}; choose from {', '.join(FAMILIES)}")
    return FAMILIES[name]
