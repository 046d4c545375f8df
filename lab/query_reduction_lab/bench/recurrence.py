"""The recurrence alone: every implementation, on the same numbers, checked to agree before it is timed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any

from query_reduction.native import library as native
from query_reduction.native.threads import use_threads
from query_reduction_lab.bench.contenders import CONTENDERS, OURS, contender
from query_reduction_lab.bench.problem import TOLERANCE, Size, difference, make_problem, solve
from query_reduction_lab.bench.processes import Entrant, Field
from query_reduction_lab.bench.results import Recurrence, RecurrenceRow
from query_reduction_lab.bench.timing import Effort
from query_reduction_lab.bench.worker import Calls, LeftOutError, thread_counts

__all__ = ["BOTH", "FORWARD", "MODES", "measure_recurrence", "prepare_solver"]

FORWARD, BOTH = "forward", "forward+backward"
MODES = {FORWARD: "forward", BOTH: "both"}
"""What is timed → the method of a solver."""


def measure_recurrence(
    sizes: Sequence[Size], effort: Effort, progress: Callable[[float], None], *, compiled: bool = True
) -> Recurrence:
    """Forward, and forward with backward, at every size, each contender in its own process; nobody is crowded yet."""
    names = [known.name for known in CONTENDERS if compiled or not known.name.startswith("torch.compile")]
    entrants = [Entrant(name, threads) for name in names for threads in thread_counts()]
    rows = []
    with Field("recurrence", entrants, OURS) as field:
        for number, size in enumerate(sizes):
            field.prepare(asdict(size), effort, lambda name, size=size: contender(name).why_not(size))  # type: ignore[misc]
            for place, (mode, call) in enumerate(MODES.items()):
                rows.append(RecurrenceRow(size, mode, field.race(call, effort)))
                progress((number + (place + 1) / len(MODES)) / len(sizes))
    notes = [] if compiled else ["torch.compile is left out of a quick run: compiling takes longer than all the rest"]
    if not native.available():
        notes.append("ours runs without its native library here")
    return Recurrence(tuple(rows), (), tuple(notes))


def prepare_solver(name: str, threads: int, request: dict[str, Any]) -> Calls:
    """In a contender's process: what can be timed at a size, once its results are known to be right."""
    chosen = contender(name)
    _set_threads(threads, own=name.startswith(OURS))
    problem = make_problem(Size(**request))
    solver = chosen.solver(problem)
    off = difference(solver.result(), solve(problem))
    if off > TOLERANCE:
        raise LeftOutError(f"computes something else: off by {off:.1e} of the largest number")
    return {call: getattr(solver, call) for call in MODES.values()}


def _set_threads(threads: int, *, own: bool) -> None:
    """Ours keeps PyTorch's threads out of the way of its own; Numba and JAX read the environment."""
    if own:
        use_threads(threads)
    else:
        import torch

        torch.set_num_threads(threads)
