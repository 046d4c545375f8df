"""The paper's parallel form: all states at once from a T x T matrix of products (equations 10 and 14).

h_t = sum_i exp(sum_{j=i+1..t} log(1 - z_j)) v_i. Memory grows with T squared (times d for vector gates), so
this form is for short stories and for comparison with the paper.
"""

from __future__ import annotations

import torch
from torch import Tensor

from query_reduction.errors import InputError

__all__ = ["scan_matrix"]

_MEMORY_LIMIT_BYTES = 2 * 1024**3

# log(1 - z) at z = 1 is minus infinity, and its gradient NaN. Adding this keeps both finite; a product over a
# closed gate gives 1e-30 instead of 0, and the gradient 1e-30 / 1e-30 is exact.
_TINY = 1e-30


def scan_matrix(z: Tensor, v: Tensor, lengths: Tensor, initial: Tensor, *, reverse: bool) -> Tensor:
    """All h_t by one matrix product per example (scalar gates) or per example and unit (vector gates)."""
    batch, time, _ = v.shape
    needed = batch * time * time * z.shape[-1] * v.element_size()
    if needed > _MEMORY_LIMIT_BYTES:
        raise InputError(
            f"the matrix form needs {needed / 1024**3:.1f} GiB for {time} sentences (limit "
            f"{_MEMORY_LIMIT_BYTES / 1024**3:.0f} GiB): use the 'associative' or 'fused' scan for long stories"
        )
    if time == 0:
        return torch.zeros_like(v)
    inside = (torch.arange(time, device=v.device) < lengths.view(batch, 1)).unsqueeze(-1)
    keep = torch.where(inside, 1 - z, torch.ones_like(z))
    v = torch.where(inside, v, torch.zeros_like(v))
    if reverse:
        keep, v = keep.flip(1), v.flip(1)
    log_keep = torch.log(keep + _TINY)
    # strictly_lower[t, i] = log_keep[t] where t > i; its running sum over t is sum_{j=i+1..t} log(1 - z_j).
    later = torch.ones(time, time, dtype=torch.bool, device=v.device).tril(-1).view(time, time, 1)
    sums = torch.where(later, log_keep.unsqueeze(2), torch.zeros((), dtype=v.dtype, device=v.device)).cumsum(1)
    not_after = torch.ones(time, time, dtype=torch.bool, device=v.device).tril().view(time, time, 1)
    weights = torch.where(not_after, sums, sums.new_full((), -torch.inf)).exp()
    scalar = z.shape[-1] == 1
    h = weights.squeeze(-1) @ v if scalar else torch.einsum("btid,bid->btd", weights, v)
    from_initial = torch.exp(log_keep.cumsum(1)) * initial.unsqueeze(1)
    h = h + from_initial
    if reverse:
        h = h.flip(1)
    return torch.where(inside, h, torch.zeros_like(h))
