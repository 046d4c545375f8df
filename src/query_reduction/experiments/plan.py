"""What each table of the paper is made of: tasks, networks, recipe and data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from query_reduction import worlds
from query_reduction.config import ModelConfig, Recipe, preset
from query_reduction.data.babi import find_task_files
from query_reduction.data.fetch import find_babi
from query_reduction.data.readers import read_file
from query_reduction.data.stories import Story
from query_reduction.errors import InputError
from query_reduction.tasks.sources import Parts, load_parts, question_count

__all__ = ["EXPERIMENTS", "Column", "Experiment", "load_task"]

JOINT = "all"
"""The task of a network trained on every task at once."""


@dataclass(frozen=True, slots=True)
class Column:
    """A network of a table."""

    variant: str
    joint: bool = False
    """One network for all tasks instead of one a task."""
    presets: tuple[str, ...] = ()
    """Recipes of its own, where it is not the table's. Of several, each cell takes the one that does best on its
    development questions."""

    @property
    def name(self) -> str:
        """The column's head, as the paper writes it."""
        return f"{self.variant} joint" if self.joint else self.variant


@dataclass(frozen=True, slots=True)
class Experiment:
    """A table."""

    name: str
    title: str
    columns: tuple[Column, ...]
    tasks: tuple[str, ...]
    preset: str
    """The recipe, by the name ``config.PRESETS`` knows it under."""
    data: str
    """The folder of bAbI files."""
    generated: bool = False
    """Train on generated stories; the test stays the published one."""
    measures: tuple[str, ...] = ("answer",)
    """What is counted as an error; the first is the paper's."""
    rows: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Task → rows of the table its test gives, where it is not just the task's own."""
    marked_tasks: tuple[str, ...] = ()
    """Averages are also given without these."""
    averaged: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Label → rows, where it is not just the average of all."""
    counts_failed: bool = True
    """Whether the table says how many tasks failed."""

    def averages(self) -> dict[str, tuple[str, ...]]:
        """The averages below the table: label → rows."""
        if self.averaged:
            return self.averaged
        found = {"average": self.tasks}
        if self.marked_tasks:
            label = f"average without task {', '.join(self.marked_tasks)}"
            found[label] = tuple(task for task in self.tasks if task not in self.marked_tasks)
        return found

    def chosen_columns(self, variants: Sequence[str] | None) -> list[Column]:
        """The columns of these variants, or all."""
        if not variants:
            return list(self.columns)
        by_name = {name: column for column in self.columns for name in (column.variant, column.name)}
        unknown = [name for name in variants if name not in by_name]
        if unknown:
            have = ", ".join(column.variant for column in self.columns)
            raise InputError(f"table {self.name} has no variant {unknown[0]!r}; it has {have}")
        return list(dict.fromkeys(by_name[name] for name in variants))

    def settings(self, column: Column, preset_name: str | None = None) -> tuple[ModelConfig, Recipe]:
        """Network and recipe of a column."""
        return preset(preset_name or self.recipe_names(column)[0], column.variant)

    def recipe_names(self, column: Column, only: str | None = None) -> tuple[str, ...]:
        """The presets of a column, or the one asked for instead."""
        return (only,) if only else column.presets or (self.preset,)


_TASKS = tuple(str(number) for number in range(1, 21))
_DIALOG_TASKS = ("1", "2", "3", "4", "5")

EXPERIMENTS: dict[str, Experiment] = {
    experiment.name: experiment
    for experiment in (
        Experiment(
            "qa-1k",
            "bAbI story tasks, 1k training questions a task",
            (
                Column("1r", presets=("one-layer", "adam")),
                Column("2"),
                Column("2r"),
                Column("3r", presets=("deep", "adam-long")),
                Column("6r", presets=("deep",)),
                Column("6r200", joint=True, presets=("wide-10k",)),
            ),
            _TASKS,
            "original",
            "en",
        ),
        Experiment(
            "qa-10k",
            "bAbI story tasks, 10k training questions a task",
            (
                Column("2r", presets=("original-10k", "adam-10k")),
                Column("2rv", presets=("brief-10k", "vector-10k")),
                Column("3r", presets=("brief-10k", "adam-10k")),
                Column("6r200", presets=("wide-10k", "wide-slow-10k")),
            ),
            _TASKS,
            "original-10k",
            "en-10k",
            marked_tasks=("3",),
        ),
        Experiment(
            "transfer",
            "trained on 10k generated questions a task, tested on the published ones",
            (Column("2r"),),
            _TASKS,
            "original-10k",
            "en-10k",
            generated=True,
        ),
        Experiment(
            "dialog",
            "bAbI dialog tasks",
            # The last column is not in the paper: names never seen can be read and said by copying.
            tuple(Column(variant) for variant in ("1r", "2r", "2r100", "2rv", "2r+", "2rc")),
            (*_DIALOG_TASKS, "6"),
            "dialog",
            "dialog",
            measures=("per slot", "exact match", "per dialog"),
            rows={task: (task, f"{task}-OOV") for task in _DIALOG_TASKS},
            averaged={"average": _DIALOG_TASKS, "average-OOV": tuple(f"{task}-OOV" for task in _DIALOG_TASKS)},
            counts_failed=False,
        ),
    )
}
"""The tables by name."""

_TRAIN_QUESTIONS = {"en": 1000, "en-10k": 10000}


def load_task(experiment: Experiment, task: str) -> tuple[Parts, str]:
    """The stories of a task (or of ``all``), and a note where they are not the published ones."""
    if experiment.data == "dialog":
        return load_parts("dialog", task), ""
    folder = find_babi(experiment.data)
    if task == JOINT:
        loaded = [_load_one(folder, experiment, number) for number in experiment.tasks]
        notes = " ".join(note for _, note in loaded if note)
        train, dev, test = (
            [story for parts, _ in loaded for story in getattr(parts, part)] for part in ("train", "dev", "test")
        )
        return Parts(folder.name, train, dev, test), notes
    return _load_one(folder, experiment, task)


def _load_one(folder: Path, experiment: Experiment, task: str) -> tuple[Parts, str]:
    parts = load_parts(str(folder), task)
    if experiment.generated:
        return replace(parts, train=worlds.generate(int(task), _TRAIN_QUESTIONS[experiment.data]), dev=[]), ""
    if parts.train:
        return parts, ""
    return _completed(folder, parts, task, _TRAIN_QUESTIONS[experiment.data])


def _completed(folder: Path, parts: Parts, task: str, questions: int) -> tuple[Parts, str]:
    """A task whose training file is missing: what there is of real stories, filled up with generated ones."""
    real: list[Story] = []
    for other in (folder.with_name(f"{folder.name}-qa{task}-partial"), folder.with_name("en")):
        if other.is_dir() and (path := find_task_files(other).get(task, {}).get("train")):
            real = read_file(path)
            break
    known = question_count(real)
    generated = worlds.generate(int(task), questions - known, seed=0, split="train")
    note = f"task {task}: trained on {known} published and {questions - known} generated questions"
    return replace(parts, train=[*real, *generated]), note
