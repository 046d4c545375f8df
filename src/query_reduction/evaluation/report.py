"""A table as Markdown, LaTeX and CSV; ``report_html`` makes the page."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

from query_reduction.files import write_atomically

__all__ = ["to_csv", "to_latex", "to_markdown", "write_reports"]


def write_reports(table: dict[str, Any], folder: Path) -> list[Path]:
    """Write the table in every form; return the files."""
    from query_reduction.evaluation.report_html import to_html

    name = table["table"]
    contents = {
        f"{name}.json": json.dumps(table, indent=1, ensure_ascii=False) + "\n",
        f"{name}.md": to_markdown(table),
        f"{name}.tex": to_latex(table),
        f"{name}.csv": to_csv(table),
        f"{name}.html": to_html(table),
    }
    for file, content in contents.items():
        write_atomically(folder / file, content)
    return [folder / file for file in contents]


def heads(table: dict[str, Any]) -> list[str]:
    """The columns' heads; the measure is named where there are several."""
    several = len({column["measure"] for column in table["columns"]}) > 1
    return [column["name"] + (f" ({column['measure']})" if several else "") for column in table["columns"]]


def cell_text(cell: dict[str, Any] | None) -> str:
    """``0.7 (1.2 ± 0.4, 10)†``: chosen on development; mean ± std over so many restarts."""
    if cell is None:
        return "–"
    diverged = f", {cell['diverged']} diverged" if cell["diverged"] else ""
    spread = f"{cell['mean']:.1f} ± {cell['std']:.1f}, {cell['restarts']}{diverged}"
    return f"{cell['error']:.1f} ({spread}){''.join(cell['marks'])}"


def summary_rows(table: dict[str, Any]) -> list[tuple[str, list[tuple[str, str]]]]:
    """Rows below the tasks: label, then (published, measured) a column."""
    rows: list[tuple[str, list[tuple[str, str]]]] = []
    for label in table["averages"]:
        averages, failures = [], []
        for column in table["columns"]:
            summary = column["summaries"][label]
            of = "" if summary["complete"] or not summary["rows"] else f" [{len(summary['rows'])} tasks]"
            ours, failed = "–", "–"
            if summary["rows"]:
                ours = f"{summary['average']:.1f} ({summary['mean']:.1f} ± {summary['std']:.1f}){of}"
                failed = f"{summary['failed']}{of}"
            averages.append((_number(summary["published_average"]), ours))
            failures.append((_number(summary["published_failed"], 0), failed))
        rows.append((label, averages))
        if table["counts_failed"]:
            rows.append((label.replace("average", "failed"), failures))
    return rows


def body_rows(table: dict[str, Any]) -> list[tuple[str, list[tuple[str, str]]]]:
    """Rows of the tasks: label, then (published, measured) a column."""
    return [
        (
            row,
            [
                (_number(column["published"].get(row)), cell_text(column["measured"].get(row)))
                for column in table["columns"]
            ],
        )
        for row in table["rows"]
    ]


def to_markdown(table: dict[str, Any]) -> str:
    """Published and measured side by side."""
    lines = [f"### {table['title']}", ""]
    lines.append("| task |" + "".join(f" {head} paper | {head} ours |" for head in heads(table)))
    lines.append("|---|" + "---:|" * (2 * len(table["columns"])))
    for label, cells in [*body_rows(table), *summary_rows(table)]:
        lines.append(f"| {label} |" + "".join(f" {paper} | {ours} |" for paper, ours in cells))
    lines += ["", legend(table)]
    lines += [f"\n{note}" for note in table["notes"]]
    return "\n".join(lines) + "\n"


def legend(table: dict[str, Any]) -> str:
    """What the numbers are."""
    return (
        "Error in percent. Ours: the restart chosen on development questions (mean ± standard deviation over the "
        f"restarts, their number); failed: tasks above 5 %. Recipe: `{table['preset']}`. Paper: {table['source']}."
    )


def to_latex(table: dict[str, Any]) -> str:
    """A booktabs table."""
    count = len(table["columns"])
    lines = [
        f"% {table['title']}: made by qrn reproduce {table['table']}",
        f"\\begin{{tabular}}{{l{'rr' * count}}}",
        "\\toprule",
        "task" + "".join(f" & \\multicolumn{{2}}{{c}}{{{_latex(head)}}}" for head in heads(table)) + " \\\\",
        " & paper & ours" * count + " \\\\",
        "\\midrule",
    ]
    lines += [_latex_row(label, cells) for label, cells in body_rows(table)]
    lines.append("\\midrule")
    lines += [_latex_row(label, cells) for label, cells in summary_rows(table)]
    lines += ["\\bottomrule", "\\end{tabular}"]
    lines += [f"% {text}" for text in (legend(table), *table["notes"])]
    return "\n".join(lines) + "\n"


def to_csv(table: dict[str, Any]) -> str:
    """One line a cell, for a spreadsheet or a script."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    fields = ("error", "mean", "std", "restarts", "chosen", "diverged")
    writer.writerow(["table", "column", "measure", "row", "published", *fields, "notes", "errors"])
    for column in table["columns"]:
        for row in table["rows"]:
            cell = column["measured"].get(row)
            paper = column["published"].get(row, "")
            values = [cell[name] for name in fields] if cell else [""] * len(fields)
            marks = " ".join(cell["marks"]) if cell else ""
            errors = " ".join(map(str, cell["errors"])) if cell else ""
            writer.writerow([table["table"], column["name"], column["measure"], row, paper, *values, marks, errors])
    return out.getvalue()


def _latex_row(label: str, cells: list[tuple[str, str]]) -> str:
    return _latex(label) + "".join(f" & {_latex(paper)} & {_latex(ours)}" for paper, ours in cells) + " \\\\"


def _latex(text: str) -> str:
    signs = {"±": "$\\pm$", "–": "--", "†": "$\\dagger$", "‡": "$\\ddagger$", "§": "\\S{}", "¶": "\\P{}", "‖": "$\\|$"}
    return "".join(signs.get(sign, f"\\{sign}" if sign in "%&_#$" else sign) for sign in text)


def _number(value: float | None, digits: int = 1) -> str:
    return "–" if value is None else f"{value:.{digits}f}"
