"""A table of the paper as data: cells, columns and averages, published and measured side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from query_reduction.training.results import RestartResult, choose
from query_reduction_lab.experiments.plan import JOINT

__all__ = ["FAILED_ABOVE", "Cell", "ColumnResult", "ResultTable", "Summary", "measure_cell", "summarise"]

FAILED_ABOVE = 5.0
"""A task counts as failed above this error, in percent."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A network on one row of a table; errors in percent."""

    error: float
    """Of the restart chosen on development questions."""
    mean: float
    std: float
    """Mean and standard deviation are over the restarts of the chosen recipe."""
    restarts: int
    """The number of these restarts."""
    chosen: int
    """The number of the chosen restart."""
    diverged: int
    errors: tuple[float, ...]
    recipe: str = ""
    """The name of the chosen recipe."""
    tried: int = 0
    """The restarts of all recipes of the column together."""
    planned: int = 0
    """Their number once all are trained."""
    marks: tuple[str, ...] = ()
    """The symbols of its footnotes."""


@dataclass(frozen=True, slots=True)
class Summary:
    """A column's average over some rows; None if not all of them are measured."""

    rows: tuple[str, ...]
    """The rows it is over."""
    measured: int
    """The number of rows measured."""
    average: float | None
    failed: int | None
    mean: float | None
    std: float | None
    """Also None if a cell has a single restart, which has no spread."""
    published_average: float | None
    published_failed: int | None


@dataclass(frozen=True, slots=True)
class ColumnResult:
    """A network, with its errors by one measure."""

    name: str
    measure: str
    recipes: tuple[str, ...]
    restarts: int
    """Planned for each cell and recipe."""
    tasks: tuple[str, ...]
    """The tasks it is trained on, if not all of the table's."""
    control: bool
    given: str
    """What it is given besides training data, where columns differ in that."""
    published: Mapping[str, float]
    measured: Mapping[str, Cell]
    summaries: Mapping[str, Summary]
    tried: int
    """Restarts that the column uses, of all recipes and tasks."""
    planned: int
    unused: int
    """Stored restarts beyond the planned number, or of recipes that are no longer in the plan."""
    seconds: Mapping[str, float]
    """Task → the training time of the chosen recipe; restarts that train together share it."""
    parameters: int | None
    """The number of trained weights, the median over tasks; None if it was not recorded."""
    commits: tuple[str, ...]

    def minutes_of_one(self, rows: Sequence[str] | None = None) -> float:
        """The training time of one restart on the tasks of these rows, or on all of its tasks."""
        times = (time for task, time in self.seconds.items() if rows is None or task == JOINT or task in rows)
        return sum(times) / 60 / self.restarts


@dataclass(frozen=True, slots=True)
class ResultTable:
    """A table, as far as it has been measured."""

    name: str
    title: str
    development: str
    """How the development questions are held out."""
    source: str
    unit: str
    rows: tuple[str, ...]
    counts_failed: bool
    systems: bool
    """Whether it compares systems by their numbers of weights and training times as well."""
    pictured: str
    """The average that the picture of error against training time shows."""
    columns: tuple[ColumnResult, ...]
    baselines: Mapping[str, Mapping[str, float]]
    """Average and failed of other models, as the paper prints them."""
    notes: tuple[str, ...]

    @property
    def measures(self) -> tuple[str, ...]:
        """The error measures."""
        return tuple(dict.fromkeys(column.measure for column in self.columns))

    @property
    def averages(self) -> tuple[str, ...]:
        """The labels of the averages below the table."""
        return tuple(dict.fromkeys(label for column in self.columns for label in column.summaries))

    def as_json(self) -> dict[str, Any]:
        """Everything as plain values."""
        return asdict(self)


def measure_cell(results: Sequence[RestartResult], keep: str, measure: str, row: str) -> Cell | None:
    """One cell: the chosen restart's error, and the spread over all."""
    tested = [result for result in results if row in result.errors.get(measure, {})]
    if not tested:
        return None
    errors = tuple(result.errors[measure][row] for result in tested)
    chosen = choose(tested, keep)
    return Cell(
        error=chosen.errors[measure][row],
        mean=_mean(errors),
        std=round(float(np.std(errors)), 4),
        restarts=len(tested),
        chosen=chosen.restart,
        diverged=sum(result.dev_loss is None for result in tested),
        errors=errors,
    )


def summarise(
    measured: Mapping[str, Cell], paper: Mapping[str, float], rows: Sequence[str], printed: float | None
) -> Summary:
    """Average and failed of ours and of the paper's, over the same rows; ``printed`` is the paper's own average."""
    cells = [measured[row] for row in rows if row in measured]
    complete = bool(cells) and len(cells) == len(rows)
    theirs = [paper[row] for row in rows if row in paper]
    comparable = bool(theirs) and len(theirs) == len(rows)
    own_mean = _mean(theirs) if comparable else None
    return Summary(
        rows=tuple(rows),
        measured=len(cells),
        average=_mean([cell.error for cell in cells]) if complete else None,
        failed=sum(cell.error > FAILED_ABOVE for cell in cells) if complete else None,
        mean=_mean([cell.mean for cell in cells]) if complete else None,
        std=_mean([cell.std for cell in cells]) if complete and all(cell.restarts > 1 for cell in cells) else None,
        published_average=own_mean if printed is None else printed,
        published_failed=sum(error > FAILED_ABOVE for error in theirs) if comparable else None,
    )


def _mean(values: Sequence[float]) -> float:
    return round(float(np.mean(values)), 4)
