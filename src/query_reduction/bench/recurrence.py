"""The recurrence alone: every way to compute it, on the same numbers, checked to agree before it is timed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from query_reduction.bench.contenders import Contender, Size, contenders
from query_reduction.bench.timing import Effort, Runner, Timing, race, ratios, spread

__all__ = ["CURVE", "CURVE_QUICK", "SIZES", "SIZES_QUICK", "measure_curve", "measure_recurrence"]

SIZES = (
    Size(32, 50, 50),
    Size(32, 50, 50, "scalar"),
    Size(32, 64, 50),
    Size(32, 256, 64),
    Size(32, 256, 64, "scalar"),
    Size(8, 1024, 64),
    Size(1, 16384, 64),
    Size(1, 1_000_000, 64),
)
"""Gates of their own for every unit are the problem other packages solve; scalar gates are the network's default."""
SIZES_QUICK = (Size(32, 64, 50), Size(32, 256, 64), Size(8, 1024, 64))

_CURVE_STEPS = 16384
CURVE = tuple(Size(max(1, _CURVE_STEPS // 4**k), 4**k, 64) for k in range(2, 11))
"""The same number of steps in ever fewer and longer stories; from 16 384 sentences on, one ever longer story."""
CURVE_QUICK = CURVE[:5]

FORWARD, BOTH = "forward", "forward+backward"
_TOLERANCE = 1e-3
"""Of the largest number; a log-space sum in single precision is no better."""
_LONGEST_JUDGED_BY_LOOP = 300
_SHARE_OF_MEMORY = 0.4
"""A contender may take so much of the memory that is free."""

_Known = dict[tuple[str, str], tuple[Size, float]]
"""Contender and gates → the last size it was timed at, and the seconds of a call."""


class _Problem:
    """One size's numbers, and what the right result is."""

    def __init__(self, size: Size) -> None:
        self.size = size
        generator = torch.Generator().manual_seed(size.time)
        gate = size.dim if size.gates == "vector" else 1
        # Mostly closed, as the network's gates start.
        self.z = torch.sigmoid(torch.randn(size.batch, size.time, gate, generator=generator) - 2.5)
        self.v = torch.randn(size.batch, size.time, size.dim, generator=generator)
        self.gradient = torch.randn(size.batch, size.time, size.dim, generator=generator)
        self.right: list[Tensor] | None = None

    def solve(self, contender: Contender, gates: Tensor, v: Tensor, gradient: Tensor) -> list[Tensor]:
        """States and gradients of z and v, in the order (batch, time, dim)."""
        h = contender.states(gates, v)
        of_gates, of_v = torch.autograd.grad(h, (gates, v), gradient)
        return [
            contender.restore(h.detach()),
            contender.gate_gradient(of_gates, self.z),
            contender.restore(of_v),
        ]

    def difference(self, result: list[Tensor]) -> float:
        """The largest difference from the right result, relative to its largest number."""
        assert self.right is not None
        worst = 0.0
        for mine, right in zip(result, self.right, strict=True):
            error = float((mine - right).abs().max() / right.abs().max())
            worst = max(worst, error if error == error else float("inf"))
        return worst


def measure_recurrence(sizes: Sequence[Size], effort: Effort, *, compiled: bool = True) -> dict[str, Any]:
    """Forward, and forward with backward, at every size."""
    return _measure(sizes, effort, (FORWARD, BOTH), compiled=compiled)


def measure_curve(sizes: Sequence[Size], effort: Effort) -> dict[str, Any]:
    """Forward with backward against the length of the story."""
    return _measure(sizes, effort, (BOTH,), compiled=False)


def _measure(sizes: Sequence[Size], effort: Effort, modes: tuple[str, ...], *, compiled: bool) -> dict[str, Any]:
    field, notes = contenders(compiled=compiled)
    # The base of all ratios comes first: what the package uses here.
    field.sort(key=lambda contender: (contender.name != "fused", contender.name != "associative"))
    known: _Known = {}
    rows = []
    for size in sizes:
        problem = _Problem(size)
        skipped: dict[str, str] = {}
        runners: dict[str, list[Runner]] = {mode: [] for mode in modes}
        if any(contender.compiled for contender in field):
            torch.compiler.reset()
        for contender in _judge_first(field, size):
            why = _too_much(contender, size, known, effort)
            if why is None:
                why = _enter(contender, problem, runners)
            if why is not None:
                skipped[contender.name] = why
        for mode in modes:
            order = {contender.name: place for place, contender in enumerate(field)}
            timings = race(sorted(runners[mode], key=lambda runner: order[runner.name]), effort)
            if mode == BOTH:
                known |= {(timing.name, size.gates): (size, timing.call_seconds) for timing in timings}
            rows.append(_row(size, mode, timings, skipped))
    return {"rows": rows, "notes": notes, "tolerance": _TOLERANCE}


def _judge_first(field: list[Contender], size: Size) -> list[Contender]:
    """The loop is the judge; where it is too slow the first of the field is, judged by the loop at smaller sizes."""
    if size.time > _LONGEST_JUDGED_BY_LOOP:
        return field
    return sorted(field, key=lambda contender: contender.name != "loop")


def _enter(contender: Contender, problem: _Problem, runners: dict[str, list[Runner]]) -> str | None:
    """Check that it computes the same, and let it take part; or say why not."""
    try:
        gates, v = contender.inputs(problem.z, problem.v)
        gradient = contender.arrange(problem.gradient).contiguous()
        result = problem.solve(contender, gates, v, gradient)
    except Exception as error:  # other people's code, of any version, must not end the run
        return f"{type(error).__name__}: {str(error).strip().splitlines()[0] if str(error).strip() else ''}"
    if problem.right is None:
        problem.right = result
    difference = problem.difference(result)
    if difference > _TOLERANCE:
        return f"computes something else: off by {difference:.1e} of the largest number"
    for mode in runners:
        call = _forward(contender, gates, v) if mode == FORWARD else _both(contender, gates, v, gradient)
        runners[mode].append(Runner(contender.name, call))
    return None


def _forward(contender: Contender, gates: Tensor, v: Tensor) -> Callable[[], object]:
    def call() -> object:
        with torch.no_grad():
            return contender.states(gates, v)

    return call


def _both(contender: Contender, gates: Tensor, v: Tensor, gradient: Tensor) -> Callable[[], object]:
    return lambda: torch.autograd.grad(contender.states(gates, v), (gates, v), gradient)


def _too_much(contender: Contender, size: Size, known: _Known, effort: Effort) -> str | None:
    """Why a contender is not even tried at this size, if so."""
    needed, free = contender.peak_bytes(size), _free_memory() * _SHARE_OF_MEMORY
    if needed > free:
        return f"needs about {needed / 2**30:.1f} GiB of memory"
    if (contender.name, size.gates) in known:
        before, seconds = known[contender.name, size.gates]
        expected = seconds * size.numbers / before.numbers * (size.time / before.time) ** (contender.growth - 1)
        if expected > effort.slowest_call:
            return f"would take about {expected:.0f} s a call"
    return None


def _free_memory() -> float:
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable"):
                return float(line.split()[1]) * 1024
    except OSError:
        pass
    return 4.0 * 2**30


def _row(size: Size, mode: str, timings: list[Timing], skipped: dict[str, str]) -> dict[str, Any]:
    base = timings[0] if timings else None
    return {
        "batch": size.batch,
        "time": size.time,
        "dim": size.dim,
        "gates": size.gates,
        "mode": mode,
        "base": base.name if base else None,
        "contenders": [
            {
                "name": timing.name,
                "threads": timing.threads,
                "rounds": len(timing.seconds),
                "seconds": spread(timing.seconds).as_json(),
                "ratio": ratios(timing, base).as_json(),
            }
            for timing in timings
            if base
        ],
        "skipped": skipped,
    }
