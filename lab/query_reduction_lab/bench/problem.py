"""The recurrence as a problem to solve: its inputs, and the correct result in double precision."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["FULL_SIZES", "TOLERANCE", "Array", "Problem", "Result", "Size", "difference", "make_problem", "solve"]

Array = NDArray[np.floating[Any]]

TOLERANCE = 1e-3
"""Relative to the largest number; a sum of logarithms in single precision is no better."""


@dataclass(frozen=True, slots=True)
class Size:
    """The shape of a recurrence with one gate per unit."""

    batch: int
    time: int
    dim: int

    def __str__(self) -> str:
        return f"({self.batch}, {self.time}, {self.dim})"


FULL_SIZES = (Size(32, 64, 50), Size(32, 256, 64), Size(8, 1024, 64), Size(1, 16384, 64))
"""From a batch of short stories to one long one."""


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """Single-precision inputs, each (batch, time, dim): h_t = (1 - z_t) h_{t-1} + v_t, starting from zero."""

    z: Array
    v: Array
    gradient: Array
    """The gradient of the loss with respect to every h_t."""


@dataclass(frozen=True, slots=True, eq=False)
class Result:
    """What every contender has to compute: (batch, time, dim) each."""

    h: Array
    dz: Array
    dv: Array


def make_problem(size: Size) -> Problem:
    """Random numbers; gates are mostly closed, as the network's are at the start."""
    random = np.random.default_rng(size.time)
    z, v, gradient = random.standard_normal((3, size.batch, size.time, size.dim), dtype=np.float32)
    return Problem(1 / (1 + np.exp(2.5 - z)), v, gradient)


def solve(problem: Problem) -> Result:
    """Step by step, in double precision."""
    keep = 1 - problem.z.astype(np.float64)
    h, dv, before = np.zeros_like(keep), np.zeros_like(keep), np.zeros_like(keep)
    state = carried = np.zeros_like(keep[:, 0])
    for t in range(keep.shape[1]):
        before[:, t] = state
        h[:, t] = state = keep[:, t] * state + problem.v[:, t]
    for t in reversed(range(keep.shape[1])):
        dv[:, t] = problem.gradient[:, t] + carried
        carried = keep[:, t] * dv[:, t]
    return Result(h, -before * dv, dv)


def difference(found: Result, right: Result) -> float:
    """The largest difference relative to the largest number of the same array; infinite if any is not a number."""
    worst = 0.0
    for mine, its in ((found.h, right.h), (found.dz, right.dz), (found.dv, right.dv)):
        error = float(np.abs(mine - its).max() / np.abs(its).max())
        worst = max(worst, error if np.isfinite(error) else float("inf"))
    return worst
