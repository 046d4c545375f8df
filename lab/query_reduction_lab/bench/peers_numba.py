"""The recurrence as a plain loop that Numba compiles, forward and backward, batches spread over the threads."""

from __future__ import annotations

import numba
import numpy as np

from query_reduction_lab.bench.problem import Array, Problem, Result

__all__ = ["NumbaScan"]

_ONE = np.float32(1)
"""A whole number would turn the arithmetic into double precision."""


def _forward(z: Array, v: Array) -> Array:
    batch, time, dim = v.shape
    h = np.empty_like(v)
    for b in numba.prange(batch):
        h[b, 0] = v[b, 0]
        for t in range(1, time):
            for d in range(dim):
                h[b, t, d] = (_ONE - z[b, t, d]) * h[b, t - 1, d] + v[b, t, d]
    return h


def _backward(z: Array, h: Array, gradient: Array) -> tuple[Array, Array]:
    batch, time, dim = h.shape
    dz, dv = np.empty_like(z), np.empty_like(h)
    for b in numba.prange(batch):
        dv[b, time - 1] = gradient[b, time - 1]
        for t in range(time - 1, 0, -1):
            for d in range(dim):
                dz[b, t, d] = -h[b, t - 1, d] * dv[b, t, d]
                dv[b, t - 1, d] = gradient[b, t - 1, d] + (_ONE - z[b, t, d]) * dv[b, t, d]
        dz[b, 0] = 0
    return dz, dv


_compiled_forward = numba.njit(_forward, parallel=True, fastmath=True)
_compiled_backward = numba.njit(_backward, parallel=True, fastmath=True)


class NumbaScan:
    """One problem, solved by the compiled loops, without autograd."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem

    def forward(self) -> object:
        """All states."""
        return _compiled_forward(self._problem.z, self._problem.v)

    def both(self) -> object:
        """All states and both gradients."""
        h = _compiled_forward(self._problem.z, self._problem.v)
        return h, *_compiled_backward(self._problem.z, h, self._problem.gradient)

    def result(self) -> Result:
        """What ``both`` computes."""
        h = _compiled_forward(self._problem.z, self._problem.v)
        return Result(h, *_compiled_backward(self._problem.z, h, self._problem.gradient))
