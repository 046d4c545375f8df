"""The recurrence in native code: one pass over memory forward, one backward, no work on padding. CPU only.

Registered with PyTorch as the operator ``query_reduction::scan``, so that autograd, ``torch.compile``, ``torch.export``
and ``torch.func.vmap`` support it.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from query_reduction.native import library as native
from query_reduction.native.memory import empty_like
from query_reduction.native.recording import recorded
from query_reduction.native.threads import native_threads
from query_reduction.recurrence.checks import check_inputs

__all__ = ["backward", "check_kind", "forward", "scan_fused"]


_SCAN, _SCAN_BACKWARD = "query_reduction::scan", "query_reduction::scan_backward"


def scan_fused(
    z: Tensor, v: Tensor, lengths: Tensor | None = None, initial: Tensor | None = None, *, reverse: bool
) -> Tensor:
    """All h_t in one pass; the inputs have passed ``check_inputs``."""
    if not native.available():
        raise RuntimeError("the native library is not available: use the 'associative' scan")
    check_kind(z, v, lengths, initial)
    if lengths is not None:
        lengths = lengths.to(torch.int64)
    if torch.compiler.is_compiling() or torch._C._are_functorch_transforms_active():
        batch, time, dim = v.shape
        if lengths is None:
            lengths = torch.full((batch,), time, dtype=torch.int64)
        if initial is None:
            initial = v.new_zeros(batch, dim)
        apply = torch.ops.query_reduction.scan if torch.compiler.is_compiling() else _MappedScan.apply
        h: Tensor = apply(z, v, lengths, initial, reverse)  # type: ignore[no-untyped-call]
        return h
    if recorded(z, v) if initial is None else recorded(z, v, initial):
        h = _apply(z, v, lengths, initial, reverse)  # type: ignore[no-untyped-call]
        return h
    return forward(z, v, lengths, initial, reverse)


def check_kind(z: Tensor, *others: Tensor | None) -> None:
    """What the native code can work on; shapes are checked elsewhere."""
    for tensor in (z, *others):
        if tensor is not None and not tensor.is_cpu:
            raise ValueError(f"the fused scan works on the CPU, one tensor is on {tensor.device}: use 'associative'")
    if z.dtype is not torch.float32 and z.dtype is not torch.float64:
        raise ValueError(f"the fused scan works in float32 and float64, not {z.dtype}")


def _address(tensor: Tensor | None) -> int:
    """Where the numbers of a contiguous tensor are; 0 if there is none."""
    return 0 if tensor is None else tensor.data_ptr()


def forward(z: Tensor, v: Tensor, lengths: Tensor | None, initial: Tensor | None, reverse: bool) -> Tensor:
    """All states, not recorded for autograd. Short scans take no longer than what is done here in Python."""
    z, v = z.contiguous(), v.contiguous()
    if lengths is not None:
        lengths = lengths.contiguous()
    if initial is not None:
        initial = initial.contiguous()
    batch, time, dim = v.shape
    h = empty_like(v)
    native.scan(
        False,
        (batch, time, dim, z.shape[2] == dim, reverse, native_threads(), 0, _address(lengths), z.data_ptr(),
         v.data_ptr(), _address(initial), 0, 0, h.data_ptr(), 0, 0, 0),
        v.dtype is torch.float64, (z, v, lengths, initial, h),
    )  # fmt: skip
    return h


def backward(
    gradient: Tensor, z: Tensor, h: Tensor, lengths: Tensor | None, initial: Tensor | None, reverse: bool
) -> tuple[Tensor, Tensor, Tensor | None]:
    """The gradients of ``z``, ``v`` and ``initial`` for that of ``h``."""
    gradient, z, h = gradient.contiguous(), z.contiguous(), h.contiguous()
    if lengths is not None:
        lengths = lengths.contiguous()
    dinitial = None
    if initial is not None:
        initial = initial.contiguous()
        dinitial = torch.empty_like(initial)
    batch, time, dim = h.shape
    dz = empty_like(z) if batch and time and dim else torch.zeros_like(z)
    dv = empty_like(h)
    native.scan(
        True,
        (batch, time, dim, z.shape[2] == dim, reverse, native_threads(), 0, _address(lengths), z.data_ptr(), 0,
         _address(initial), h.data_ptr(), gradient.data_ptr(), 0, dz.data_ptr(), dv.data_ptr(), _address(dinitial)),
        h.dtype is torch.float64, (gradient, z, h, lengths, initial, dz, dv, dinitial),
    )  # fmt: skip
    return dz, dv, dinitial


class _Scan(torch.autograd.Function):
    """The recurrence and its gradient for plain autograd, with as little overhead as possible."""

    @staticmethod
    def forward(
        ctx: Any, z: Tensor, v: Tensor, lengths: Tensor | None, initial: Tensor | None, reverse: bool
    ) -> Tensor:
        h = forward(z, v, lengths, initial, reverse)
        ctx.save_for_backward(z, h, lengths, initial)
        ctx.reverse = reverse
        return h

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        if torch.is_grad_enabled():
            raise RuntimeError("the fused scan has no second derivative: use the 'associative' scan")
        z, h, lengths, initial = ctx.saved_tensors
        dz, dv, dinitial = backward(gradient, z, h, lengths, initial, ctx.reverse)
        return dz, dv, None, dinitial, None


_apply = super(torch.autograd.Function, _Scan).apply
"""``Function.apply`` would first bind its arguments by name, which for short stories takes longer than the scan; only
torch.func needs that."""


def _forward_checked(z: Tensor, v: Tensor, lengths: Tensor, initial: Tensor, reverse: bool) -> Tensor:
    """The operator: it may be called with anything, so everything is checked."""
    check_inputs(z, v, lengths, initial)
    check_kind(z, v, lengths, initial)
    return forward(z, v, lengths.to(torch.int64), initial, reverse)


def _backward_checked(
    gradient: Tensor, z: Tensor, h: Tensor, lengths: Tensor, initial: Tensor, reverse: bool
) -> tuple[Tensor, ...]:
    check_inputs(z, h, lengths, initial)
    check_kind(z, h, lengths, initial, gradient)
    if gradient.shape != h.shape or gradient.dtype != h.dtype:
        raise ValueError(f"gradient must be {tuple(h.shape)} {h.dtype}; got {tuple(gradient.shape)} {gradient.dtype}")
    dz, dv, dinitial = backward(gradient, z, h, lengths.to(torch.int64), initial, reverse)
    assert dinitial is not None
    return dz, dv, dinitial


def _forward_fake(z: Tensor, v: Tensor, lengths: Tensor, initial: Tensor, reverse: bool) -> Tensor:
    return torch.empty_like(v, memory_format=torch.contiguous_format)


def _backward_fake(
    gradient: Tensor, z: Tensor, h: Tensor, lengths: Tensor, initial: Tensor, reverse: bool
) -> tuple[Tensor, ...]:
    return tuple(torch.empty_like(tensor, memory_format=torch.contiguous_format) for tensor in (z, h, initial))


class _MappedScan(torch.autograd.Function):
    """The operator and its gradient for ``torch.func``."""

    generate_vmap_rule = True

    @staticmethod
    def forward(z: Tensor, v: Tensor, lengths: Tensor, initial: Tensor, reverse: bool) -> Tensor:
        h: Tensor = torch.ops.query_reduction.scan(z, v, lengths, initial, reverse)
        return h

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        z, _, lengths, initial, ctx.reverse = inputs
        ctx.save_for_backward(z, output, lengths, initial)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor, None, Tensor, None]:
        operator = torch.ops.query_reduction.scan_backward
        dz, dv, dinitial = operator(gradient, *ctx.saved_tensors, ctx.reverse)
        return dz, dv, None, dinitial, None


def _into_batch(size: int, tensor: Tensor, dim: int | None) -> Tensor:
    """Join the mapped dimension (or as many copies) to the batch, the first dimension."""
    moved = tensor.expand(size, *tensor.shape) if dim is None else tensor.movedim(dim, 0)
    return moved.reshape(-1, *moved.shape[2:])


def _out_of_batch(size: int, tensor: Tensor) -> Tensor:
    return tensor.view(size, -1, *tensor.shape[1:])


def _forward_mapped(info: Any, in_dims: tuple[int | None, ...], *inputs: Any) -> tuple[Tensor, int]:
    *tensors, reverse = inputs
    joined = [_into_batch(info.batch_size, tensor, dim) for tensor, dim in zip(tensors, in_dims, strict=False)]
    h: Tensor = torch.ops.query_reduction.scan(*joined, reverse)
    return _out_of_batch(info.batch_size, h), 0


def _backward_mapped(
    info: Any, in_dims: tuple[int | None, ...], *inputs: Any
) -> tuple[tuple[Tensor, ...], tuple[int, ...]]:
    *tensors, reverse = inputs
    joined = [_into_batch(info.batch_size, tensor, dim) for tensor, dim in zip(tensors, in_dims, strict=False)]
    results = torch.ops.query_reduction.scan_backward(*joined, reverse)
    return tuple(_out_of_batch(info.batch_size, result) for result in results), (0, 0, 0)


torch.library.define(_SCAN, "(Tensor z, Tensor v, Tensor lengths, Tensor initial, bool reverse) -> Tensor")
torch.library.impl(_SCAN, "cpu", _forward_checked)
torch.library.register_fake(_SCAN, _forward_fake)
torch.library.register_autograd(_SCAN, _MappedScan.backward, setup_context=_MappedScan.setup_context)
torch.library.register_vmap(_SCAN, _forward_mapped)

torch.library.define(
    _SCAN_BACKWARD,
    "(Tensor gradient, Tensor z, Tensor h, Tensor lengths, Tensor initial, bool reverse) -> (Tensor, Tensor, Tensor)",
)
torch.library.impl(_SCAN_BACKWARD, "cpu", _backward_checked)
torch.library.register_fake(_SCAN_BACKWARD, _backward_fake)
torch.library.register_vmap(_SCAN_BACKWARD, _backward_mapped)
