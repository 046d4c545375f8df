"""From a table of the paper to the jobs that are missing for it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from query_reduction.files import write_atomically
from query_reduction.origin import provenance
from query_reduction.reading.protocol import Parts
from query_reduction.training.setup import Setup
from query_reduction_lab.experiments.plan import Column, Experiment, Variation
from query_reduction_lab.experiments.probe import fingerprint
from query_reduction_lab.experiments.settings import Machine, Origin, Setting
from query_reduction_lab.experiments.store import ResultStore
from query_reduction_lab.experiments.sweep import Job, has_begun, plan
from query_reduction_lab.experiments.task_data import KnownData, load_task

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
    renew: bool = False,
) -> list[Job]:
    """The jobs that train what the table lacks; ``restarts`` and ``recipe`` replace what the plan says.

    What is stored is looked up by settings and data alone. Only where something is missing, or with ``renew``, is it
    asked what today's code computes.
    """
    prepare_folder(unfinished)
    origins = Origins()
    known = KnownData(unfinished / "data.json")
    jobs: list[Job] = []
    for column in columns:
        for variation in (recipe,) if recipe else column.recipes:
            setup = variation.setup(column.network)
            for task in column.trained_on(tasks):
                data = known.of(experiment, task)
                about = data.sha256, data.name, data.note
                setting = Setting(column.stored or experiment.name, column.name, task, setup, variation.name, *about)
                wanted = range(restarts or column.restarts)
                if not renew and not has_begun(unfinished, setting) and store.is_complete(setting, wanted, mix=mix):
                    continue
                load = partial(load_parts_of, experiment, task)
                jobs += plan(
                    store,
                    unfinished,
                    setting,
                    wanted,
                    origins.of(setup),
                    load,
                    stack=1 if setup.recipe.alone else stack,
                    cost=cost_of(setup, load()),
                    mix=mix,
                )
    return jobs


def prepare_folder(unfinished: Path) -> None:
    """Make the folder of unfinished trials, which keeps itself out of version control."""
    write_atomically(unfinished / ".gitignore", "*\n")


class Origins:
    """Where this sweep's results come from; the fingerprint is of each setup, the rest of the whole sweep."""

    @cached_property
    def about(self) -> dict[str, Any]:
        """Command, commit and machine."""
        return provenance()

    @cached_property
    def date(self) -> str:
        """Now."""
        return datetime.now(UTC).isoformat(timespec="seconds")

    def of(self, setup: Setup) -> Origin:
        """The origin of results of this setup."""
        about = self.about
        machine = Machine(**about["machine"])
        return Origin(about["commit"], about["command"], machine, about["version"], self.date, fingerprint(setup))


def load_parts_of(experiment: Experiment, task: str) -> Parts:
    """The stories of a task, without the note."""
    return load_task(experiment, task)[0]


def cost_of(setup: Setup, parts: Parts) -> float:
    """Estimated duration of one restart, in any unit: sentences read in all epochs times the size of the network."""
    memory = setup.task.memory
    questions = [question.after for story in parts.train for question in story.questions]
    sentences = sum(min(after, memory) if memory else after for after in questions)
    # Networks without these settings are small enough for it not to matter.
    layers, dimension = getattr(setup.network, "layers", 1), getattr(setup.network, "dimension", 50)
    return float(sentences * layers * dimension * (dimension + 50) * setup.recipe.max_epochs)
