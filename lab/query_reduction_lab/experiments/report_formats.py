"""A table for other programs: LaTeX, CSV and JSON."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence

from query_reduction_lab.experiments.cells import Table
from query_reduction_lab.experiments.report import legend, remarks, sections

__all__ = ["to_csv", "to_json", "to_latex"]

_CSV_FIELDS = ("error", "mean", "std", "restarts", "chosen", "diverged", "recipe", "tried", "planned")


def to_json(table: Table) -> str:
    """The whole table as one JSON object."""
    return json.dumps(table.as_json(), indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def to_csv(table: Table) -> str:
    """One line per cell, for a spreadsheet or a script."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["table", "column", "measure", "row", "published", *_CSV_FIELDS, "notes", "errors"])
    for column in table.columns:
        for row in table.rows:
            cell = column.measured.get(row)
            paper = column.published.get(row, "")
            values = [getattr(cell, name) for name in _CSV_FIELDS] if cell else [""] * len(_CSV_FIELDS)
            marks = " ".join(cell.marks) if cell else ""
            errors = " ".join(map(str, cell.errors)) if cell else ""
            writer.writerow([table.name, column.name, column.measure, row, paper, *values, marks, errors])
    return out.getvalue()


def to_latex(table: Table) -> str:
    """A booktabs table for every measure."""
    lines = []
    for section in sections(table):
        heads = "".join(f" & \\multicolumn{{{len(head.below)}}}{{c}}{{{_latex(head.name)}}}" for head in section.heads)
        kinds = [kind for head in section.heads for kind in head.below]
        lines += [
            f"% {section.title}: made by qrn reproduce {table.name} --formats tex",
            f"\\begin{{tabular}}{{l{'r' * len(kinds)}}}",
            "\\toprule",
            f"task{heads} \\\\",
            "".join(f" & {kind}" for kind in kinds) + " \\\\",
            "\\midrule",
            *(_latex_row(label, cells) for label, cells in section.body),
            "\\midrule",
            *(_latex_row(label, cells) for label, cells in section.summary),
            "\\bottomrule",
            "\\end{tabular}",
        ]
    lines += [f"% {text}" for text in (legend(table), *remarks(table))]
    return "\n".join(lines) + "\n"


def _latex_row(label: str, cells: Sequence[str]) -> str:
    return " & ".join(map(_latex, (label, *cells))) + " \\\\"


def _latex(text: str) -> str:
    signs = {"±": "$\\pm$", "–": "--", "†": "$\\dagger$", "‡": "$\\ddagger$", "§": "\\S{}", "¶": "\\P{}", "‖": "$\\|$"}
    return "".join(signs.get(sign, f"\\{sign}" if sign in "%&_#$" else sign) for sign in text)
