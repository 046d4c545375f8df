"""The figures as tables, for the terminal and as Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import rich.table
from rich.text import Text

from query_reduction_lab.bench.recurrence import MODES
from query_reduction_lab.bench.results import (
    Limits,
    LongStories,
    Race,
    Recurrence,
    RecurrenceRow,
    Scaling,
    Spread,
    Step,
    StepRow,
    ratios,
)

__all__ = ["TextTable", "duration", "part_tables", "shown_ratio", "to_markdown", "to_rich"]

_Cells = tuple[str, ...]
_PEER_COLUMNS = ("threads", "ours", "fastest peer", "its time", "times ours: median (quartiles)")
_TWO_THREADS = "A peer that is faster with one thread than with two is given its one thread in the rows of two threads."


@dataclass(frozen=True, slots=True)
class TextTable:
    """Texts in columns."""

    title: str
    columns: _Cells
    rows: tuple[_Cells, ...]
    notes: tuple[str, ...] = ()


def to_rich(table: TextTable) -> rich.table.Table:
    """For the terminal."""
    shown = rich.table.Table(title=table.title, title_justify="left", header_style="bold", caption_justify="left")
    for number, column in enumerate(table.columns):
        shown.add_column(column, justify="left" if number == 0 else "right")
    for row in table.rows:
        shown.add_row(*map(Text, row))
    if table.notes:
        shown.caption = Text("\n".join(table.notes))
    return shown


def to_markdown(table: TextTable) -> str:
    """For a file."""
    lines = [f"### {table.title}", "", f"| {' | '.join(table.columns)} |"]
    lines.append("|---|" + "---:|" * (len(table.columns) - 1))
    lines += [f"| {' | '.join(row)} |" for row in table.rows]
    return "\n".join([*lines, *(f"\n{note}" for note in table.notes)]) + "\n"


def duration(seconds: float) -> str:
    """Three digits in a suitable unit."""
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-6:.3g} µs"


def shown_ratio(ratio: Spread) -> str:
    """Median and quartiles."""
    return f"{_digits(ratio.median)} ({_digits(ratio.lower)}–{_digits(ratio.upper)})"


def _digits(number: float) -> str:
    """Three significant digits, or all before the point."""
    return f"{number:.0f}" if abs(number) >= 1000 else f"{number:.3g}"


def part_tables(part: Recurrence | Step | Scaling | Limits | LongStories) -> list[TextTable]:
    """The tables of a part, the most important first."""
    if isinstance(part, Recurrence):
        return _recurrence(part)
    if isinstance(part, Step):
        return _step(part)
    if isinstance(part, Scaling):
        return [_scaling(part)]
    if isinstance(part, Limits):
        return [_limits(part)]
    return [_long_stories(part)]


def _against_fastest(race: Race, first: _Cells) -> list[_Cells]:
    rows = []
    for threads in race.thread_counts:
        own, peers = race.own(threads), race.peers(threads)
        if own is None or not peers:
            continue
        best = peers[0]
        name = best.contender if best.threads == threads else f"{best.contender} (one thread)"
        rows.append(
            (
                *first,
                str(threads),
                duration(own.typical),
                name,
                duration(best.typical),
                shown_ratio(ratios(best, own)),
            )
        )
    return rows


def _every_contender(title: str, heads: Sequence[str], races: Sequence[Race], threads: int) -> TextTable:
    """One row per contender, one column per race: its time, and the ratio to ours with as many threads."""
    names = list(dict.fromkeys(samples.contender for race in races for samples in race.samples))
    rows = []
    for name in names:
        cells = [name]
        for race in races:
            own, samples = race.own(threads), race.of(name, threads)
            measured = samples is not None and own is not None
            cells.append(f"{duration(samples.typical)}, {_digits(ratios(samples, own).median)} ×" if measured else "–")  # type: ignore[union-attr,arg-type]
        rows.append(tuple(cells))
    return TextTable(title, ("computed by", *heads), tuple(rows))


def _left_out(named_races: Sequence[tuple[str, Race]]) -> tuple[str, ...]:
    """Who is missing where, reason by reason."""
    reasons: dict[str, dict[str, list[str]]] = {}
    for place, race in named_races:
        for absent in race.left_out:
            reasons.setdefault(absent.why, {}).setdefault(absent.contender, []).append(place)
    return tuple(
        f"Left out ({why}): "
        + "; ".join(f"{name} at {', '.join(dict.fromkeys(at))}" for name, at in where.items())
        + "."
        for why, where in reasons.items()
    )


def _slept(races: Sequence[Race]) -> str:
    most = max((race.idle_share for race in races), default=0.0)
    return f"While one process was timed, each of the others used {100 * most:.2g} % of a core at most, on average."


def _recurrence(part: Recurrence) -> list[TextTable]:
    headline = [cells for row in part.rows for cells in _against_fastest(row.race, (f"{row.size}, {row.mode}",))]
    races = [row.race for row in part.rows]
    notes = (_TWO_THREADS, _slept(races), *_left_out([(str(row.size), row.race) for row in part.rows]), *part.notes)
    tables = [
        TextTable(
            "The recurrence alone (batch, time, units), against the fastest peer",
            ("size, what", *_PEER_COLUMNS),
            tuple(headline),
            notes,
        )
    ]
    if part.crowded:
        tables.append(_crowded(part.crowded))
    for mode in MODES:
        rows: list[RecurrenceRow] = [row for row in part.rows if row.mode == mode]
        for threads in _thread_counts([row.race for row in rows]):
            title = f"All contenders, {mode}, threads: {threads}; time, times ours"
            tables.append(_every_contender(title, [str(row.size) for row in rows], [row.race for row in rows], threads))
    return tables


def _crowded(rows: Sequence[RecurrenceRow]) -> TextTable:
    cells = [cells for row in rows for cells in _against_fastest(row.race, (f"{row.size}, {row.mode}",))]
    title = "The recurrence in one process with the thread pools of all others, one call of each in turn"
    notes = _left_out([(f"{row.size}, {row.mode}", row.race) for row in rows])
    return TextTable(title, ("size, what", *_PEER_COLUMNS), tuple(cells), notes)


def _step_name(row: StepRow) -> str:
    return f"{row.variant}, {'one model' if row.restarts == 1 else f'{row.restarts} stacked'}"


def _step(part: Step) -> list[TextTable]:
    headline = [cells for row in part.rows for cells in _against_fastest(row.race, (_step_name(row),))]
    races = [row.race for row in part.rows]
    shape = f"batch {part.rows[0].batch}, {part.rows[0].sentences} sentences" if part.rows else ""
    tables = [
        TextTable(
            f"A whole training step ({shape}), per model, against the fastest peer: single/single, stacked/stacked",
            ("network", *_PEER_COLUMNS),
            tuple(headline),
            (_TWO_THREADS, _slept(races), *_left_out([(_step_name(row), row.race) for row in part.rows]), *part.notes),
        )
    ]
    for threads in _thread_counts(races):
        title = f"All contenders, training step, threads: {threads}; time per model, times ours"
        tables.append(_every_contender(title, [_step_name(row) for row in part.rows], races, threads))
    return tables


def _thread_counts(races: Sequence[Race]) -> list[int]:
    return sorted({threads for race in races for threads in race.thread_counts})


def _limits(part: Limits) -> TextTable:
    size = f"{part.product_size} × {part.product_size}"
    rows = [
        (
            f"matrix product {size}, threads: {part.product_threads}",
            f"{part.product_rate.median / 1e9:.4g} Gflop/s",
            "100 %",
        )
    ]
    for row in part.steps:
        share = Spread(100 * row.share.median, 100 * row.share.lower, 100 * row.share.upper)
        name = f"step of {row.variant}, {row.restarts} together, batch {row.batch}, threads: {row.threads}"
        rows.append((name, f"{row.rate / 1e9:.4g} Gflop/s", f"{shown_ratio(share)} %"))
    rows += [(row.name, f"{row.best / 1e9:.3g} GB/s at best", "") for row in part.bandwidth]
    rows[-1] = (*rows[-1][:2], f"{100 * part.scan_share:.3g} %")
    columns = ("what", "rate", "share of the limit")
    return TextTable("Share of this machine's limits", columns, tuple(rows), (f"Counted: {part.formula}.", *part.notes))


def _long_stories(part: LongStories) -> TextTable:
    rows = [
        (
            f"{row.sentences:,}".replace(",", " "),
            duration(row.seconds),
            f"{100 * row.seconds_off:+.1f} %",
            f"{row.bytes / 2**20:.4g} MiB",
            f"{100 * row.bytes_off:+.1f} %",
        )
        for row in part.rows
    ]
    note = (
        f"A sentence costs {duration(part.seconds_per_sentence)} and {part.bytes_per_sentence:.0f} bytes, all "
        f"sentences different; threads: {part.threads}, rounds: {part.rounds}."
    )
    title = f"One story read forward and backward by {part.variant}, in a fresh process"
    return TextTable(
        title, ("sentences", "time", "off the line", "memory", "off the line"), tuple(rows), (note, *part.notes)
    )


def _scaling(part: Scaling) -> TextTable:
    rows = [
        (f"{row.variant}, {row.restarts} together: {row.threads} threads against 1", shown_ratio(row.speedup))
        for row in part.threads
    ]
    rows += [
        (f"{row.variant}: {row.restarts} restarts together against one after another", shown_ratio(row.speedup))
        for row in part.restarts
    ]
    rows += [
        (f"{row.variant}, {row.restarts} together: a step with nothing to read", duration(row.seconds.median))
        for row in part.overhead
    ]
    return TextTable("Scaling", ("what", "times faster, or time"), tuple(rows), part.notes)
