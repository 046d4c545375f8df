"""h_t = (1 - z_t) h_{t-1} + v_t behind one signature, forward or backward in time.

``z`` holds the gates, (batch, time, 1) for scalar or (batch, time, dim) for vector gates; ``v`` is
(batch, time, dim). Only the first ``lengths[b]`` steps of example b count: past them the result is zero, no
gradient flows, and a reverse scan starts at the last step that counts. All backends agree in value and
gradient with the loop; the tests check this.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from query_reduction.checked import shown_value
from query_reduction.errors import InputError
from query_reduction.native import library as native
from query_reduction.recurrence.associative import scan_associative
from query_reduction.recurrence.checks import check_inputs
from query_reduction.recurrence.fused import scan_fused
from query_reduction.recurrence.matrix import scan_matrix
from query_reduction.recurrence.reference import scan_loop

__all__ = ["BACKENDS", "scan"]

BACKENDS: dict[str, Callable[..., Tensor]] = {
    "loop": scan_loop,
    "matrix": scan_matrix,
    "associative": scan_associative,
    "fused": scan_fused,
}


def scan(
    z: Tensor,
    v: Tensor,
    lengths: Tensor | None = None,
    initial: Tensor | None = None,
    *,
    reverse: bool = False,
    backend: str = "auto",
) -> Tensor:
    """Run the recurrence over time and return every h_t, shaped like ``v``.

    ``auto`` uses the fused backend where it can run and the associative one elsewhere.
    """
    check_inputs(z, v, lengths, initial)
    if backend == "auto":
        backend = "fused" if native.supports(v) and native.available() else "associative"
    if not isinstance(backend, str) or backend not in BACKENDS:
        raise InputError(f"no scan backend {shown_value(backend)}; choose from {', '.join(sorted(BACKENDS))}")
    if backend == "fused" and v.numel() > 0:
        return scan_fused(z, v, lengths, initial, reverse=reverse)
    batch, time, dim = v.shape
    if lengths is None:
        lengths = torch.full((batch,), time, dtype=torch.int64, device=v.device)
    if initial is None:
        initial = v.new_zeros(batch, dim)
    if v.numel() == 0:
        # Nothing to compute; the sum is as empty as the result and passes on empty gradients.
        return v + z + initial.unsqueeze(1)
    return BACKENDS[backend](z, v, lengths, initial, reverse=reverse)
