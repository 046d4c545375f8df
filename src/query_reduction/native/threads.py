"""The number of threads used for computing.

With the native library all heavy work is in its own threads, and PyTorch's only get in the way: their barriers cost
more than the small operations left to them, and much more on a busy machine. So PyTorch gets one thread then.
"""

from __future__ import annotations

import os

import torch

from query_reduction.errors import InputError
from query_reduction.native import library as native

__all__ = ["MOST_THREADS", "available_cores", "native_threads", "use_threads"]

MOST_THREADS = 256
"""``kMostThreads`` of ``kernels/check.cpp``."""

_chosen: int | None = None


def available_cores() -> int:
    """The cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def use_threads(count: int) -> None:
    """Compute with this many threads from now on, in this process."""
    global _chosen
    if not isinstance(count, int) or not 1 <= count <= MOST_THREADS:
        raise InputError(f"threads must be a whole number from 1 to {MOST_THREADS}; got {count!r}")
    _chosen = count
    torch.set_num_threads(1 if native.available() else count)


def native_threads() -> int:
    """Threads of the native library: as chosen, or as many as PyTorch was given."""
    return min(torch.get_num_threads(), MOST_THREADS) if _chosen is None else _chosen
