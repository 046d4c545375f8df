"""From a table of the paper to the jobs that are missing for it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from query_reduction.config import ModelConfig, Recipe
from query_reduction.experiments.plan import JOINT, Column, Experiment, load_task
from query_reduction.experiments.probe import probe
from query_reduction.experiments.store import Origin, ResultStore
from query_reduction.experiments.sweep import Job, plan
from query_reduction.experiments.trials import Setting
from query_reduction.files import write_atomically
from query_reduction.provenance import provenance
from query_reduction.tasks.sources import Parts

__all__ = ["plan_table"]


def plan_table(
    experiment: Experiment,
    columns: Sequence[Column],
    tasks: Sequence[str],
    store: ResultStore,
    unfinished: Path,
    *,
    restarts: int | None = None,
    preset: str | None = None,
    stack: int = 10,
    mix: bool = False,
) -> list[Job]:
    """The jobs that train what the table lacks."""
    # The folder keeps itself out of version control.
    write_atomically(unfinished / ".gitignore", "*\n")
    origins = _Origins()
    loaded: dict[str, tuple[str, str, str, float]] = {}
    jobs: list[Job] = []
    wanted = [(column, name) for column in columns for name in experiment.recipe_names(column, preset)]
    for column, recipe_name in wanted:
        model, recipe = experiment.settings(column, recipe_name)
        origin = origins.of(model, recipe)
        for task in (JOINT,) if column.joint else tasks:
            if task not in loaded:
                parts, note = load_task(experiment, task)
                loaded[task] = parts.checksum(), parts.name, note, _sentences(parts, model.memory)
            checksum, name, note, sentences = loaded[task]
            setting = Setting(experiment.name, column.variant, task, model, recipe, checksum, name, note)
            jobs += plan(
                store,
                unfinished,
                setting,
                range(restarts or recipe.restarts),
                origin,
                partial(_load, experiment, task),
                stack=stack,
                cost=sentences * model.layers * model.dimension * (model.dimension + 50) * recipe.max_epochs,
                mix=mix,
            )
    return jobs


class _Origins:
    """Where this sweep's results come from; the probe is of each network and recipe, the rest of the whole sweep."""

    def __init__(self) -> None:
        self._about = provenance()
        self._date = datetime.now(UTC).isoformat(timespec="seconds")

    def of(self, model: ModelConfig, recipe: Recipe) -> Origin:
        """The origin of results of this network and recipe."""
        about = self._about
        return Origin(
            about["commit"], about["command"], about["machine"], about["version"], self._date, probe(model, recipe)
        )


def _load(experiment: Experiment, task: str) -> Parts:
    return load_task(experiment, task)[0]


def _sentences(parts: Parts, memory: int) -> float:
    """Sentences read in an epoch: what training time is about proportional to."""
    return sum(
        min(question.after, memory) if memory else question.after
        for story in parts.train
        for question in story.questions
    )
