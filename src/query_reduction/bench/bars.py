"""What the engine has to reach, and whether a run shows it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from query_reduction.bench.recurrence import BOTH
from query_reduction.errors import InputError
from query_reduction.experiments.store import ResultStore

__all__ = ["column_minutes", "judge"]

_JUDGED_SIZES = {(32, 64, 50), (32, 256, 64), (8, 1024, 64)}
_SCAN_BARS = {"loop": 30.0, "mambapy pscan": 5.0}
_STEP_BARS = {"per-step loop": 25.0, "matrix form": 13.0, "nn.GRU": 15.0, "nn.LSTM": 12.0}
_TASKS, _RESTARTS = 20, 10


def judge(sections: dict[str, Any], results: Path | None = None) -> list[dict[str, Any]]:
    """Every bar the run has figures for: what, bar, measured, met."""
    bars = [
        *_recurrence(sections.get("recurrence")),
        *_step(sections.get("step")),
        *_scaling(sections.get("scaling")),
        *_limits(sections.get("limits")),
        *_memory(sections.get("memory")),
    ]
    minutes = column_minutes(results) if results is not None else None
    if minutes is not None:
        bars.append(_at_most("20 tasks × 10 restarts of 2r at 1k, time of the stored trials", 12, minutes, "min"))
    build = sections.get("build", {}).get("seconds")
    if build is not None:
        bars.append(_at_most("building the native library from source", 60, build, "s"))
    return bars


def _at_least(what: str, bar: float, measured: float, unit: str) -> dict[str, Any]:
    return {"what": what, "bar": f"≥ {bar:g} {unit}", "measured": measured, "unit": unit, "met": measured >= bar}


def _at_most(what: str, bar: float, measured: float, unit: str) -> dict[str, Any]:
    return {"what": what, "bar": f"≤ {bar:g} {unit}", "measured": measured, "unit": unit, "met": measured <= bar}


def _recurrence(section: dict[str, Any] | None) -> Iterator[dict[str, Any]]:
    for row in section["rows"] if section else ():
        size = (row["batch"], row["time"], row["dim"])
        judged = size in _JUDGED_SIZES and row["gates"] == "vector" and row["mode"] == BOTH and row["base"] == "fused"
        for contender in row["contenders"] if judged else ():
            if contender["name"] in _SCAN_BARS:
                what = f"fused scan, forward and backward, {size} against {contender['name']}"
                yield _at_least(what, _SCAN_BARS[contender["name"]], contender["ratio"]["median"], "×")


def _step(section: dict[str, Any] | None) -> Iterator[dict[str, Any]]:
    for row in section["rows"] if section else ():
        for contender in row["contenders"] if row["variant"] == "2r" else ():
            if contender["name"] in _STEP_BARS:
                what = f"2r step, stacked, per model, against {contender['name']}"
                yield _at_least(what, _STEP_BARS[contender["name"]], contender["ratio"]["median"], "×")


def _scaling(section: dict[str, Any] | None) -> Iterator[dict[str, Any]]:
    for row in section["restarts"] if section else ():
        if row["variant"] == "2r":
            yield _at_least("ten restarts of 2r together against one after another", 1.8, row["speedup"]["median"], "×")
    for row in section["threads"] if section else ():
        if row["threads"] > 1:
            what = f"{row['variant']}, {row['restarts']} at once: {row['threads']} threads against 1, never slower"
            yield _at_least(what, 1.0, row["speedup"]["median"], "×")


def _limits(section: dict[str, Any] | None) -> Iterator[dict[str, Any]]:
    for row in section["steps"] if section else ():
        yield _at_least(f"{row['name']}: share of the fastest matrix product", 50, 100 * row["share"]["median"], "%")


def _memory(section: dict[str, Any] | None) -> Iterator[dict[str, Any]]:
    if section and len(section["rows"]) > 2:
        lengths = [row["time"] for row in section["rows"]]
        span = f"{lengths[0]:,} to {lengths[-1]:,} sentences".replace(",", " ")
        for name, what in (("seconds", "time"), ("bytes", "memory")):
            off = 100 * section[name]["largest_deviation"]
            yield _at_most(f"{what} of reading {span}, off a straight line", 15, off, "%")


def column_minutes(results: Path) -> float | None:
    """Minutes that the stored trials of the whole 2r column took, shared over their machine's cores."""
    longest: dict[str, float] = {}
    cores = 1
    try:
        for stored in ResultStore(results / "store").settings("qa-1k", "2r"):
            for origin, found in stored.groups():
                if len(found) >= _RESTARTS:
                    # Restarts of a stack share its clock: the last to end tells the time of all.
                    seconds = max(found[restart].result.seconds for restart in list(found)[:_RESTARTS])
                    longest[stored.setting.task] = seconds
                    cores = origin.machine.cores
                    break
    except InputError:
        return None
    return sum(longest.values()) / cores / 60 if len(longest) == _TASKS else None
