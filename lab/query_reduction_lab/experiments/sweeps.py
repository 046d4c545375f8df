"""From a table of the paper to the jobs that are missing for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from query_reduction.files import write_atomically
from query_reduction.origin import provenance
from query_reduction.reading.protocol import Parts
from query_reduction.training.setup import Setup
from query_reduction_lab.experiments.plan import Column, Experiment, Variation
from query_reduction_lab.experiments.probe import fingerprint
from query_reduction_lab.experiments.records import Machine, Origin, Setting
from query_reduction_lab.experiments.store import ResultStore
from query_reduction_lab.experiments.sweep import Job, plan
from query_reduction_lab.experiments.task_data import load_task

__all__ = ["Origins", "cost_of", "load_parts_of", "plan_table", "prepare_folder"]


def plan_table(
    experiment: Experiment,
    columns: Sequence[Column],
    tasks: Sequence[str],
    store: ResultStore,
    unfinished: Path,
    *,
    restarts: int | None = None,
    recipe: Variation | None = None,
    stack: int = 10,
    mix: bool = False,
) -> list[Job]:
    """The jobs that train what the table lacks; ``restarts`` and ``recipe`` replace what the plan says."""
    prepare_folder(unfinished)
    origins = Origins()
    loaded: dict[str, _Data] = {}
    jobs: list[Job] = []
    for column in columns:
        for variation in (recipe,) if recipe else column.recipes:
            setup = variation.setup(column.network)
            for task in column.trained_on(tasks):
                if task not in loaded:
                    loaded[task] = _Data.of(*load_task(experiment, task))
                data = loaded[task]
                about = data.checksum, data.name, data.note
                setting = Setting(column.stored or experiment.name, column.name, task, setup, variation.name, *about)
                jobs += plan(
                    store,
                    unfinished,
                    setting,
                    range(restarts or column.restarts),
                    origins.of(setup),
                    partial(load_parts_of, experiment, task),
                    stack=1 if setup.recipe.alone else stack,
                    cost=cost_of(setup, data.questions),
                    mix=mix,
                )
    return jobs


def prepare_folder(unfinished: Path) -> None:
    """Make the folder of unfinished trials, which keeps itself out of version control."""
    write_atomically(unfinished / ".gitignore", "*\n")


@dataclass(frozen=True, slots=True)
class _Data:
    """What planning needs to know about a task's stories."""

    checksum: str
    name: str
    note: str
    questions: tuple[int, ...]
    """The number of sentences before each training question."""

    @staticmethod
    def of(parts: Parts, note: str) -> _Data:
        after = tuple(question.after for story in parts.train for question in story.questions)
        return _Data(parts.checksum(), parts.name, note, after)


@dataclass(slots=True)
class Origins:
    """Where this sweep's results come from; the fingerprint is of each setup, the rest of the whole sweep."""

    about: dict[str, Any] = field(default_factory=provenance)
    date: str = field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="seconds"))

    def of(self, setup: Setup) -> Origin:
        """The origin of results of this setup."""
        about = self.about
        machine = Machine(**about["machine"])
        return Origin(about["commit"], about["command"], machine, about["version"], self.date, fingerprint(setup))


def load_parts_of(experiment: Experiment, task: str) -> Parts:
    """The stories of a task, without the note."""
    return load_task(experiment, task)[0]


def cost_of(setup: Setup, questions: Sequence[int]) -> float:
    """Estimated duration of one restart, in any unit: sentences read in all epochs times the size of the network."""
    memory = setup.task.memory
    sentences = sum(min(after, memory) if memory else after for after in questions)
    # Networks without these settings are small enough for it not to matter.
    layers, dimension = getattr(setup.network, "layers", 1), getattr(setup.network, "dimension", 50)
    return float(sentences * layers * dimension * (dimension + 50) * setup.recipe.max_epochs)
