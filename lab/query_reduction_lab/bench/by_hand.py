"""The recurrence and its gradient as two plain functions, for those who write their own backward pass.

Autograd around a scan takes longer than a short scan itself.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from query_reduction.native import library as native
from query_reduction.recurrence import fused
from query_reduction.recurrence.associative import scan_associative
from query_reduction.recurrence.checks import check_inputs

__all__ = ["Gradients", "scan_with_gradient"]

Gradients = tuple[Tensor, Tensor, Tensor | None]
"""Of ``z``, ``v`` and ``initial``; None if there was no ``initial``."""


def scan_with_gradient(
    z: Tensor, v: Tensor, lengths: Tensor | None = None, initial: Tensor | None = None, *, reverse: bool = False
) -> tuple[Tensor, Callable[[Tensor], Gradients]]:
    """Every h_t, and the function from the gradient of a loss with respect to them to those of the inputs.

    Nothing is recorded. The inputs must not change before the function is called; it may be called more than once.
    """
    check_inputs(z, v, lengths, initial)
    if lengths is not None and lengths.dtype is not torch.int64:
        lengths = lengths.to(torch.int64)
    if not native.supports(v) or not v.numel() or not native.available():
        return _by_autograd(z, v, lengths, initial, reverse)
    fused.check_kind(z, v, lengths, initial)
    h = fused.forward(z, v, lengths, initial, reverse)

    def gradients(gradient: Tensor) -> Gradients:
        if gradient.shape != h.shape or gradient.dtype is not h.dtype or not gradient.is_cpu:
            raise ValueError(f"the gradient must be like h, {tuple(h.shape)} {h.dtype}: {tuple(gradient.shape)}")
        return fused.backward(gradient, z, h, lengths, initial, reverse)

    return h, gradients


def _by_autograd(
    z: Tensor, v: Tensor, lengths: Tensor | None, initial: Tensor | None, reverse: bool
) -> tuple[Tensor, Callable[[Tensor], Gradients]]:
    """The same where there is no native code for it."""
    batch, time, dim = v.shape
    counted = torch.full((batch,), time, device=v.device) if lengths is None else lengths
    start = v.new_zeros(batch, dim) if initial is None else initial
    leaves = [tensor.detach().requires_grad_() for tensor in (z, v, start)]
    with torch.enable_grad():
        h = scan_associative(leaves[0], leaves[1], counted, leaves[2], reverse=reverse)

    def gradients(gradient: Tensor) -> Gradients:
        found = torch.autograd.grad(h, leaves, gradient, retain_graph=True, materialize_grads=True)
        return found[0], found[1], None if initial is None else found[2]

    return h.detach(), gradients
