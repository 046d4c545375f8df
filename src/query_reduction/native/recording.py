"""Whether PyTorch records a computation. What it does not record needs no autograd and keeps nothing for backward."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.autograd import forward_ad

from query_reduction.native.threads import have_follow

__all__ = ["recorded"]

# Whatever computes with PyTorch beside the native code comes by here.
have_follow(torch.set_num_threads)


def recorded(*tensors: Tensor) -> bool:
    """Whether the result of an operation on these tensors needs a gradient."""
    if forward_ad._current_level >= 0:
        return True  # so that autograd says what it cannot do
    if torch.is_grad_enabled():
        for tensor in tensors:  # a generator for any() takes longer than the loop
            if tensor.requires_grad:
                return True
    return False
