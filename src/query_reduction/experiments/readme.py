"""The short tables of the README, put between its marks from the store.

<!-- table:qa-1k -->
… replaced …
<!-- /table:qa-1k -->
"""

from __future__ import annotations

import re
from typing import Any

from query_reduction.errors import InputError
from query_reduction.experiments.plan import EXPERIMENTS
from query_reduction.experiments.store import ResultStore
from query_reduction.experiments.tables import build_table

__all__ = ["fill_readme", "short_table"]

_MARKED = re.compile(r"(<!-- table:(?P<name>[\w-]+) -->\n).*?(<!-- /table:(?P=name) -->)", re.DOTALL)
_MEASURES_SHOWN = 2
_HEAD = ("network", "average: paper", "ours", "over restarts", "failed: paper", "ours", "restarts")


def fill_readme(text: str, store: ResultStore) -> str:
    """The text with every marked table made anew."""

    def fill(match: re.Match[str]) -> str:
        name = match["name"]
        if name not in EXPERIMENTS:
            raise InputError(f"the README wants a table {name!r}; there are {', '.join(EXPERIMENTS)}")
        return f"{match[1]}{short_table(build_table(store, EXPERIMENTS[name]))}{match[3]}"

    return _MARKED.sub(fill, text)


def short_table(table: dict[str, Any]) -> str:
    """Averages of every measured column, with the notes."""
    several = len({column["measure"] for column in table["columns"]}) > 1
    head, lines = _by_measure(table) if several else _by_network(table)
    if not lines:
        return "Not measured yet.\n"
    notes = "".join(f"\n{note}\n" for note in table["notes"])
    rule = "|---|" + "---:|" * (len(head) - 1)
    return "\n".join([f"| {' | '.join(head)} |", rule, *lines]) + "\n" + notes


def _by_measure(table: dict[str, Any]) -> tuple[list[str], list[str]]:
    """A line a network: averages by measure, the paper's beside ours where it has them."""
    measures = list(dict.fromkeys(column["measure"] for column in table["columns"]))[:_MEASURES_SHOWN]
    kinds = [(measure, label) for measure in measures for label in table["averages"]]
    head = ["network"]
    for measure, label in kinds:
        name = f"{measure}{label.removeprefix('average').replace('-', ', ')}"
        head += [f"{name}: paper", "ours"] if measure == measures[0] else [name]
    lines = []
    for network in dict.fromkeys(column["name"] for column in table["columns"]):
        own = {column["measure"]: column["summaries"] for column in table["columns"] if column["name"] == network}
        cells = []
        for measure, label in kinds:
            summary = own[measure][label]
            of = "" if summary["complete"] or not summary["rows"] else f" ({len(summary['rows'])} tasks so far)"
            ours = f"**{summary['average']:.1f}**{of}" if summary["rows"] else "–"
            cells += [_number(summary["published_average"]), ours] if measure == measures[0] else [ours]
        if any(summary["rows"] for summaries in own.values() for summary in summaries.values()):
            lines.append(f"| {network} | {' | '.join(cells)} |")
    return head, lines


def _by_network(table: dict[str, Any]) -> tuple[list[str], list[str]]:
    """A line a network and average: paper, ours, spread over restarts, failed tasks."""
    lines = [
        _line(table, column, label, summary)
        for column in table["columns"]
        for label, summary in column["summaries"].items()
        if summary["rows"]
    ]
    return list(_HEAD) if table["counts_failed"] else [*_HEAD[:4], _HEAD[6]], lines


def _line(table: dict[str, Any], column: dict[str, Any], label: str, summary: dict[str, Any]) -> str:
    name = column["name"]
    if label != "average":
        name += f", {label.removeprefix('average').lstrip(' -')}"
    if not summary["complete"]:
        name += f" ({len(summary['rows'])} tasks so far)"
    cells = [column["measured"][row] for row in summary["rows"]]
    marks = "".join(dict.fromkeys(mark for cell in cells for mark in cell["marks"]))
    counts = sorted({cell["restarts"] for cell in cells})
    restarts = str(counts[0]) if len(counts) == 1 else f"{counts[0]}–{counts[-1]}"
    values = [
        _number(summary["published_average"]),
        f"**{summary['average']:.1f}**{marks}",
        f"{summary['mean']:.1f} ± {summary['std']:.1f}",
    ]
    if table["counts_failed"]:
        values += [_number(summary["published_failed"], 0), str(summary["failed"])]
    return f"| {name} | {' | '.join(values)} | {restarts} |"


def _number(value: float | None, digits: int = 1) -> str:
    return "–" if value is None else f"{value:.{digits}f}"
