"""h_t = (1 - z_t) h_{t-1} + v_t behind one signature, forward or backward in time.

``z`` holds the gates, (batch, time, 1) for scalar or (batch, time, dim) for vector gates; ``v`` is
(batch, time, dim). Only the first ``lengths[b]`` steps of example b count: past them the result is zero, no
gradient flows, and a reverse scan starts at the last step that counts. All backends agree in value and
gradient with the loop; the tests hold them to it.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from query_reduction.scan.associative import scan_associative
from query_reduction.scan.matrix import scan_matrix
from query_reduction.scan.reference import scan_loop

__all__ = ["BACKENDS", "scan"]

BACKENDS: dict[str, Callable[..., Tensor]] = {
    "loop": scan_loop,
    "matrix": scan_matrix,
    "associative": scan_associative,
}


def scan(
    z: Tensor,
    v: Tensor,
    lengths: Tensor | None = None,
    initial: Tensor | None = None,
    *,
    reverse: bool = False,
    backend: str = "associative",
) -> Tensor:
    """Run the recurrence over time and return every h_t, shaped like ``v``."""
    if backend not in BACKENDS:
        raise ValueError(f"no scan backend {backend!r}; there are {', '.join(sorted(BACKENDS))}")
    if v.dim() != 3 or z.dim() != 3 or z.shape[:2] != v.shape[:2] or z.shape[2] not in (1, v.shape[2]):
        raise ValueError(
            f"v must be (batch, time, dim) and z (batch, time, 1 or dim); got v {tuple(v.shape)}, z {tuple(z.shape)}"
        )
    batch, time, dim = v.shape
    if z.dtype != v.dtype or not v.is_floating_point():
        raise ValueError(f"z and v must share one floating dtype; got z {z.dtype}, v {v.dtype}")
    if lengths is None:
        lengths = torch.full((batch,), time, dtype=torch.int64, device=v.device)
    elif lengths.shape != (batch,) or lengths.is_floating_point():
        raise ValueError(f"lengths must be {batch} whole numbers; got {tuple(lengths.shape)} {lengths.dtype}")
    if initial is None:
        initial = v.new_zeros(batch, dim)
    elif initial.shape != (batch, dim) or initial.dtype != v.dtype:
        raise ValueError(f"initial must be ({batch}, {dim}) {v.dtype}; got {tuple(initial.shape)} {initial.dtype}")
    return BACKENDS[backend](z, v, lengths, initial, reverse=reverse)
