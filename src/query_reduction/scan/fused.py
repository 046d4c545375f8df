"""The recurrence in native code: one pass over memory forward, one backward, no work on padding. CPU only.

Registered with PyTorch as the operator ``query_reduction::scan``, so that autograd, ``torch.compile``, ``torch.export``
and ``torch.func.vmap`` know it.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from query_reduction.native import library as native
from query_reduction.native.library import ScanCall
from query_reduction.native.threads import native_threads

__all__ = ["scan_fused"]


_SCAN, _SCAN_BACKWARD = "query_reduction::scan", "query_reduction::scan_backward"


def scan_fused(z: Tensor, v: Tensor, lengths: Tensor, initial: Tensor, *, reverse: bool) -> Tensor:
    """All h_t in one pass."""
    if not native.available():
        raise RuntimeError("the native library is not available: use the 'associative' scan")
    for tensor in (z, v, lengths, initial):
        if tensor.device.type != "cpu":
            raise ValueError(f"the fused scan works on the CPU, one tensor is on {tensor.device}: use 'associative'")
    if v.dtype not in (torch.float32, torch.float64):
        raise ValueError(f"the fused scan works in float32 and float64, not {v.dtype}")
    if torch.compiler.is_compiling():
        h: Tensor = torch.ops.query_reduction.scan(z, v, lengths.to(torch.int64), initial, reverse)
        return h
    # Function.apply first binds its arguments by name, which for short stories takes longer than the scan; only
    # torch.func needs that.
    watched = torch._C._are_functorch_transforms_active()
    apply = _Scan.apply if watched else super(torch.autograd.Function, _Scan).apply
    h = apply(z, v, lengths.to(torch.int64), initial, reverse)  # type: ignore[no-untyped-call]
    return h


def _call(z: Tensor, v: Tensor, lengths: Tensor, initial: Tensor, reverse: bool) -> ScanCall:
    batch, time, dim = v.shape
    return ScanCall(
        batch=batch,
        time=time,
        dim=dim,
        vector=z.shape[2] == dim,
        reverse=reverse,
        threads=native_threads(),
        lengths=lengths.data_ptr(),
        z=z.data_ptr(),
        initial=initial.data_ptr(),
    )


def _forward_native(z: Tensor, v: Tensor, lengths: Tensor, initial: Tensor, reverse: bool) -> Tensor:
    z, v, lengths, initial = z.contiguous(), v.contiguous(), lengths.contiguous(), initial.contiguous()
    h = torch.empty_like(v)
    call = _call(z, v, lengths, initial, reverse)
    call.v, call.out = v.data_ptr(), h.data_ptr()
    native.scan_forward(call, v.dtype)
    return h


def _backward_native(
    gradient: Tensor, z: Tensor, h: Tensor, lengths: Tensor, initial: Tensor, reverse: bool
) -> tuple[Tensor, Tensor, Tensor]:
    gradient, z, h = gradient.contiguous(), z.contiguous(), h.contiguous()
    lengths, initial = lengths.contiguous(), initial.contiguous()
    dz, dv, dinitial = torch.empty_like(z), torch.empty_like(h), torch.empty_like(initial)
    call = _call(z, h, lengths, initial, reverse)
    call.h, call.dh, call.dz, call.dv = h.data_ptr(), gradient.data_ptr(), dz.data_ptr(), dv.data_ptr()
    call.dinitial = dinitial.data_ptr()
    native.scan_backward(call, h.dtype)
    return dz, dv, dinitial


def _forward_fake(z: Tensor, v: Tensor, lengths: Tensor, initial: Tensor, reverse: bool) -> Tensor:
    return torch.empty_like(v, memory_format=torch.contiguous_format)


def _backward_fake(
    gradient: Tensor, z: Tensor, h: Tensor, lengths: Tensor, initial: Tensor, reverse: bool
) -> tuple[Tensor, ...]:
    return tuple(torch.empty_like(tensor, memory_format=torch.contiguous_format) for tensor in (z, h, initial))


class _Scan(torch.autograd.Function):
    """The operator and its gradient, for plain autograd and for ``torch.func``."""

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
torch.library.impl(_SCAN, "cpu", _forward_native)
torch.library.register_fake(_SCAN, _forward_fake)
torch.library.register_autograd(_SCAN, _Scan.backward, setup_context=_Scan.setup_context)
torch.library.register_vmap(_SCAN, _forward_mapped)

torch.library.define(
    _SCAN_BACKWARD,
    "(Tensor gradient, Tensor z, Tensor h, Tensor lengths, Tensor initial, bool reverse) -> (Tensor, Tensor, Tensor)",
)
torch.library.impl(_SCAN_BACKWARD, "cpu", _backward_native)
torch.library.register_fake(_SCAN_BACKWARD, _backward_fake)
torch.library.register_vmap(_SCAN_BACKWARD, _backward_mapped)
