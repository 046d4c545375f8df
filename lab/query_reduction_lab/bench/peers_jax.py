"""The recurrence in JAX, compiled by ``jit``: ``lax.scan`` and ``lax.associative_scan``, forward and backward.

Both scan over the leading axis, so the inputs are laid out time first; that is done before anything is timed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import numpy as np
from jax import lax
from jax import numpy as jnp

from query_reduction_lab.bench.problem import Array, Problem, Result

__all__ = ["jax_associative_scan", "jax_scan"]


def _sequential(keep: Any, v: Any, *, reverse: bool = False) -> Any:
    def step(h: Any, inputs: Any) -> Any:
        gate, value = inputs
        h = gate * h + value
        return h, h

    return lax.scan(step, jnp.zeros_like(v[0]), (keep, v), reverse=reverse)[1]


def _associative(keep: Any, v: Any, *, reverse: bool = False) -> Any:
    def combine(before: Any, after: Any) -> Any:
        return before[0] * after[0], before[1] * after[0] + after[1]

    return lax.associative_scan(combine, (keep, v), reverse=reverse)[1]


class _JaxScan:
    """One problem, solved by compiled scans.

    The gradient is the same scan backward in time, one gate further on. JAX's own gradient of ``lax.scan`` handles
    several arrays in each small step, and both passes in one compiled function are slower than two functions: written
    like this it takes about half the time.
    """

    def __init__(self, scan: Callable[..., Any], problem: Problem) -> None:
        def forward(z: Any, v: Any) -> Any:
            return scan(1 - z, v)

        def backward(z: Any, h: Any, gradient: Any) -> Any:
            nothing = jnp.zeros_like(h[:1])
            dv = scan(jnp.concatenate((1 - z[1:], nothing)), gradient, reverse=True)
            return -jnp.concatenate((nothing, h[:-1])) * dv, dv

        arrays = (problem.z, problem.v, problem.gradient)
        self._z, self._v, self._gradient = (
            jax.device_put(np.ascontiguousarray(array.swapaxes(0, 1))) for array in arrays
        )
        self._forward, self._backward = jax.jit(forward), jax.jit(backward)

    def forward(self) -> object:
        """All states."""
        return self._forward(self._z, self._v).block_until_ready()

    def both(self) -> tuple[Any, Any, Any]:
        """All states and both gradients, time first."""
        h = self._forward(self._z, self._v)
        dz, dv = self._backward(self._z, h, self._gradient)
        return jax.block_until_ready((h, dz, dv))  # type: ignore[no-any-return]

    def result(self) -> Result:
        """What ``both`` computes, back in batch-first layout."""
        found: list[Array] = [np.asarray(array).swapaxes(0, 1) for array in self.both()]
        return Result(*found)


def jax_scan(problem: Problem) -> _JaxScan:
    """Step by step."""
    return _JaxScan(_sequential, problem)


def jax_associative_scan(problem: Problem) -> _JaxScan:
    """In log2(T) rounds."""
    return _JaxScan(_associative, problem)
