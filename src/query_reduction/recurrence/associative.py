"""The recurrence as an associative scan: log2(T) rounds of elementwise work, any length, any device.

A step is the affine map h -> a h + v; maps compose as (a2, v2) after (a1, v1) = (a2 a1, a2 v1 + v2). Each round
doubles the span of steps already composed (Hillis and Steele).
"""

from __future__ import annotations

import torch
from torch import Tensor

__all__ = ["scan_associative"]


def scan_associative(z: Tensor, v: Tensor, lengths: Tensor, initial: Tensor, *, reverse: bool) -> Tensor:
    """All h_t in log2(T) rounds."""
    batch, time, _ = v.shape
    inside = (torch.arange(time, device=v.device) < lengths.view(batch, 1)).unsqueeze(-1)
    a = torch.where(inside, 1 - z, torch.ones_like(z))
    h = torch.where(inside, v, torch.zeros_like(v))
    if reverse:
        a, h = a.flip(1), h.flip(1)
    span = 1
    while span < time:
        h = torch.cat([h[:, :span], a[:, span:] * h[:, :-span] + h[:, span:]], dim=1)
        a = torch.cat([a[:, :span], a[:, span:] * a[:, :-span]], dim=1)
        span *= 2
    h = h + a * initial.unsqueeze(1)
    if reverse:
        h = h.flip(1)
    return torch.where(inside, h, torch.zeros_like(h))
