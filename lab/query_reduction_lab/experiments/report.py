"""A table as the Markdown that is kept in version control."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from query_reduction.files import write_atomically
from query_reduction_lab.experiments.cells import Cell, ColumnResult, ResultTable, Summary
from query_reduction_lab.experiments.report_picture import dots_of, systems_picture

__all__ = ["to_markdown", "write_report"]


def write_report(table: ResultTable, folder: Path) -> list[Path]:
    """Write the table, with a picture if it compares systems; return the files."""
    contents: dict[str, str | bytes] = {"md": to_markdown(table)}
    if dots_of(table):
        contents["svg"] = systems_picture(table)
    for ending, content in contents.items():
        write_atomically(folder / f"{table.name}.{ending}", content)
    return [folder / f"{table.name}.{ending}" for ending in contents]


def _cells(columns: Sequence[ColumnResult], row: str) -> tuple[str, ...]:
    texts: list[str] = []
    for column in columns:
        if column.published:
            texts.append(number_text(column.published.get(row)))
        texts.append(cell_text(column.measured.get(row)))
    return tuple(texts)


def cell_text(cell: Cell | None) -> str:
    """``0.7 (1.2 ± 0.4, 10)†``: the chosen error (mean ± std, number of restarts); ``_legend`` explains it."""
    if cell is None:
        return "–"
    tried = f"{cell.tried} of {cell.planned}" if cell.tried < cell.planned else str(cell.tried)
    count = tried if cell.restarts == cell.tried else f"{cell.restarts}; {tried} tried"
    diverged = f", {cell.diverged} diverged" if cell.diverged else ""
    spread = f"{cell.mean:.1f} ± {cell.std:.1f}, " if cell.restarts > 1 else ""
    return f"{cell.error:.1f} ({spread}{count}{diverged}){''.join(cell.marks)}"


def _summary(table: ResultTable, columns: Sequence[ColumnResult]) -> list[tuple[str, tuple[str, ...]]]:
    rows = []
    for label in table.averages:
        averages: list[str] = []
        failures: list[str] = []
        for column in columns:
            summary = column.summaries[label]
            ours = "–"
            if summary.average is not None:
                ours = f"{summary.average:.1f} ({spread_text(summary)})"
            elif summary.measured:
                ours = f"– [{summary.measured} of {len(summary.rows)} tasks]"
            if column.published:
                averages.append(number_text(summary.published_average))
                failures.append(number_text(summary.published_failed, 0))
            averages.append(ours)
            failures.append(number_text(summary.failed, 0))
        rows.append((label, tuple(averages)))
        if table.counts_failed:
            rows.append((label.replace("average", "failed"), tuple(failures)))
    return rows


def _sizes(columns: Sequence[ColumnResult]) -> list[tuple[str, tuple[str, ...]]]:
    """How large the networks are and how long they trained, as two more rows."""

    def row(values: Sequence[str]) -> tuple[str, ...]:
        return tuple(
            text
            for column, value in zip(columns, values, strict=True)
            for text in (*[""] * bool(column.published), value)
        )

    weights = [f"{column.parameters:,}" if column.parameters else "–" for column in columns]
    minutes = [f"{column.minutes_of_one():.1f}" if column.measured and column.seconds else "–" for column in columns]
    return [
        ("weights, median over tasks", row(weights)),
        ("minutes of training, all its tasks, one restart", row(minutes)),
    ]


def to_markdown(table: ResultTable) -> str:
    """Published and measured side by side."""
    lines = []
    for measure in table.measures:
        columns = [column for column in table.columns if column.measure == measure]
        title = table.title + (f", errors counted {measure}" if len(table.measures) > 1 else "")
        heads: list[str] = []
        for column in columns:
            heads += [f"{column.name} paper", f"{column.name} ours"] if column.published else [column.name]
        lines += [f"### {title}", "", _row("task", heads), "|---|" + "---:|" * len(heads)]
        lines += [_row(row, _cells(columns, row)) for row in table.rows]
        lines += [_row(label, cells) for label, cells in _summary(table, columns)]
        lines += [_row(label, cells) for label, cells in (_sizes(columns) if table.systems else ())]
        lines.append("")
    lines.append(_legend(table))
    lines += [f"\n{note}" for note in _remarks(table)]
    if dots_of(table):
        lines.append(f"\n![Error against training time]({table.name}.svg)")
        lines.append("\nFilled marks: the chosen restarts; open ones: the mean over all restarts.")
    return "\n".join(lines) + "\n"


def _row(label: str, cells: Sequence[str]) -> str:
    return f"| {label} | " + " | ".join(cells) + " |"


def _legend(table: ResultTable) -> str:
    """What the numbers are."""
    columns = _once(table)
    cells = [cell for column in columns for cell in column.measured.values()]
    several = any(len(column.recipes) > 1 for column in columns)
    of_recipe = " of the chosen recipe" if several else ""
    tried = " “3; 6 tried”: six in all recipes of the column together." if several else ""
    so_far = " “1 of 3”: one so far, three are planned." if any(cell.tried < cell.planned for cell in cells) else ""
    failed = " Failed: tasks above 5 %." if table.counts_failed else ""
    best = " (of several, each cell takes the one that does best on its development questions)" if several else ""
    return (
        f"Error in percent. Ours: the chosen restart (mean ± standard deviation over the restarts{of_recipe}, their "
        f"number).{tried}{so_far}{failed} {table.development}. Recipes, and restarts per cell and recipe, fixed in "
        f"advance: {_recipes(columns)}{best}. Published: {table.source}."
    )


def _recipes(columns: Sequence[ColumnResult]) -> str:
    """Which columns have which recipes: those with the same ones together."""
    groups: dict[tuple[tuple[str, ...], int, tuple[str, ...]], list[str]] = {}
    for column in columns:
        groups.setdefault((column.recipes, column.restarts, column.tasks), []).append(column.name)
    return "; ".join(
        f"{', '.join(names)}: {' or '.join(f'`{recipe}`' for recipe in recipes)}, {restarts}"
        + (f" (tasks {', '.join(tasks)} alone)" if tasks else "")
        for (recipes, restarts, tasks), names in groups.items()
    )


def _remarks(table: ResultTable) -> list[str]:
    """The remarks below the table."""
    return [*_given(table), *_totals(table), *_times(table), *_others(table), *table.notes]


def _once(table: ResultTable) -> list[ColumnResult]:
    """Every column once, whatever the number of measures."""
    return [column for column in table.columns if column.measure == table.measures[0]]


def _given(table: ResultTable) -> list[str]:
    """What the columns are given besides training data."""
    groups: dict[str, list[str]] = {}
    for column in _once(table):
        if column.given:
            groups.setdefault(column.given, []).append(column.name)
    if not groups:
        return []
    return ["Given besides the training data: " + "; ".join(f"{', '.join(n)}: {g}" for g, n in groups.items()) + "."]


def _totals(table: ResultTable) -> list[str]:
    """The number of restarts tried, and how many more are stored."""
    columns = [column for column in _once(table) if column.tried]
    if not columns:
        return []
    used = ", ".join(
        f"{column.name} {column.tried}" + (f" of {column.planned}" if column.tried < column.planned else "")
        for column in columns
    )
    told = [f"Restarts tried in all recipes and tasks: {used}; together {sum(column.tried for column in columns)}."]
    unused = ", ".join(f"{column.name} {column.unused}" for column in columns if column.unused)
    if unused:
        told.append(
            "Also stored, but not used here, because there are more than planned or their recipe is no longer in the "
            f"plan: {unused}."
        )
    return told


def _times(table: ResultTable) -> list[str]:
    """How long the trainings took."""
    minutes = {column.name: sum(column.seconds.values()) / 60 for column in _once(table) if column.measured}
    told = ", ".join(f"{name} {time:.0f} min" for name, time in minutes.items())
    if not told:
        return []
    return [
        "Training time of the chosen recipes by the clock, each stack of restarts on one core, which other trainings "
        f"may have shared, summed over tasks: {told}."
    ]


def _others(table: ResultTable) -> list[str]:
    """What the paper reports about other models."""
    told = []
    for name, rows in table.baselines.items():
        failed = f" ({rows['failed']:.0f} failed)" if "failed" in rows else ""
        unseen = f", {rows['average-OOV']:.1f} with names never seen" if "average-OOV" in rows else ""
        told.append(f"{name} {rows['average']:.1f}{unseen}{failed}")
    # The dialog baselines were measured by exact match, as in the papers they come from.
    how = ", by exact match" if table.name == "dialog" else ""
    return [f"Average of other models as the paper prints it{how}: {'; '.join(told)}."] if told else []


def spread_text(summary: Summary) -> str:
    """Mean ± std over restarts; without the latter if a cell has a single restart."""
    return number_text(summary.mean) + ("" if summary.std is None else f" ± {summary.std:.1f}")


def number_text(value: float | None, digits: int = 1) -> str:
    """A number, or a dash where there is none."""
    return "–" if value is None else f"{value:.{digits}f}"
