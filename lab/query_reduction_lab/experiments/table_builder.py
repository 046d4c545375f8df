"""Builds a table from the store and nothing else; every report renders the result."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from query_reduction.errors import InputError
from query_reduction.training.results import RestartResult, choose
from query_reduction_lab.experiments.cells import Cell, ColumnResult, ResultTable, Summary, measure_cell, summarise
from query_reduction_lab.experiments.plan import JOINT, Column, Experiment, Variation
from query_reduction_lab.experiments.published import published
from query_reduction_lab.experiments.settings import Origin, Setting, same_setup
from query_reduction_lab.experiments.store import ResultStore, StoredResult, StoredSetting

__all__ = ["build_table", "columns_to_show"]

_ROUNDING = 0.11
_BASELINES = ("LSTM", "N2N", "DMN+", "GMemN2N", "DNC")
_MARKS = "†‡§¶‖*"


def columns_to_show(store: ResultStore, experiment: Experiment) -> list[Column]:
    """The paper's columns, and the controls that have been measured."""
    controls = [
        column for column in experiment.controls if store.settings(column.stored or experiment.name, column.name)
    ]
    return [*experiment.columns, *controls]


def build_table(
    store: ResultStore,
    experiment: Experiment,
    *,
    columns: Iterable[Column] | None = None,
    tasks: Iterable[str] | None = None,
    restarts: int | None = None,
    recipe: Variation | None = None,
    mix: bool = False,
) -> ResultTable:
    """The table, as far as the store has it; ``restarts`` and ``recipe`` replace what the plan says."""
    wanted = list(tasks) if tasks is not None else list(experiment.tasks)
    builder = _Builder(store, experiment, wanted, restarts, recipe, mix)
    chosen = list(columns) if columns is not None else columns_to_show(store, experiment)
    parts = [part for column in chosen for part in builder.column(column)]
    shown = tuple(replace(part, summaries=_summaries(experiment, part, parts, wanted)) for part in parts)
    values = published()
    different = [
        f"Task {task}: the columns are of different data." for task, sums in builder.data.items() if len(sums) > 1
    ]
    return ResultTable(
        name=experiment.name,
        title=experiment.title,
        development=experiment.development,
        source=experiment.source or values.source,
        unit=values.unit,
        rows=tuple(experiment.rows_of(wanted)),
        counts_failed=experiment.counts_failed,
        systems=experiment.systems,
        pictured=experiment.pictured,
        columns=shown,
        baselines={
            name: values.column(experiment.name, name)
            for name in values.tables.get(experiment.name, {})
            if name.rstrip("+") in _BASELINES or name in _BASELINES
        },
        notes=(
            *(f"{mark} {text}" for text, mark in builder.notes.items()),
            *different,
            *_misprints(experiment, shown),
        ),
    )


@dataclass(frozen=True, slots=True)
class _Found:
    """What the store has for a cell by one recipe."""

    recipe: str
    keep: str
    note: str
    records: tuple[StoredResult, ...]

    @property
    def results(self) -> list[RestartResult]:
        return [record.result for record in self.records]

    @property
    def chosen(self) -> RestartResult:
        return choose(self.results, self.keep)

    @property
    def latest(self) -> Origin:
        return max((record.origin for record in self.records), key=lambda origin: origin.date)


@dataclass(frozen=True, slots=True)
class _CellResults:
    """What the store has for a cell by all recipes."""

    best: _Found
    """The results of the recipe whose chosen restart did best on development questions."""
    tried: int


@dataclass(slots=True)
class _Builder:
    """Builds the columns of one table, collecting the notes they need."""

    store: ResultStore
    experiment: Experiment
    tasks: list[str]
    restarts: int | None
    recipe: Variation | None
    mix: bool
    notes: dict[str, str] = field(default_factory=dict)
    data: dict[str, set[str]] = field(default_factory=dict)
    """Task → the checksums of the data that columns were trained on."""

    def column(self, column: Column) -> list[ColumnResult]:
        """A column, once per error measure; averages are added when all columns are there."""
        recipes = (self.recipe,) if self.recipe else column.recipes
        limit = self.restarts or column.restarts
        tasks = column.trained_on(self.tasks)
        cells: dict[str, _CellResults] = {}
        for task in tasks:
            found = [one for recipe in recipes if (one := self._find(column, task, recipe, limit))]
            if found:
                best = choose([one.chosen for one in found], "accuracy")
                chosen = next(one for one in found if one.chosen is best)
                cells[task] = _CellResults(chosen, sum(len(one.records) for one in found))
                self.data.setdefault(task, set()).add(chosen.records[0].setting.data)
        tried = sum(cell.tried for cell in cells.values())
        stored = sum(len(stored.records) for stored in self._stored(column) if stored.setting.task in tasks)
        records = [record for cell in cells.values() for record in cell.best.records]
        seconds = {task: max(result.seconds for result in cell.best.results) for task, cell in cells.items()}
        first = self.experiment.measures[0]
        return [
            ColumnResult(
                name=column.name,
                measure=measure,
                recipes=tuple(recipe.name for recipe in recipes),
                restarts=limit,
                tasks=column.tasks,
                control=column.control,
                given=column.given,
                # The paper uses only one measure; errors by another must not appear next to its numbers.
                published=self._published(column) if measure == first else {},
                measured=self._measured(column, measure, cells, limit * len(recipes)),
                summaries={},
                tried=tried,
                planned=limit * len(recipes) * len(tasks),
                unused=stored - tried,
                seconds=seconds,
                parameters=_median(record.result.parameters for record in records),
                commits=tuple(sorted({record.origin.commit or "unknown" for record in records})),
            )
            for measure in self.experiment.measures
        ]

    def _stored(self, column: Column) -> list[StoredSetting]:
        return self.store.settings(column.stored or self.experiment.name, column.name)

    def _published(self, column: Column) -> dict[str, float]:
        table, _, name = (column.published or f"{self.experiment.name}/{column.name}").partition("/")
        return published().column(table, name)

    def _find(self, column: Column, task: str, recipe: Variation, limit: int) -> _Found | None:
        """The first restarts by the latest code (with ``mix``, by all code) on the latest data for a cell."""
        setup = recipe.setup(column.network)
        groups = [
            (origin.date, stored, records)
            for stored in self._stored(column)
            if stored.setting.task == task and same_setup(stored.setting.setup, setup)
            for origin, records in stored.groups()
        ]
        if not groups:
            return None
        _, stored, records = max(groups, key=lambda group: group[0])
        if self.mix:
            for _, others in reversed(stored.groups()):
                records = others | records
        used = tuple(records[number] for number in sorted(records) if number < limit)
        setting: Setting = stored.setting
        return _Found(recipe.name, setting.keep, setting.note, used) if used else None

    def _measured(
        self, column: Column, measure: str, cells: Mapping[str, _CellResults], planned: int
    ) -> dict[str, Cell]:
        measured: dict[str, Cell] = {}
        for task in self.tasks:
            found = cells.get(JOINT if column.joint else task)
            if found is None:
                continue
            best = found.best
            # Code fingerprints can only be compared within a recipe.
            alike = [other.best.latest for other in cells.values() if other.best.recipe == best.recipe]
            marks = self._marks(best, max(alike, key=lambda origin: origin.date))
            for row in self.experiment.rows_of([task]):
                cell = measure_cell(best.results, best.keep, measure, row)
                if cell:
                    measured[row] = replace(cell, recipe=best.recipe, tried=found.tried, planned=planned, marks=marks)
        return measured

    def _marks(self, found: _Found, latest: Origin) -> tuple[str, ...]:
        """The symbols of a cell's footnotes."""
        marks = [self._mark(found.note)] if found.note else []
        origins = {record.origin for record in found.records}
        if not all(origin.fingerprint.agrees(latest.fingerprint) for origin in origins):
            commits = ", ".join(sorted({(origin.commit or "unknown")[:12] for origin in origins}))
            marks.append(self._mark(f"computed by code that gives other numbers than the rest (commit {commits})"))
        return tuple(marks)

    def _mark(self, text: str) -> str:
        """The symbol of a note, the same for the same text."""
        if text not in self.notes:
            if len(self.notes) >= len(_MARKS):
                raise InputError("too many different notes for one table: narrow it with --tasks or --variants")
            self.notes[text] = _MARKS[len(self.notes)]
        return self.notes[text]


def _summaries(
    experiment: Experiment, column: ColumnResult, columns: Sequence[ColumnResult], tasks: Sequence[str]
) -> dict[str, Summary]:
    """A column's averages; where some column still lacks rows, also over the rows that all have, for comparison."""
    shown = set(experiment.rows_of(tasks))
    begun = [other for other in columns if other.measured and other.measure == column.measure and not other.tasks]
    found: dict[str, Summary] = {}
    for label, every_row in experiment.averages().items():
        rows = [row for row in every_row if row in shown]
        if not rows:
            continue
        whole = len(rows) == len(every_row)
        printed = column.published.get(label) if whole else None
        name = label if whole else f"{label} ({_tasks(len(rows))})"
        found[name] = summarise(column.measured, column.published, rows, printed)
        common = [row for row in rows if all(row in other.measured for other in begun)]
        if common and len(common) < len(rows):
            name = f"{label} ({_tasks(len(common))} that all have)"
            found[name] = summarise(column.measured, column.published, common, None)
    return found


def _median(counts: Iterable[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return int(np.median(known)) if known else None


def _tasks(count: int) -> str:
    return f"{count} task{'s' * (count != 1)}"


def _misprints(experiment: Experiment, columns: Iterable[ColumnResult]) -> list[str]:
    """Where an average the paper prints is not that of its own rows."""
    found = []
    for column in columns:
        for label, rows in experiment.averages().items():
            paper = column.published
            if column.measured and label in paper and all(row in paper for row in rows):
                own = float(np.mean([paper[row] for row in rows]))
                if abs(own - paper[label]) > _ROUNDING:
                    found.append(
                        f"The paper prints {paper[label]} as {label} of {column.name}; its rows give {own:.1f}."
                    )
    return found
