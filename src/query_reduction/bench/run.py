"""Run the chosen parts of the benchmark and put the figures together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal

from query_reduction.bench.bars import judge
from query_reduction.bench.timing import FULL, QUICK
from query_reduction.native import library as native
from query_reduction.provenance import provenance

__all__ = ["SECTIONS", "Section", "run_bench"]

Section = Literal["recurrence", "curve", "step", "limits", "memory", "scaling", "build"]

_ROUNDS_OF_PROCESSES = 3


def _recurrence(quick: bool) -> dict[str, Any]:
    from query_reduction.bench.recurrence import SIZES, SIZES_QUICK, measure_recurrence

    return measure_recurrence(SIZES_QUICK if quick else SIZES, QUICK if quick else FULL, compiled=not quick)


def _curve(quick: bool) -> dict[str, Any]:
    from query_reduction.bench.recurrence import CURVE, CURVE_QUICK, measure_curve

    return measure_curve(CURVE_QUICK if quick else CURVE, QUICK if quick else FULL)


def _step(quick: bool) -> dict[str, Any]:
    from query_reduction.bench.step import VARIANTS, measure_steps

    return measure_steps(VARIANTS, QUICK if quick else FULL)


def _limits(quick: bool) -> dict[str, Any]:
    from query_reduction.bench.limits import measure_limits

    return measure_limits(QUICK if quick else FULL)


def _memory(quick: bool) -> dict[str, Any]:
    from query_reduction.bench.long_stories import LENGTHS, LENGTHS_QUICK, measure_long_stories

    return measure_long_stories(LENGTHS_QUICK if quick else LENGTHS, 1 if quick else _ROUNDS_OF_PROCESSES)


def _scaling(quick: bool) -> dict[str, Any]:
    from query_reduction.bench.scaling import measure_scaling

    return measure_scaling(QUICK if quick else FULL)


def _build(quick: bool) -> dict[str, Any]:
    from query_reduction.bench.build import measure_build

    return measure_build()


SECTIONS: dict[Section, tuple[str, Callable[[bool], dict[str, Any]]]] = {
    "recurrence": ("the recurrence alone, against other ways to compute it", _recurrence),
    "curve": ("the recurrence against the length of the story", _curve),
    "step": ("a whole training step", _step),
    "limits": ("share of this machine's limits", _limits),
    "memory": ("time and memory against the length of the story", _memory),
    "scaling": ("threads, restarts, overhead", _scaling),
    "build": ("building the native library", _build),
}
"""Part → what it shows, and how to measure it, quickly or in full."""


def run_bench(
    chosen: Sequence[Section],
    *,
    quick: bool,
    results: Path,
    started: Callable[[str], None] = lambda what: None,
) -> dict[str, Any]:
    """Measure the chosen parts (all, if none is named), in their fixed order; ``started`` hears what begins."""
    found: dict[str, Any] = {}
    for name, (what, measure) in SECTIONS.items():
        if not chosen or name in chosen:
            started(what)
            found[name] = measure(quick)
    return {
        "format": 1,
        "provenance": provenance(),
        "native": native.variant() if native.available() else None,
        "quick": quick,
        "sections": found,
        "bars": judge(found, results),
    }
