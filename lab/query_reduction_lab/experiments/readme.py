"""The short tables of the README, inserted between its markers from the store.

<!-- table:qa-1k -->
… replaced …
<!-- /table:qa-1k -->
"""

from __future__ import annotations

import re

from query_reduction.errors import InputError
from query_reduction_lab.experiments.catalogue import EXPERIMENTS
from query_reduction_lab.experiments.cells import ColumnResult, ResultTable, Summary
from query_reduction_lab.experiments.report import number_text, spread_text
from query_reduction_lab.experiments.store import ResultStore
from query_reduction_lab.experiments.table_builder import build_table

__all__ = ["fill_readme", "short_table"]

_MARKED = re.compile(r"(<!-- table:(?P<name>[\w-]+) -->\n).*?(<!-- /table:(?P=name) -->)", re.DOTALL)
_MEASURES_SHOWN = 2
_HEAD = ("network", "average: paper", "ours", "over restarts", "failed: paper", "ours", "restarts tried")


def fill_readme(text: str, store: ResultStore) -> str:
    """The text with every marked table regenerated."""

    def fill(match: re.Match[str]) -> str:
        name = match["name"]
        if name not in EXPERIMENTS:
            raise InputError(f"the README marks a table {name!r}; choose from {', '.join(EXPERIMENTS)}")
        return f"{match[1]}{short_table(build_table(store, EXPERIMENTS[name]))}{match[3]}"

    return _MARKED.sub(fill, text)


def short_table(table: ResultTable) -> str:
    """Averages of every measured column, with the notes."""
    head, lines = _by_measure(table) if len(table.measures) > 1 else _by_network(table)
    if not lines:
        return "Not measured yet.\n"
    notes = "".join(f"\n{note}\n" for note in table.notes)
    rule = "|---|" + "---:|" * (len(head) - 1)
    return "\n".join([f"| {' | '.join(head)} |", rule, *lines]) + "\n" + notes


def _by_measure(table: ResultTable) -> tuple[list[str], list[str]]:
    """One line per network: averages by measure, the paper's next to ours where it has them."""
    measures = table.measures[:_MEASURES_SHOWN]
    kinds = [(measure, label) for measure in measures for label in table.averages]
    head = ["network"]
    for measure, label in kinds:
        name = f"{measure}{label.removeprefix('average').replace('-', ', ')}"
        head += [f"{name}: paper", "ours"] if measure == measures[0] else [name]
    head.append(_HEAD[-1])
    lines = []
    for network in dict.fromkeys(column.name for column in table.columns if column.measured):
        own = {column.measure: column for column in table.columns if column.name == network}
        cells = []
        for measure, label in kinds:
            summary = own[measure].summaries[label]
            cells += [number_text(summary.published_average)] if measure == measures[0] else []
            cells.append(_bold(summary))
        lines.append(f"| {network} | {' | '.join(cells)} | {_tried(own[measures[0]])} |")
    return head, lines


def _bold(summary: Summary) -> str:
    if summary.average is None:
        return f"– ({summary.measured} of {len(summary.rows)} tasks so far)" if summary.measured else "–"
    return f"**{summary.average:.1f}**"


def _tried(column: ColumnResult) -> str:
    return f"{column.tried} of {column.planned}" if column.tried < column.planned else str(column.tried)


def _by_network(table: ResultTable) -> tuple[list[str], list[str]]:
    """One line per network and average: paper, ours, spread over restarts, failed tasks.

    A network that is meant for some tasks alone has no average.
    """
    lines = [
        _line(table, column, label, summary)
        for column in table.columns
        for label, summary in column.summaries.items()
        if summary.measured and not column.tasks
    ]
    return list(_HEAD) if table.counts_failed else [*_HEAD[:4], _HEAD[6]], lines


def _line(table: ResultTable, column: ColumnResult, label: str, summary: Summary) -> str:
    rest = label.removeprefix("average").lstrip(" -")
    name = f"{column.name}{'' if not rest or rest.startswith('(') else ','} {rest}".rstrip()
    cells = [column.measured[row] for row in summary.rows if row in column.measured]
    marks = "".join(dict.fromkeys(mark for cell in cells for mark in cell.marks))
    values = [number_text(summary.published_average), f"{_bold(summary)}{marks}", spread_text(summary)]
    if table.counts_failed:
        values += [number_text(summary.published_failed, 0), number_text(summary.failed, 0)]
    return f"| {name} | {' | '.join(values)} | {_tried(column)} |"
