"""What every backend relies on."""

from __future__ import annotations

import torch
from torch import Tensor

from query_reduction.errors import InputError

__all__ = ["check_inputs"]

_WHOLE_NUMBERS = (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8)


def check_inputs(z: Tensor, v: Tensor, lengths: Tensor | None, initial: Tensor | None) -> None:
    """Raise InputError unless shapes and types fit together. Short scans take no longer than this, so it is brief."""
    for name, value in (("z", z), ("v", v), ("lengths", lengths), ("initial", initial)):
        if not isinstance(value, Tensor) and (value is not None or name in "zv"):
            raise InputError(f"{name}: it must be a tensor, not an object of type {type(value).__name__}")
    shape, gate_shape = v.shape, z.shape
    if len(shape) != 3 or (
        gate_shape != shape and (len(gate_shape) != 3 or gate_shape[:2] != shape[:2] or gate_shape[2] != 1)
    ):
        raise InputError(
            f"v must be (batch, time, dim) and z (batch, time, 1 or dim); got v {tuple(shape)}, z {tuple(gate_shape)}"
        )
    if z.dtype is not v.dtype or not v.is_floating_point():
        raise InputError(f"z and v must share one floating dtype; got z {z.dtype}, v {v.dtype}")
    batch, _, dim = shape
    if lengths is not None and (lengths.shape != (batch,) or lengths.dtype not in _WHOLE_NUMBERS):
        raise InputError(f"lengths must be {batch} whole numbers; got {tuple(lengths.shape)} {lengths.dtype}")
    if initial is not None and (initial.shape != (batch, dim) or initial.dtype != v.dtype):
        raise InputError(f"initial must be ({batch}, {dim}) {v.dtype}; got {tuple(initial.shape)} {initial.dtype}")
