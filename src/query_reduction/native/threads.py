"""The number of threads used for computing.

With the native library all heavy work is in its own threads, and PyTorch's only get in the way: their barriers cost
more than the small operations left to them, and much more on a busy machine. So PyTorch gets one thread then.
"""

from __future__ import annotations

import os
from collections.abc import Callable

from query_reduction.errors import InputError
from query_reduction.native import library as native

__all__ = ["MOST_THREADS", "available_cores", "have_follow", "native_threads", "use_threads"]

MOST_THREADS = 256
"""``kMostThreads`` of ``kernels/check.cpp``."""

_chosen: int | None = None
_followers: list[Callable[[int], None]] = []


def available_cores() -> int:
    """The cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def use_threads(count: int) -> None:
    """Compute with this many threads from now on, in this process."""
    global _chosen
    if not isinstance(count, int) or not 1 <= count <= MOST_THREADS:
        raise InputError(f"threads must be a whole number from 1 to {MOST_THREADS}; got {count!r}")
    _chosen = count
    for set_threads in _followers:
        set_threads(1 if native.available() else count)


def have_follow(set_threads: Callable[[int], None]) -> None:
    """Set the size of another thread pool (PyTorch's) whenever a number of threads is chosen, or was before."""
    _followers.append(set_threads)
    if _chosen is not None:
        set_threads(1 if native.available() else _chosen)


def native_threads() -> int:
    """Threads of the native library: as chosen, as OMP_NUM_THREADS says, or one per core."""
    return _by_default() if _chosen is None else _chosen


def _by_default() -> int:
    wanted = os.environ.get("OMP_NUM_THREADS", "")
    count = int(wanted) if wanted.isdecimal() and len(wanted) < 10 else 0
    return min(count or available_cores(), MOST_THREADS)
