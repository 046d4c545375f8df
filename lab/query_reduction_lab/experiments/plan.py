"""What a table is made of: tasks, data, columns, and the recipes next to every column.

How many restarts a cell gets is part of the definition. It is fixed before anything is trained: a cell never gets more
because of its test result, and a table never uses more than it says here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from query_reduction.errors import InputError
from query_reduction.rivals.registry import kinds
from query_reduction.training.setup import Setup, setup

__all__ = ["CONTROLS", "JOINT", "Column", "Experiment", "Variation"]

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
        return _setup(self, network)


@cache  # every cell of a table asks for it
def _setup(recipe: Variation, network: str) -> Setup:
    return setup(network, recipe.family, kind=recipe.kind, questions=recipe.questions, changes=recipe.changes)


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
    given: str = ""
    """What it is given besides training data, where columns differ in that; stated below the table."""
    stored: str = ""
    """The table that holds its results, if not the one it is a column of."""
    published: str = ""
    """Where its published errors are, as table/column, if not under the names of its own table and column."""
    tasks: tuple[str, ...] = ()
    """The tasks it is trained on, if not all of the table's."""

    @property
    def name(self) -> str:
        """The column's heading, as in the paper."""
        return self.label or (f"{self.network} joint" if self.joint else self.network)

    def trained_on(self, tasks: Sequence[str]) -> list[str]:
        """Which of these tasks it is trained on; a joint network knows only the one of all tasks."""
        if self.joint:
            return [JOINT]
        return [task for task in tasks if not self.tasks or task in self.tasks]

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
    systems: bool = False
    """Whether it compares systems: then it also shows their numbers of weights and training times."""
    pictured: str = "average"
    """The label of the average that the picture of error against training time shows."""
    source: str = ""
    """Where the published numbers come from, if not from the paper."""

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
            found[column.name] = [column]
        for column in (*self.columns, *controls):
            found.setdefault(column.network, [column])
        unknown = [name for name in names if not found.get(name)]
        if unknown:
            have = ", ".join(name for name, columns in found.items() if columns)
            raise InputError(f"table {self.name} has no variant {unknown[0]!r}; it has {have}")
        return list(dict.fromkeys(column for name in names for column in found[name]))
