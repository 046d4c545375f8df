"""A table of the paper as data: published and measured numbers side by side, made from the store and nothing else.

Every report (Markdown, LaTeX, CSV, HTML, README) is a rendering of this one value.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from query_reduction.errors import InputError
from query_reduction.experiments.plan import JOINT, Column, Experiment
from query_reduction.experiments.probe import agree
from query_reduction.experiments.published import published
from query_reduction.experiments.store import Origin, ResultStore
from query_reduction.experiments.trials import RestartResult, Setting

__all__ = ["FAILED_ABOVE", "build_table", "choose", "measure_cell"]

FAILED_ABOVE = 5.0
"""A task counts as failed above this error, in percent."""
_ROUNDING = 0.11
_BASELINES = ("LSTM", "N2N", "DMN+", "GMemN2N", "DNC")


@dataclass(frozen=True, slots=True)
class _View:
    """Which of the stored results are looked at."""

    restarts: int | None
    mix: bool


def choose(results: Sequence[RestartResult], keep: str) -> RestartResult:
    """The restart that did best on the development questions, by the recipe's measure; the test is never looked at."""

    def rank(result: RestartResult) -> tuple[bool, float, float, int]:
        loss, error = result.dev_loss, result.dev_error
        if loss is None or error is None:
            return True, 0.0, 0.0, result.restart
        return False, *((loss, loss) if keep == "loss" else (error, loss)), result.restart

    return min(results, key=rank)


def build_table(
    store: ResultStore,
    experiment: Experiment,
    *,
    columns: Iterable[Column] | None = None,
    tasks: Iterable[str] | None = None,
    restarts: int | None = None,
    preset: str | None = None,
    mix: bool = False,
) -> dict[str, Any]:
    """The table, as far as the store has it; ``restarts`` looks only at the first so many."""
    wanted = list(tasks) if tasks is not None else list(experiment.tasks)
    view = _View(restarts, mix)
    notes: dict[str, str] = {}
    shown = []
    data: dict[str, set[str]] = {}
    for column in columns if columns is not None else experiment.columns:
        cells = {}
        names = experiment.recipe_names(column, preset)
        for task in [JOINT] if column.joint else wanted:
            found = _best(_find(store, experiment, column, task, name, view) for name in names)
            if found:
                cells[task] = found
                data.setdefault(task, set()).add(found.setting["data"])
        own = {"presets": list(names)}
        shown += [
            own | _column_json(experiment, column, measure, cells, wanted, notes) for measure in experiment.measures
        ]
    values = published()
    return {
        "table": experiment.name,
        "title": experiment.title,
        "preset": preset or experiment.preset,
        "source": values.source,
        "unit": values.unit,
        "rows": [row for task in wanted for row in experiment.rows.get(task, (task,))],
        "averages": list(experiment.averages()),
        "counts_failed": experiment.counts_failed,
        "columns": shown,
        "baselines": {
            name: values.column(experiment.name, name)
            for name in values.tables.get(experiment.name, {})
            if name.rstrip("+") in _BASELINES or name in _BASELINES
        },
        "notes": [f"{mark} {text}" for text, mark in notes.items()]
        + [f"Task {task}: the columns are of different data." for task, sums in data.items() if len(sums) > 1]
        + _misprints(experiment, shown),
    }


def _misprints(experiment: Experiment, columns: list[dict[str, Any]]) -> list[str]:
    """Where an average the paper prints is not that of its own rows."""
    found = {}
    for column in columns:
        for label, rows in experiment.averages().items():
            paper = column["published"]
            if column["measured"] and label in paper and all(row in paper for row in rows):
                own = float(np.mean([paper[row] for row in rows]))
                if abs(own - paper[label]) > _ROUNDING:
                    name = column["name"]
                    found[name, label] = (
                        f"The paper prints {paper[label]} as {label} of {name}; its rows give {own:.1f}."
                    )
    return list(found.values())


def measure_cell(results: Sequence[RestartResult], keep: str, measure: str, row: str) -> dict[str, Any] | None:
    """One cell: the chosen restart's error, and the spread over all."""
    told = [result for result in results if row in result.errors.get(measure, {})]
    if not told:
        return None
    errors = [result.errors[measure][row] for result in told]
    chosen = choose(told, keep)
    return {
        "error": chosen.errors[measure][row],
        "mean": round(float(np.mean(errors)), 4),
        "std": round(float(np.std(errors)), 4),
        "restarts": len(told),
        "chosen": chosen.restart,
        "diverged": sum(result.dev_loss is None for result in told),
        "errors": errors,
        "marks": [],
    }


@dataclass(frozen=True, slots=True)
class _Found:
    """What the store has for a cell: results, the setting, and the origins of the results."""

    preset: str
    results: list[RestartResult]
    setting: dict[str, Any]
    origins: list[Origin]

    @property
    def chosen(self) -> RestartResult:
        return choose(self.results, self.setting["recipe"]["keep"])

    @property
    def latest(self) -> Origin:
        return max(self.origins, key=lambda origin: origin.date)


def _find(
    store: ResultStore, experiment: Experiment, column: Column, task: str, preset: str, view: _View
) -> _Found | None:
    """The results of the latest code (with ``mix``, of all code) on the latest data for a cell."""
    model, recipe = experiment.settings(column, preset)
    wanted = Setting(experiment.name, column.variant, task, model, recipe, "")
    groups = [
        (origin.date, stored, results)
        for stored in store.settings(experiment.name, column.variant, task)
        if replace(wanted, data=stored.setting["data"]).same_as(stored.setting)
        for origin, results in stored.groups()
    ]
    if not groups:
        return None
    _, stored, results = max(groups, key=lambda group: group[0])
    if view.mix:
        for _, others in reversed(stored.groups()):
            results = others | results
    chosen = [result for result in results.values() if view.restarts is None or result.restart < view.restarts]
    used = sorted({origin for result, origin in stored.results if result in chosen})
    return _Found(preset, chosen, stored.setting, [stored.origins[number] for number in used]) if chosen else None


def _best(recipes: Iterable[_Found | None]) -> _Found | None:
    """Of the same cell by several recipes, the one whose chosen restart did best on development questions."""
    found = [recipe for recipe in recipes if recipe]
    best = choose([recipe.chosen for recipe in found], "accuracy") if found else None
    return next((recipe for recipe in found if recipe.chosen is best), None)


def _marks(found: _Found, latest: Origin, notes: dict[str, str]) -> list[str]:
    """The signs of what is to be said about a cell."""
    marks = []
    if found.setting["data_note"]:
        marks.append(_mark(notes, found.setting["data_note"]))
    if not all(agree(origin.probe, latest.probe) for origin in found.origins):
        commits = ", ".join(sorted({(origin.commit or "unknown")[:12] for origin in found.origins}))
        marks.append(_mark(notes, f"computed by code that gives other numbers than the rest (commit {commits})"))
    return marks


def _column_json(
    experiment: Experiment,
    column: Column,
    measure: str,
    cells: dict[str, _Found],
    tasks: list[str],
    notes: dict[str, str],
) -> dict[str, Any]:
    # The paper counts in one way only; errors counted otherwise must not stand beside its numbers.
    paper = published().column(experiment.name, column.name) if measure == experiment.measures[0] else {}
    measured: dict[str, dict[str, Any]] = {}
    for task in tasks:
        found = cells.get(JOINT if column.joint else task)
        if found is None:
            continue
        # What code computes can only be compared within a recipe.
        alike = [other.latest for other in cells.values() if other.preset == found.preset]
        marks = _marks(found, max(alike, key=lambda origin: origin.date), notes)
        for row in experiment.rows.get(task, (task,)):
            cell = measure_cell(found.results, found.setting["recipe"]["keep"], measure, row)
            if cell:
                measured[row] = cell | {"marks": marks, "preset": found.preset}
    origins = [origin for found in cells.values() for origin in found.origins]
    times = [max(result.seconds for result in found.results) for found in cells.values()]
    return {
        "name": column.name,
        "measure": measure,
        "published": paper,
        "measured": measured,
        "summaries": {label: _summary(measured, paper, rows, label) for label, rows in experiment.averages().items()},
        "seconds": round(sum(times), 1),
        "commits": sorted({origin.commit or "unknown" for origin in origins}),
    }


def _summary(
    measured: dict[str, dict[str, Any]], paper: dict[str, float], rows: Sequence[str], label: str
) -> dict[str, Any]:
    """Average and failed over those of the rows that are measured, ours and the paper's over the same ones."""
    have = [row for row in rows if row in measured]
    theirs = [paper[row] for row in (have or rows) if row in paper]
    complete = not have or len(have) == len(rows)
    # The paper's average is taken as it is printed, where it is of the same rows.
    printed = paper.get(label) if complete else None
    mean = round(float(np.mean(theirs)), 4) if theirs and len(theirs) == len(have or rows) else None
    cells = [measured[row] for row in have]
    return {
        "rows": have,
        "complete": len(have) == len(rows),
        "average": round(float(np.mean([cell["error"] for cell in cells])), 4) if cells else None,
        "failed": sum(cell["error"] > FAILED_ABOVE for cell in cells) if cells else None,
        "mean": round(float(np.mean([cell["mean"] for cell in cells])), 4) if cells else None,
        "std": round(float(np.mean([cell["std"] for cell in cells])), 4) if cells else None,
        "published_average": mean if printed is None else printed,
        "published_failed": sum(error > FAILED_ABOVE for error in theirs) if mean is not None else None,
    }


_MARKS = "†‡§¶‖*"


def _mark(notes: dict[str, str], text: str) -> str:
    """The sign of a note, the same for the same text."""
    if text not in notes:
        if len(notes) >= len(_MARKS):
            raise InputError("too many different notes for one table: narrow it with --tasks or --variants")
        notes[text] = _MARKS[len(notes)]
    return notes[text]
