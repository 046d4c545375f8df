"""The figures of a run as tables for the terminal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rich.table import Table
from rich.text import Text

__all__ = ["duration", "short_count", "tables"]

_Cells = list[str]


def tables(run: dict[str, Any]) -> Iterator[Table]:
    """One table a part, the bars last."""
    makers = {
        "recurrence": _recurrence,
        "curve": _curve,
        "step": _step,
        "limits": _limits,
        "memory": _memory,
        "scaling": _scaling,
        "build": _build,
    }
    for name, section in run["sections"].items():
        yield makers[name](section)
    if run["bars"]:
        yield _bars(run["bars"], quick=run["quick"])


def duration(seconds: float) -> str:
    """Three digits in the unit that suits."""
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-6:.3g} µs"


def short_count(number: int) -> str:
    """65536 as 64k: lengths of stories are powers of two where this is used."""
    for letter, size in (("M", 2**20), ("k", 2**10)):
        if number >= size and number % size == 0:
            return f"{number // size}{letter}"
    return str(number)


def _table(title: str, columns: _Cells, rows: list[_Cells], notes: list[str] | None = None) -> Table:
    table = Table(title=title, title_justify="left", header_style="bold", caption_justify="left")
    for number, column in enumerate(columns):
        table.add_column(column, justify="left" if number == 0 else "right")
    for row in rows:
        table.add_row(*map(Text, row))
    if notes:
        table.caption = Text("\n".join(notes))
    return table


def _ratio(ratio: dict[str, float]) -> str:
    return f"{ratio['median']:.3g} ({ratio['lower']:.3g}–{ratio['upper']:.3g})"


def _size(row: dict[str, Any]) -> str:
    return f"{row['batch']}, {row['time']}, {row['dim']} {row['gates']}"


def _recurrence(section: dict[str, Any]) -> Table:
    rows, notes = [], list(section["notes"])
    for row in section["rows"]:
        for place, contender in enumerate(row["contenders"]):
            rows.append(
                [
                    f"{_size(row)}, {row['mode']}" if place == 0 else "",
                    contender["name"],
                    duration(contender["seconds"]["median"]),
                    _ratio(contender["ratio"]),
                    str(contender["threads"]),
                ]
            )
        if row["mode"] == "forward":
            notes += [f"{_size(row)}: {name} left out: {why}" for name, why in row["skipped"].items()]
    title = "The recurrence alone (batch, time, dim, gates); times longer than the first: median (quartiles)"
    return _table(title, ["size", "computed by", "time", "times", "threads"], rows, notes)


def _curve(section: dict[str, Any]) -> Table:
    speeds: dict[str, dict[int, str]] = {}
    for row in section["rows"]:
        for contender in row["contenders"]:
            speed = row["batch"] * row["time"] / contender["seconds"]["median"]
            speeds.setdefault(contender["name"], {})[row["time"]] = f"{speed / 1e6:.3g}"
    lengths = [row["time"] for row in section["rows"]]
    rows = [[name, *(found.get(length, "–") for length in lengths)] for name, found in speeds.items()]
    title = "Million sentences a second against the length of a story; forward and backward, 64 units, vector gates"
    return _table(title, ["computed by", *map(short_count, lengths)], rows, section["notes"])


def _step(section: dict[str, Any]) -> Table:
    rows = []
    for row in section["rows"]:
        for place, contender in enumerate(row["contenders"]):
            rows.append(
                [
                    f"{row['variant']}, batch {row['batch']}, {row['time']} sentences" if place == 0 else "",
                    contender["name"],
                    duration(contender["seconds"]["median"]),
                    _ratio(contender["ratio"]),
                    _ratio(contender["ratio_to_one"]),
                    str(contender["threads"]),
                ]
            )
    columns = ["network", "trained by", "per model", "times ours stacked", "times ours, one", "threads"]
    return _table("A whole training step", columns, rows, section["notes"])


def _limits(section: dict[str, Any]) -> Table:
    gemm = section["gemm"]
    rows = [[f"matrix product {gemm['size']}", f"{gemm['best'] / 1e9:.4g} Gflop/s at best", "100 %"]]
    for row in section["steps"]:
        share = {name: 100 * value for name, value in row["share"].items()}
        rows.append([f"step of {row['name']}", f"{row['rate'] / 1e9:.4g} Gflop/s", f"{_ratio(share)} %"])
    for row in section["memory"]["rows"]:
        rows.append([row["name"], f"{row['best'] / 1e9:.3g} GB/s at best", ""])
    rows[-1][-1] = f"{100 * section['memory']['scan_share_of_best']:.3g} %"
    columns = ["what", "rate", "share of the limit"]
    return _table("Share of this machine's limits", columns, rows, [f"counted: {section['formula']}"])


def _memory(section: dict[str, Any]) -> Table:
    rows = [
        [
            f"{row['time']:,}".replace(",", " "),
            duration(row["seconds"]),
            f"{100 * row['seconds_deviation']:+.1f} %",
            f"{row['bytes'] / 2**20:.4g} MiB",
            f"{100 * row['bytes_deviation']:+.1f} %",
        ]
        for row in section["rows"]
    ]
    title = f"One story read forward and backward by {section['variant']}, in a fresh process"
    note = (
        f"a sentence costs {duration(section['seconds']['per_sentence'])} and "
        f"{section['bytes']['per_sentence']:.0f} bytes, all sentences different"
    )
    return _table(title, ["sentences", "time", "off the line", "memory", "off the line"], rows, [note])


def _scaling(section: dict[str, Any]) -> Table:
    rows = [
        [f"{row['variant']}, {row['restarts']} at once: {row['threads']} threads against 1", _ratio(row["speedup"])]
        for row in section["threads"]
    ]
    rows += [
        [f"{row['variant']}: {row['restarts']} restarts together against one after another", _ratio(row["speedup"])]
        for row in section["restarts"]
    ]
    rows += [
        [
            f"{row['variant']}, {row['restarts']} at once: a step with nothing to read",
            duration(row["seconds"]["median"]),
        ]
        for row in section["overhead"]
    ]
    return _table("Scaling", ["what", "times faster, or time"], rows, section["notes"])


def _build(section: dict[str, Any]) -> Table:
    seconds = section["seconds"]
    cells = [["native library, from source", "–" if seconds is None else duration(seconds)]]
    return _table("Build", ["what", "time"], cells, section["notes"])


def _bars(bars: list[dict[str, Any]], *, quick: bool) -> Table:
    rows = [
        [bar["what"], bar["bar"], f"{bar['measured']:.3g} {bar['unit']}", "met" if bar["met"] else "not met"]
        for bar in bars
    ]
    title = "What had to be reached" + (" (a quick run is only a hint)" if quick else "")
    return _table(title, ["what", "bar", "measured", ""], rows)
