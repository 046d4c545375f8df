"""h_t = (1 - z_t) h_{t-1} + v_t on arrays, by native code where there is any; must match ``scan.reference``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from query_reduction.native import arrays
from query_reduction.native import library as native
from query_reduction.network import Floats
from query_reduction.text.batch import Ints

if TYPE_CHECKING:
    from jaxtyping import Float, Int

__all__ = ["scan"]


def scan(
    z: Float[Floats, "batch time _"], v: Float[Floats, "batch time dim"], lengths: Int[Ints, "batch"], *, reverse: bool
) -> Float[Floats, "batch time dim"]:
    """All h_t, forward or backward in time; z has one gate per step, or one per unit. Zero past an example's length."""
    if native.available():
        found: Floats = arrays.scan(z, v, lengths, reverse=reverse)
        return found
    batch, time, dimension = v.shape
    states: Floats = np.zeros(v.shape, v.dtype)
    h: Floats = np.zeros((batch, dimension), v.dtype)
    for t in reversed(range(time)) if reverse else range(time):
        inside = (t < lengths)[:, None]
        h = np.where(inside, (1 - z[:, t]) * h + v[:, t], h)
        states[:, t] = np.where(inside, h, 0)
    return states
