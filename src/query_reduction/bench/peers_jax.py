"""The recurrence in JAX, compiled: ``lax.scan`` and ``lax.associative_scan``, gradients by ``vjp`` inside ``jit``.

Both scan over the leading axis, so the inputs are laid out time first; that is done before anything is timed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import numpy as np
from jax import lax
from jax import numpy as jnp

from query_reduction.bench.problem import Array, Problem, Result

__all__ = ["jax_associative_scan", "jax_scan"]

_UNROLL = 8
"""Steps in a turn of the compiled loop; twice as fast here as one."""


def _sequential(z: Any, v: Any) -> Any:
    def step(h: Any, inputs: Any) -> Any:
        gate, value = inputs
        h = (1 - gate) * h + value
        return h, h

    return lax.scan(step, jnp.zeros_like(v[0]), (z, v), unroll=_UNROLL)[1]


def _associative(z: Any, v: Any) -> Any:
    def combine(before: Any, after: Any) -> Any:
        return before[0] * after[0], before[1] * after[0] + after[1]

    return lax.associative_scan(combine, (1 - z, v))[1]


class _JaxScan:
    """One problem, solved by a compiled function from z and v to all states."""

    def __init__(self, states: Callable[[Any, Any], Any], problem: Problem) -> None:
        def both(z: Any, v: Any, gradient: Any) -> Any:
            h, pull = jax.vjp(states, z, v)
            return h, *pull(gradient)

        arrays = (problem.z, problem.v, problem.gradient)
        self._inputs = [jax.device_put(np.ascontiguousarray(array.swapaxes(0, 1))) for array in arrays]
        self._forward, self._both = jax.jit(states), jax.jit(both)

    def forward(self) -> object:
        """All states."""
        return self._forward(*self._inputs[:2]).block_until_ready()

    def both(self) -> object:
        """All states and both gradients."""
        return jax.block_until_ready(self._both(*self._inputs))

    def result(self) -> Result:
        """What ``both`` computes, batch first again."""
        found: list[Array] = [np.asarray(array).swapaxes(0, 1) for array in self._both(*self._inputs)]
        return Result(*found)


def jax_scan(problem: Problem) -> _JaxScan:
    """Step after step."""
    return _JaxScan(_sequential, problem)


def jax_associative_scan(problem: Problem) -> _JaxScan:
    """In log2(T) rounds."""
    return _JaxScan(_associative, problem)
