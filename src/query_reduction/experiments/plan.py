"""What each table of the paper is made of: tasks, data, networks, and the recipe next to every column.

How many restarts a cell gets is part of the definition. It is fixed before anything is trained: a cell never gets more
because of its test result, and a table never uses more than it says here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from query_reduction.errors import InputError
from query_reduction.networks.registry import kinds
from query_reduction.training.setup import Setup, setup

__all__ = ["CONTROLS", "EXPERIMENTS", "JOINT", "RECIPES", "Column", "Experiment", "Variation"]

JOINT = "all"
"""The task of a network trained on all tasks at once."""
CONTROLS = "controls"
"""Stands for all control columns of a table."""


@dataclass(frozen=True, slots=True)
class Variation:
    """A family of recipes with some settings changed, under the name that the store records."""

    name: str
    family: str = "original"
    questions: int = 1000
    """The number of training questions that the family's settings are for."""
    kind: str = "stories"
    changes: Mapping[str, Any] = field(default_factory=dict, hash=False)

    def setup(self, network: str) -> Setup:
        """A network trained by this recipe."""
        return setup(network, self.family, kind=self.kind, questions=self.questions, changes=self.changes)


@dataclass(frozen=True, slots=True)
class Column:
    """A network of a table."""

    network: str
    recipes: tuple[Variation, ...]
    """If several, each cell takes the one that does best on its development questions."""
    restarts: int
    """Per cell and recipe; exactly this many are used, from the first on."""
    joint: bool = False
    """One network for all tasks instead of one per task."""
    label: str = ""
    """The column's head, where it is not the network's name."""
    control: bool = False
    """A network too simple to solve the tasks, as a baseline for the others."""

    @property
    def name(self) -> str:
        """The column's heading, as in the paper."""
        return self.label or (f"{self.network} joint" if self.joint else self.network)

    @property
    def available(self) -> bool:
        """Whether its network can be trained; controls may be missing from an installation."""
        return not self.control or self.network in kinds()


@dataclass(frozen=True, slots=True)
class Experiment:
    """A table."""

    name: str
    title: str
    columns: tuple[Column, ...]
    tasks: tuple[str, ...]
    data: str
    """The folder of bAbI files, or ``dialog``."""
    development: str
    """How the development questions, on which everything is chosen, are held out; stated below the table."""
    controls: tuple[Column, ...] = ()
    generated: bool = False
    """Train on generated stories; the test stays the published one."""
    measures: tuple[str, ...] = ("answer",)
    """The error measures; the first is the paper's."""
    rows: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Task → rows of the table its test gives, if it is not just the task's own."""
    marked_tasks: tuple[str, ...] = ()
    """Averages are also given without these."""
    averaged: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Label → rows, if it is not just the average of all."""
    counts_failed: bool = True
    """Whether the table shows how many tasks failed."""

    def rows_of(self, tasks: Sequence[str]) -> list[str]:
        """The rows that the tests of these tasks give."""
        return [row for task in tasks for row in self.rows.get(task, (task,))]

    def averages(self) -> dict[str, tuple[str, ...]]:
        """The averages below the table: label → rows."""
        if self.averaged:
            return dict(self.averaged)
        found = {"average": self.tasks}
        if self.marked_tasks:
            label = f"average without task {', '.join(self.marked_tasks)}"
            found[label] = tuple(task for task in self.tasks if task not in self.marked_tasks)
        return found

    def chosen_columns(self, names: Sequence[str] = ()) -> list[Column]:
        """The columns of these names (``controls`` names all controls), or all that can be trained."""
        controls = [column for column in self.controls if column.available]
        if not names:
            return [*self.columns, *controls]
        found: dict[str, list[Column]] = {CONTROLS: controls}
        for column in (*self.columns, *controls):
            found[column.network] = found[column.name] = [column]
        unknown = [name for name in names if not found.get(name)]
        if unknown:
            have = ", ".join(name for name, columns in found.items() if columns)
            raise InputError(f"table {self.name} has no variant {unknown[0]!r}; it has {have}")
        return list(dict.fromkeys(column for name in names for column in found[name]))


def _recipe(name: str, family: str = "original", questions: int = 1000, **changes: Any) -> Variation:
    """A recipe for the paper's columns: development questions are held out one by one, as the original code does."""
    return Variation(name, family, questions, changes={"split": "question", **changes})


_ORIGINAL = _recipe("original")
# With less weight decay, for networks of one layer and of more than two.
_ONE_LAYER = _recipe("one-layer", l2=0.0005)
_DEEP = _recipe("deep", l2_counting="once")
_ADAM = _recipe("adam", "adam")
# Larger steps, and gates that start mostly closed: for long stories.
_ADAM_LONG = _recipe("adam-long", "adam", forget_bias=2.5, learning_rate=0.02)
_ORIGINAL_10K = _recipe("original-10k", "original", 10_000)
# Stops training soon after a task is solved.
_BRIEF_10K = _recipe("brief-10k", "original", 10_000, solved_epochs=20)
_ADAM_10K = _recipe("adam-10k", "adam", 10_000)
# Smaller steps for large networks; the slow one trains longer.
_WIDE_10K = _recipe("wide-10k", "adam", 10_000, learning_rate=0.001, l2=0.0003, solved_epochs=10)
_WIDE_SLOW_10K = _recipe(
    "wide-slow-10k", "adam", 10_000, learning_rate=0.001, l2=0.0005, solved_epochs=10, halve_every=40, max_epochs=160
)
# Larger steps for vector gates.
_VECTOR_10K = _recipe("vector-10k", "adam", 10_000, learning_rate=0.02, halve_every=15, max_epochs=60)
# Controls register their own settings, which replace the family's.
_CONTROL = _recipe("control")
_DIALOG = Variation("dialog", kind="dialogs", changes={"split": "question"})

_BEST = Variation("best", "best")
_BEST_10K = Variation("best-10k", "best", 10_000)

RECIPES: dict[str, Variation] = {
    recipe.name: recipe
    for recipe in (
        _ORIGINAL,
        _ONE_LAYER,
        _DEEP,
        _ADAM,
        _ADAM_LONG,
        _ORIGINAL_10K,
        _BRIEF_10K,
        _ADAM_10K,
        _WIDE_10K,
        _WIDE_SLOW_10K,
        _VECTOR_10K,
        _CONTROL,
        _DIALOG,
        _BEST,
        _BEST_10K,
    )
}
"""All recipes of the tables by name."""


def _controls(restarts: int) -> tuple[Column, ...]:
    """The most frequent answer needs no second restart: it is the same whatever the initial weights."""
    trained = ("question-only", "story-only", "bag-of-words")
    return (
        Column("majority", (_CONTROL,), 1, control=True),
        *(Column(network, (_CONTROL,), restarts, control=True) for network in trained),
    )


_TASKS = tuple(str(number) for number in range(1, 21))
_DIALOG_TASKS = ("1", "2", "3", "4", "5")
_BY_QUESTION = (
    "Restarts and recipes are chosen on a tenth of the training questions, held out question by question as in the "
    "original code: stories, and at times whole questions, occur in both parts"
)
_BEST_BY_STORY = "; for the column best whole stories are held out, which share nothing with those trained on"

EXPERIMENTS: dict[str, Experiment] = {
    experiment.name: experiment
    for experiment in (
        Experiment(
            "qa-1k",
            "bAbI story tasks, 1k training questions per task",
            (
                Column("1r", (_ONE_LAYER, _ADAM), restarts=10),
                Column("2", (_ORIGINAL,), restarts=10),
                Column("2r", (_ORIGINAL,), restarts=10),
                Column("3r", (_DEEP, _ADAM_LONG), restarts=10),
                Column("6r", (_DEEP,), restarts=10),
                Column("6r200", (_WIDE_10K,), restarts=3, joint=True),
                Column("3rv100", (_BEST,), restarts=10, label="best"),
            ),
            _TASKS,
            "en",
            _BY_QUESTION + _BEST_BY_STORY,
            controls=_controls(10),
        ),
        Experiment(
            "qa-10k",
            "bAbI story tasks, 10k training questions per task",
            (
                Column("2r", (_ORIGINAL_10K, _ADAM_10K), restarts=3),
                Column("2rv", (_BRIEF_10K, _VECTOR_10K), restarts=3),
                Column("3r", (_BRIEF_10K, _ADAM_10K), restarts=3),
                Column("6r200", (_WIDE_10K, _WIDE_SLOW_10K), restarts=3),
                Column("3rv100", (_BEST_10K,), restarts=3, label="best"),
            ),
            _TASKS,
            "en-10k",
            _BY_QUESTION + _BEST_BY_STORY,
            controls=_controls(3),
            marked_tasks=("3",),
        ),
        Experiment(
            "transfer",
            "trained on 10k generated questions per task, tested on the published ones",
            (Column("2r", (_ORIGINAL_10K,), restarts=3),),
            _TASKS,
            "en-10k",
            _BY_QUESTION,
            generated=True,
        ),
        Experiment(
            "dialog",
            "bAbI dialog tasks",
            # The last column is not in the paper: copying makes it possible to read and produce unseen names.
            tuple(Column(network, (_DIALOG,), restarts=3) for network in ("1r", "2r", "2r100", "2rv", "2r+", "2rc")),
            (*_DIALOG_TASKS, "6"),
            "dialog",
            "Restarts are chosen on the published development dialogs",
            measures=("per slot", "exact match", "per dialog"),
            rows={task: (task, f"{task}-OOV") for task in _DIALOG_TASKS},
            averaged={"average": _DIALOG_TASKS, "average-OOV": tuple(f"{task}-OOV" for task in _DIALOG_TASKS)},
            counts_failed=False,
        ),
    )
}
"""The tables by name."""
