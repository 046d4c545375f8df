"""Tensors in memory that the native library keeps and reuses.

A large tensor that PyTorch allocates is fresh memory from the system every time, and mapping its pages costs more than
a pass over it. These come from the library's pool of blocks and return to it when PyTorch releases them.
"""

from __future__ import annotations

import ctypes
import math
import struct
from collections.abc import Sequence

import torch
from torch import Tensor

from query_reduction.native import library as native

__all__ = ["empty", "empty_like", "whole_numbers"]

_LARGE = 1 << 18
"""The size from which it is worth a microsecond more; smaller memory the C library uses again, too."""

_three = struct.Struct("3q")
_capsule = ctypes.pythonapi.PyCapsule_New
_capsule.restype, _capsule.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)


def empty(shape: Sequence[int], dtype: torch.dtype) -> Tensor:
    """An uninitialised tensor of float or double on the CPU."""
    return torch.empty(shape, dtype=dtype) if math.prod(shape) < _LARGE else _kept(shape, dtype)


def empty_like(tensor: Tensor) -> Tensor:
    """The same for the shape and type of a contiguous tensor; a small one in two thirds of the time."""
    return torch.empty_like(tensor) if tensor.numel() < _LARGE else _kept(tensor.shape, tensor.dtype)


def _kept(shape: Sequence[int], dtype: torch.dtype) -> Tensor:
    dimensions = len(shape)
    packed = _three.pack(*shape) if dimensions == 3 else struct.pack(f"{dimensions}q", *shape)
    address = native.library().qrn_tensor(packed, dimensions, dtype is torch.float64)
    if address is None:
        raise MemoryError(f"not enough memory for {tuple(shape)} numbers")
    made: Tensor = torch._C._from_dlpack(_capsule(address, b"dltensor", None))  # torch.from_dlpack, after its questions
    return made


def whole_numbers(tensor: Tensor) -> Tensor:
    """A contiguous tensor of int64 on the CPU: this one if it is that, or a copy."""
    if tensor.dtype is torch.int64 or tensor.numel() < _LARGE:
        return tensor.to(torch.int64).contiguous()
    return empty(tensor.shape, torch.float64).view(torch.int64).copy_(tensor)
