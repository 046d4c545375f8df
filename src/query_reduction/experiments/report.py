"""A table as Markdown, LaTeX and CSV; ``report_html`` makes the page."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from query_reduction.files import write_atomically

__all__ = [
    "Section",
    "cell_text",
    "legend",
    "remarks",
    "sections",
    "to_csv",
    "to_latex",
    "to_markdown",
    "write_reports",
]


def write_reports(table: dict[str, Any], folder: Path) -> list[Path]:
    """Write the table in every form; return the files."""
    from query_reduction.experiments.report_html import to_html

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


@dataclass(frozen=True, slots=True)
class Section:
    """The columns of one measure as texts; every report lays these out."""

    title: str
    heads: list[str]
    below: list[str]
    """What stands under each head: paper and ours, or only ours where the paper has no such numbers."""
    body: list[tuple[str, list[str]]]
    summary: list[tuple[str, list[str]]]


def sections(table: dict[str, Any]) -> list[Section]:
    """A section for every measure."""
    measures = list(dict.fromkeys(column["measure"] for column in table["columns"]))
    found = []
    for measure in measures:
        columns = [column for column in table["columns"] if column["measure"] == measure]
        paper = any(column["published"] for column in columns)
        below = ["paper", "ours"] if paper else ["ours"]
        title = table["title"] + (f", errors counted {measure}" if len(measures) > 1 else "")
        names = [column["name"] for column in columns]
        found.append(Section(title, names, below, _body(table, columns, below), _summary(table, columns, below)))
    return found


def cell_text(cell: dict[str, Any] | None) -> str:
    """``0.7 (1.2 ± 0.4, 10)†``: chosen on development; mean ± std over so many restarts."""
    if cell is None:
        return "–"
    diverged = f", {cell['diverged']} diverged" if cell["diverged"] else ""
    spread = f"{cell['mean']:.1f} ± {cell['std']:.1f}, {cell['restarts']}{diverged}"
    return f"{cell['error']:.1f} ({spread}){''.join(cell['marks'])}"


def _body(table: dict[str, Any], columns: list[dict[str, Any]], below: list[str]) -> list[tuple[str, list[str]]]:
    rows = []
    for row in table["rows"]:
        pairs = [(_number(column["published"].get(row)), cell_text(column["measured"].get(row))) for column in columns]
        rows.append((row, _flat(pairs, below)))
    return rows


def _summary(table: dict[str, Any], columns: list[dict[str, Any]], below: list[str]) -> list[tuple[str, list[str]]]:
    rows = []
    for label in table["averages"]:
        averages, failures = [], []
        for column in columns:
            summary = column["summaries"][label]
            of = "" if summary["complete"] or not summary["rows"] else f" [{len(summary['rows'])} tasks]"
            ours, failed = "–", "–"
            if summary["rows"]:
                ours = f"{summary['average']:.1f} ({summary['mean']:.1f} ± {summary['std']:.1f}){of}"
                failed = f"{summary['failed']}{of}"
            averages.append((_number(summary["published_average"]), ours))
            failures.append((_number(summary["published_failed"], 0), failed))
        rows.append((label, _flat(averages, below)))
        if table["counts_failed"]:
            rows.append((label.replace("average", "failed"), _flat(failures, below)))
    return rows


def _flat(pairs: list[tuple[str, str]], below: list[str]) -> list[str]:
    return [text for pair in pairs for text in pair[-len(below) :]]


def to_markdown(table: dict[str, Any]) -> str:
    """Published and measured side by side."""
    lines = []
    for section in sections(table):
        heads = [
            f"{head} {kind}" if len(section.below) > 1 else head for head in section.heads for kind in section.below
        ]
        lines += [f"### {section.title}", "", _markdown_row("task", heads), "|---|" + "---:|" * len(heads)]
        lines += [_markdown_row(label, cells) for label, cells in (*section.body, *section.summary)]
        lines.append("")
    lines.append(legend(table))
    lines += [f"\n{note}" for note in remarks(table)]
    return "\n".join(lines) + "\n"


def _markdown_row(label: str, cells: list[str]) -> str:
    return f"| {label} | " + " | ".join(cells) + " |"


def legend(table: dict[str, Any]) -> str:
    """What the numbers are."""
    failed = "; failed: tasks above 5 %" if table["counts_failed"] else ""
    others = {
        column["name"]: " or ".join(f"`{preset}`" for preset in column["presets"])
        for column in table["columns"]
        if column["presets"] != [table["preset"]]
    }
    several = ""
    if any(len(column["presets"]) > 1 for column in table["columns"]):
        several = " (of several, the one that does best on a task's development questions)"
    recipe = "; ".join([f"`{table['preset']}`", *(f"{name} {presets}" for name, presets in others.items())])
    return (
        "Error in percent. Ours: the restart chosen on development questions (mean ± standard deviation over the "
        f"restarts, their number){failed}. Recipe: {recipe}{several}. Paper: {table['source']}."
    )


def remarks(table: dict[str, Any]) -> list[str]:
    """What is to be said below the table."""
    return [*_times(table), *_others(table), *table["notes"]]


def _times(table: dict[str, Any]) -> list[str]:
    """How long the trainings took."""
    minutes = {column["name"]: column["seconds"] / 60 for column in table["columns"] if column["measured"]}
    told = ", ".join(f"{name} {time:.0f} min" for name, time in minutes.items())
    return [f"Training took, the longest stack of every task added up, each on one core: {told}."] if told else []


def _others(table: dict[str, Any]) -> list[str]:
    """What the paper says of other models."""
    told = []
    for name, rows in table["baselines"].items():
        failed = f" ({rows['failed']:.0f} failed)" if "failed" in rows else ""
        unseen = f", {rows['average-OOV']:.1f} with names never seen" if "average-OOV" in rows else ""
        told.append(f"{name} {rows['average']:.1f}{unseen}{failed}")
    # The dialog baselines were counted by exact match, as the papers they come from do.
    how = ", by exact match" if table["table"] == "dialog" else ""
    return [f"Average of other models as the paper prints it{how}: {'; '.join(told)}."] if told else []


def to_latex(table: dict[str, Any]) -> str:
    """A booktabs table for every measure."""
    lines = []
    for section in sections(table):
        width = len(section.below)
        heads = "".join(f" & \\multicolumn{{{width}}}{{c}}{{{_latex(head)}}}" for head in section.heads)
        lines += [
            f"% {section.title}: made by qrn reproduce {table['table']}",
            f"\\begin{{tabular}}{{l{'r' * width * len(section.heads)}}}",
            "\\toprule",
            f"task{heads} \\\\",
            "".join(f" & {kind}" for _ in section.heads for kind in section.below) + " \\\\",
            "\\midrule",
            *(_latex_row(label, cells) for label, cells in section.body),
            "\\midrule",
            *(_latex_row(label, cells) for label, cells in section.summary),
            "\\bottomrule",
            "\\end{tabular}",
        ]
    lines += [f"% {text}" for text in (legend(table), *remarks(table))]
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


def _latex_row(label: str, cells: list[str]) -> str:
    return " & ".join(map(_latex, (label, *cells))) + " \\\\"


def _latex(text: str) -> str:
    signs = {"±": "$\\pm$", "–": "--", "†": "$\\dagger$", "‡": "$\\ddagger$", "§": "\\S{}", "¶": "\\P{}", "‖": "$\\|$"}
    return "".join(signs.get(sign, f"\\{sign}" if sign in "%&_#$" else sign) for sign in text)


def _number(value: float | None, digits: int = 1) -> str:
    return "–" if value is None else f"{value:.{digits}f}"
