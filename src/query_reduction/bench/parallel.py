"""How much faster it is to compute all times at once: the paper's ratio beside ours, on this machine's processor."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from query_reduction.bench.step import STACKED, measure_steps
from query_reduction.bench.timing import FULL, QUICK
from query_reduction.experiments.published import published
from query_reduction.files import write_atomically
from query_reduction.provenance import provenance

__all__ = ["measure_speed", "speed_markdown", "write_speed"]

_SEQUENTIAL = "per-step loop"
_WAYS = {
    "matrix form": "the paper's matrix form",
    f"matrix form, {STACKED} restarts stacked": f"the matrix form, {STACKED} restarts together",
    "ours, one": "our fused reader",
    f"ours, {STACKED} restarts stacked": f"our fused reader, {STACKED} restarts together",
}


def measure_speed(variants: tuple[str, ...] = ("2r", "6r200"), *, quick: bool = False) -> dict[str, Any]:
    """Time of a training step with the recurrence as a loop over time, divided by that of each other way."""
    rows = []
    measured = measure_steps(variants, QUICK if quick else FULL)
    for row in measured["rows"]:
        seconds = {entry["name"]: entry["seconds"]["median"] for entry in row["contenders"]}
        ratios = {_WAYS[name]: round(seconds[_SEQUENTIAL] / seconds[name], 2) for name in _WAYS if name in seconds}
        rows.append(
            {key: row[key] for key in ("variant", "batch", "time")}
            | {"sequential_seconds": seconds[_SEQUENTIAL], "times_faster": ratios}
        )
    return {
        "table": "speed",
        "title": "A training step: sequential against parallel",
        "published": published().parallel_speedup,
        "rows": rows,
        "notes": measured["notes"],
        **provenance(),
    }


def speed_markdown(speed: dict[str, Any]) -> str:
    """For a person."""
    lines = [f"### {speed['title']}", "", "| network, batch × sentences | way | times faster than the loop over time |"]
    lines += ["|---|---|---:|", f"| paper, on average | matrix form, one Titan X | {speed['published']} |"]
    for row in speed["rows"]:
        name = f"{row['variant']}, {row['batch']} × {row['time']}"
        lines += [f"| {name} | {way} | {ratio} |" for way, ratio in row["times_faster"].items()]
    machine = speed["machine"]
    lines += ["", f"Per model, medians; {machine['processor']}, {machine['cores']} cores, torch {machine['torch']}."]
    lines += [f"\n{note}" for note in speed["notes"]]
    return "\n".join(lines) + "\n"


def write_speed(speed: dict[str, Any], folder: Path) -> list[Path]:
    """Write it; return the files."""
    contents = {"speed.json": json.dumps(speed, indent=1) + "\n", "speed.md": speed_markdown(speed)}
    for name, content in contents.items():
        write_atomically(folder / name, content)
    return [folder / name for name in contents]
