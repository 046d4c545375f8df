"""How a sweep looks while it runs: a live table in a terminal, one line per step elsewhere."""

from __future__ import annotations

import time
from types import TracebackType

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from query_reduction.training.results import RestartResult, choose
from query_reduction_lab.experiments.published import published
from query_reduction_lab.experiments.settings import Setting
from query_reduction_lab.experiments.sweep import Sweep

__all__ = ["SweepView"]

_SECONDS_BETWEEN_LINES = 60.0


class SweepView:
    """Shows stored restarts by task and network, what is running, and the time left."""

    def __init__(self, sweep: Sweep, workers: int, console: Console) -> None:
        self._sweep = sweep
        self._console = console
        self._live = Live(console=console, refresh_per_second=2, transient=True) if console.is_terminal else None
        self._said = (0, 0)
        self._said_at = 0.0
        self._cells: dict[str, dict[str, str]] | None = None
        self._cells_at = 0
        count = sweep.total
        console.print(
            f"{count} restart{'s' * (count != 1)} to train in {len(sweep.jobs)} stack{'s' * (len(sweep.jobs) != 1)}, "
            f"{workers} at once"
        )

    def update(self, sweep: Sweep) -> None:
        """Show the state."""
        if self._live:
            self._live.update(Group(self._table(), Text(self._line())))
            return
        said = (sweep.stored, len(sweep.failures))
        now = time.monotonic()
        if said != self._said or now - self._said_at > _SECONDS_BETWEEN_LINES:
            self._said, self._said_at = said, now
            self._console.print(self._line(), markup=False, soft_wrap=True)

    def _line(self) -> str:
        sweep = self._sweep
        left = sweep.seconds_left()
        running = ", ".join(
            f"{entry.job.trial.setting.column} task {entry.job.trial.setting.task}"
            + (f" epoch {entry.progress.epoch}" if entry.progress else "")
            for entry in sweep.running.values()
        )
        return (
            f"{sweep.stored}/{sweep.total} restarts stored, {_span(sweep.seconds)} elapsed, "
            f"{'about ' + _span(left) + ' left at most' if left is not None else 'time left unknown yet'}"
            + (f"; running: {running}" if running else "")
            + (f"; {len(sweep.failures)} failed" if sweep.failures else "")
        )

    def _table(self) -> Table:
        """Every cell of the sweep: the chosen test error so far, the paper's, and the progress."""
        sweep = self._sweep
        if self._cells is None or self._cells_at != sweep.stored:
            self._cells, self._cells_at = self._stored_cells(), sweep.stored
        cells = {task: dict(row) for task, row in self._cells.items()}
        for entry in sweep.running.values():
            setting = entry.job.trial.setting
            if entry.progress is not None:
                error = entry.progress.best_dev_error
                dev = f", dev {error:.1f}" if error is not None else ""
                cells[setting.task][setting.column] += f"; {setting.recipe_name} epoch {entry.progress.epoch}{dev}"
        columns = list(dict.fromkeys(job.trial.setting.column for job in sweep.jobs))
        table = Table("task", *columns, title="test error (restarts), paper", title_justify="left")
        for task in sorted(cells, key=lambda task: (not task.isdecimal(), task.zfill(3))):
            table.add_row(task, *(cells[task].get(column, "") for column in columns))
        return table

    def _stored_cells(self) -> dict[str, dict[str, str]]:
        """Task → column → text; the recipes of a column share its cell, as they do in the table."""
        found: dict[tuple[str, str], dict[str, _Stored]] = {}
        for job in self._sweep.jobs:
            setting = job.trial.setting
            stored = self._sweep.store.find(setting)
            results = list(stored.of_code(job.origin.fingerprint).values()) if stored else []
            # Several jobs may train restarts of the same setting.
            found.setdefault((setting.task, setting.column), {})[setting.key()] = setting, results
        cells: dict[str, dict[str, str]] = {}
        for (task, column), recipes in found.items():
            cells.setdefault(task, {})[column] = _cell(list(recipes.values()))
        return cells

    def __enter__(self) -> SweepView:
        if self._live:
            self._live.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._live:
            self._live.stop()
        self._console.print(self._line(), markup=False, soft_wrap=True)


_Stored = tuple[Setting, list[RestartResult]]


def _cell(recipes: list[_Stored]) -> str:
    setting = recipes[0][0]
    paper = published().column(setting.table, setting.column).get(setting.task)
    printed = f", {paper:.1f}" if paper is not None else ""
    chosen = [choose(results, own.keep) for own, results in recipes if results]
    if not chosen:
        return f"·{printed}"
    errors = choose(chosen, "accuracy").errors
    first = [error for by_row in list(errors.values())[:1] for error in by_row.values()]
    count = sum(len(results) for _, results in recipes)
    return f"{sum(first) / max(len(first), 1):.1f} ({count}){printed}"


def _span(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}"
