"""A table of the paper as data: published and measured numbers side by side, made from the store and nothing else.

Every report (Markdown, LaTeX, CSV, HTML, README) is a rendering of this one value.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from query_reduction.config import ModelConfig, Recipe
from query_reduction.errors import InputError
from query_reduction.evaluation.experiments import JOINT, Column, Experiment
from query_reduction.evaluation.published import published
from query_reduction.training.probe import agree
from query_reduction.training.store import Origin, ResultStore, StoredSetting
from query_reduction.training.trials import RestartResult, Setting

__all__ = ["FAILED_ABOVE", "build_table", "choose", "measure_cell"]

FAILED_ABOVE = 5.0
"""A task counts as failed above this error, in percent."""
_BASELINES = ("LSTM", "N2N", "DMN+", "GMemN2N", "DNC")


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
    notes: dict[str, str] = {}
    shown = []
    for column in columns if columns is not None else experiment.columns:
        model, recipe = experiment.settings(column, preset)
        cells = _column_cells(store, experiment, column, model, recipe, wanted, restarts, mix, notes)
        for measure in experiment.measures:
            shown.append(_column_json(experiment, column, measure, cells, wanted))
    values = published()
    return {
        "table": experiment.name,
        "title": experiment.title,
        "preset": preset or experiment.preset,
        "source": values.source,
        "unit": values.unit,
        "rows": [row for task in wanted for row in experiment.rows.get(task, (task,))],
        "columns": shown,
        "baselines": {
            name: values.column(experiment.name, name)
            for name in values.tables.get(experiment.name, {})
            if name.rstrip("+") in _BASELINES or name in _BASELINES
        },
        "notes": [f"{mark} {text}" for text, mark in sorted(notes.items(), key=lambda item: item[1])],
    }


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


def _column_cells(
    store: ResultStore,
    experiment: Experiment,
    column: Column,
    model: ModelConfig,
    recipe: Recipe,
    tasks: list[str],
    restarts: int | None,
    mix: bool,
    notes: dict[str, str],
) -> dict[str, tuple[list[RestartResult], list[str], dict[str, Any]]]:
    """Task → results, marks, and where they come from."""
    found: dict[str, tuple[StoredSetting, Origin, list[RestartResult]]] = {}
    for task in [JOINT] if column.joint else tasks:
        wanted = Setting(experiment.name, column.variant, task, model, recipe, "")
        fitting = [
            stored
            for stored in store.settings(experiment.name, column.variant, task)
            if replace(wanted, data=stored.setting["data"]).same_as(stored.setting)
        ]
        groups = [(origin, results, stored) for stored in fitting for origin, results in stored.groups()]
        if not groups:
            continue
        origin, results, stored = max(groups, key=lambda group: group[0].date)
        if mix:
            for _, others, other in groups:
                results = (others | results) if other is stored else results
        chosen = [result for result in results.values() if restarts is None or result.restart < restarts]
        if chosen:
            found[task] = stored, origin, chosen
    if not found:
        return {}
    latest = max((origin for _, origin, _ in found.values()), key=lambda origin: origin.date)
    cells = {}
    for task, (stored, origin, results) in found.items():
        marks = []
        if stored.setting["data_note"]:
            marks.append(_mark(notes, stored.setting["data_note"]))
        by_code = {number for result, number in stored.results if result in results}
        codes = [stored.origins[number] for number in sorted(by_code)]
        if not all(agree(code.probe, latest.probe) for code in codes):
            commits = ", ".join(sorted({(code.commit or "unknown")[:12] for code in codes}))
            marks.append(_mark(notes, f"computed by code that gives other numbers than the rest (commit {commits})"))
        about = {
            "seconds": max((result.seconds for result in results), default=0.0),
            "commits": sorted({(code.commit or "unknown") for code in codes}),
            "keep": stored.setting["recipe"]["keep"],
            "data": stored.setting["data"],
        }
        cells[task] = results, marks, about
    return cells


def _column_json(
    experiment: Experiment,
    column: Column,
    measure: str,
    cells: dict[str, tuple[list[RestartResult], list[str], dict[str, Any]]],
    tasks: list[str],
) -> dict[str, Any]:
    paper = published().column(experiment.name, column.name)
    measured: dict[str, dict[str, Any]] = {}
    for task in tasks:
        results, marks, about = cells.get(JOINT if column.joint else task, ([], [], {}))
        for row in experiment.rows.get(task, (task,)):
            cell = measure_cell(results, about["keep"], measure, row) if results else None
            if cell:
                measured[row] = cell | {"marks": marks}
    value: dict[str, Any] = {
        "name": column.name,
        "measure": measure,
        "published": paper,
        "measured": measured,
        "summary": _summary(measured, paper, list(measured)),
        "seconds": round(sum(about["seconds"] for _, _, about in cells.values()), 1),
        "commits": sorted({commit for _, _, about in cells.values() for commit in about["commits"]}),
    }
    unmarked = [row for row in measured if row not in experiment.marked_tasks]
    if len(unmarked) < len(measured) and unmarked:
        value["summary_without_marked"] = _summary(measured, paper, unmarked)
    return value


def _summary(measured: dict[str, dict[str, Any]], paper: dict[str, float], rows: list[str]) -> dict[str, Any] | None:
    """Average and failed over these rows, ours and the paper's over the same ones."""
    if not rows:
        return None
    errors = [measured[row]["error"] for row in rows]
    theirs = [paper[row] for row in rows if row in paper]
    return {
        "rows": rows,
        "average": round(float(np.mean(errors)), 4),
        "failed": sum(error > FAILED_ABOVE for error in errors),
        "mean": round(float(np.mean([measured[row]["mean"] for row in rows])), 4),
        "std": round(float(np.mean([measured[row]["std"] for row in rows])), 4),
        "published_average": round(float(np.mean(theirs)), 4) if len(theirs) == len(rows) else None,
        "published_failed": sum(error > FAILED_ABOVE for error in theirs) if len(theirs) == len(rows) else None,
    }


_MARKS = "†‡§¶‖*"


def _mark(notes: dict[str, str], text: str) -> str:
    """The sign of a note, the same for the same text."""
    if text not in notes:
        if len(notes) >= len(_MARKS):
            raise InputError("too many different notes for one table: narrow it with --tasks or --variants")
        notes[text] = _MARKS[len(notes)]
    return notes[text]
