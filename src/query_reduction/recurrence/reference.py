"""The recurrence as the paper writes it, step by step: slow, obvious, and the reference for the others."""

from __future__ import annotations

import torch
from torch import Tensor

__all__ = ["scan_loop"]


def scan_loop(z: Tensor, v: Tensor, lengths: Tensor, initial: Tensor, *, reverse: bool) -> Tensor:
    """h_t = (1 - z_t) h_{t-1} + v_t, a Python loop over t (equation 3; reset gates are already in v)."""
    batch, time, _ = v.shape
    h = initial
    states: list[Tensor] = [v.new_zeros(0)] * time
    for t in reversed(range(time)) if reverse else range(time):
        inside = (t < lengths).view(batch, 1)
        h = torch.where(inside, (1 - z[:, t]) * h + v[:, t], h)
        states[t] = torch.where(inside, h, torch.zeros_like(h))
    return torch.stack(states, dim=1)
