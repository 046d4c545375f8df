"""A step of Adagrad or Adam over flat buffers in one call of native code; equal to PyTorch's."""

from __future__ import annotations

from collections.abc import Sequence
from ctypes import addressof, c_double, c_int64

from torch import Tensor

from query_reduction.native import library as native
from query_reduction.native.library import UpdateCall
from query_reduction.native.threads import native_threads

__all__ = ["Update"]


class Update:
    """Steps of an optimiser over buffers that stay where they are in memory."""

    def __init__(
        self,
        values: Tensor,
        gradients: Tensor,
        memory: Sequence[Tensor],
        runs: Sequence[tuple[int, float]],
        *,
        epsilon: float,
        betas: tuple[float, float] = (0.0, 0.0),
    ) -> None:
        """``memory`` is one buffer for Adagrad, two for Adam; ``runs`` are sizes of parts and their weight decay."""
        buffers = (values, gradients, *memory)
        total = sum(size for size, _ in runs)
        for buffer in buffers:
            if buffer.dtype != values.dtype or not native.supports(buffer) or buffer.shape != (total,):
                raise ValueError(f"all buffers must have {total} numbers of one type, float or double")
        if len(memory) not in (1, 2) or not all(buffer.is_contiguous() for buffer in buffers):
            raise ValueError("buffers must be contiguous, and one or two of them the optimiser's memory")
        sizes = (c_int64 * len(runs))(*(size for size, _ in runs))
        decays = (c_double * len(runs))(*(decay for _, decay in runs))
        first, second = (*memory, None)[:2]
        self._call = UpdateCall(
            runs=len(runs),
            epsilon=epsilon,
            beta=betas,
            size=addressof(sizes),
            decay=addressof(decays),
            values=values.data_ptr(),
            gradients=gradients.data_ptr(),
            first=first.data_ptr() if first is not None else None,
            second=second.data_ptr() if second is not None else None,
        )
        self._call.owners = (*buffers, sizes, decays)
        self._dtype = values.dtype

    def take(self, rate: float, step: int) -> None:
        """Change values and memory; ``step`` is counted from 1."""
        self._call.rate, self._call.step, self._call.threads = rate, step, native_threads()
        native.update(self._call, self._dtype)
