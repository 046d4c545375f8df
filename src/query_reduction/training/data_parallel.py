"""One training over several processes: each takes a part of every batch, and the gradients are added up.

Started by torchrun, every process runs the same program on the same data. The sum of the parts' gradients is the
gradient of the whole batch, so the result is that of a single process, up to the order of addition.

    torchrun --nproc-per-node 4 -m query_reduction train --variant 6r200 …
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, distributed

__all__ = ["Share", "process_group"]


@dataclass(frozen=True, slots=True)
class Share:
    """This process's part of the work."""

    rank: int = 0
    of: int = 1

    @property
    def first(self) -> bool:
        """Whether this process is the one that writes files and prints."""
        return self.rank == 0

    def part(self, batch: NDArray[np.int64]) -> NDArray[np.int64]:
        """The questions of a batch that this process computes; there may be none."""
        return batch[self.rank :: self.of]

    def add_up(self, tensor: Tensor) -> None:
        """Replace a tensor by its sum over all processes, in place."""
        if self.of > 1:
            distributed.all_reduce(tensor)

    def any(self, flag: bool) -> bool:
        """Whether it is true in any process, so that all take the same branch."""
        if self.of == 1:
            return flag
        flags = torch.tensor([int(flag)])
        distributed.all_reduce(flags)
        return bool(flags.item())


@contextmanager
def process_group() -> Iterator[Share]:
    """Join the processes that torchrun started; without torchrun, a share of one."""
    if "RANK" not in os.environ or "WORLD_SIZE" not in os.environ:
        yield Share()
        return
    distributed.init_process_group("gloo")
    try:
        yield Share(distributed.get_rank(), distributed.get_world_size())
    finally:
        distributed.destroy_process_group()
