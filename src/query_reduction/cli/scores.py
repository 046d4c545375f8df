"""Scores as a table: one row per task, one column per measure."""

from __future__ import annotations

from collections.abc import Mapping

from rich.table import Table

__all__ = ["score_table"]


def score_table(errors: Mapping[str, Mapping[str, float]]) -> Table:
    """Errors in percent by measure and row."""
    table = Table(title="error, %", title_justify="left")
    table.add_column("task")
    for measure in errors:
        table.add_column(measure, justify="right")
    rows = dict.fromkeys(row for by_row in errors.values() for row in by_row)
    for row in rows:
        name = row.replace("-OOV", ", unseen names").removeprefix(", ") or "test"
        table.add_row(name, *(f"{by_row[row]:.2f}" for by_row in errors.values()))
    return table
