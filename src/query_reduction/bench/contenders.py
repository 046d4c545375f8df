"""Ways to compute h_t = a_t h_{t-1} + v_t that can be run here: ours, and those of other packages.

Each gets its inputs in the layout it likes best, outside the timed part.
"""

from __future__ import annotations

import functools
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor

from query_reduction.native import library as native
from query_reduction.scan import scan

__all__ = ["Contender", "Size", "contenders"]

_FLOAT_BYTES = 4
_LOG_OF_NOTHING = 1e-30


@dataclass(frozen=True, slots=True)
class Size:
    """The shape of a recurrence."""

    batch: int
    time: int
    dim: int
    gates: Literal["vector", "scalar"] = "vector"

    @property
    def numbers(self) -> int:
        """Elements of ``v``."""
        return self.batch * self.time * self.dim


def _same(tensor: Tensor) -> Tensor:
    return tensor


def _time_last(tensor: Tensor) -> Tensor:
    return tensor.transpose(1, 2)


@dataclass(frozen=True, slots=True)
class Contender:
    """One way to compute the recurrence."""

    name: str
    states: Callable[[Tensor, Tensor], Tensor]
    """From gates and v, in its own layout, to all h_t."""
    peak_bytes: Callable[[Size], float]
    """Memory at the worst moment of forward and backward, roughly."""
    growth: int = 1
    """Time grows with this power of the length."""
    takes_keep: bool = True
    """Its gates are a = 1 - z; ours take z."""
    full_gates: bool = True
    """It needs a gate for every unit, also where all units share one."""
    arrange: Callable[[Tensor], Tensor] = _same
    """From (batch, time, dim) to its own layout."""
    restore: Callable[[Tensor], Tensor] = _same
    """Back from its own layout."""
    compiled: bool = False

    def inputs(self, z: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        """Leaf tensors for gates and v."""
        gates = 1 - z if self.takes_keep else z
        if self.full_gates:
            gates = gates.expand_as(v)
        return tuple(  # type: ignore[return-value]
            self.arrange(tensor).contiguous().clone().requires_grad_() for tensor in (gates, v)
        )

    def gate_gradient(self, gradient: Tensor, z: Tensor) -> Tensor:
        """The gradient of z from that of its own gates."""
        restored = -self.restore(gradient) if self.takes_keep else self.restore(gradient)
        return restored.sum(2, keepdim=True) if z.shape[2] < restored.shape[2] else restored


def _copies(count: float) -> Callable[[Size], float]:
    return lambda size: count * size.numbers * _FLOAT_BYTES


def _squares(count: float) -> Callable[[Size], float]:
    def peak(size: Size) -> float:
        gates = size.dim if size.gates == "vector" else 1
        return count * size.batch * size.time**2 * gates * _FLOAT_BYTES + _copies(8)(size)

    return peak


def contenders(*, compiled: bool) -> tuple[list[Contender], list[str]]:
    """All that can run here, ours first, and a note for each that cannot."""
    found, notes = [], []
    for make in (_fused, _own, _mambapy, _accelerated_scan, _generic, _heinsen):
        made = make()
        if isinstance(made, str):
            notes.append(made)
        else:
            found.extend(made)
    if not compiled:
        notes.append("torch.compile of the matrix form: left out here, compiling takes longer than all the rest")
    elif shutil.which("c++") is None and shutil.which("g++") is None and shutil.which("clang++") is None:
        notes.append("torch.compile of the matrix form: left out, there is no C++ compiler")
    else:
        found.append(_compiled_matrix())
    return found, notes


def _backend(name: str) -> Callable[[Tensor, Tensor], Tensor]:
    return functools.partial(scan, backend=name)


def _fused() -> list[Contender] | str:
    if not native.available():
        return "fused: left out, the native library is not there"
    return [Contender("fused", _backend("fused"), _copies(7), takes_keep=False, full_gates=False)]


def _own() -> list[Contender]:
    ours: dict[str, Any] = {"takes_keep": False, "full_gates": False}
    return [
        Contender("loop", _backend("loop"), _copies(45), growth=2, **ours),
        Contender("matrix", _backend("matrix"), _squares(4.5), growth=2, **ours),
        # Every round of log2(T) keeps its inputs for the way back.
        Contender(
            "associative", _backend("associative"), lambda size: _copies(3.5)(size) * size.time.bit_length(), **ours
        ),
    ]


def _compiled_matrix() -> Contender:
    def states(z: Tensor, v: Tensor) -> Tensor:
        return scan(z, v, backend="matrix")

    return Contender(
        "torch.compile(matrix)",
        torch.compile(states, dynamic=False),
        _squares(4.5),
        growth=2,
        takes_keep=False,
        full_gates=False,
        compiled=True,
    )


def _mambapy() -> list[Contender] | str:
    try:
        from mambapy.pscan import pscan
    except ImportError:
        return "mambapy pscan: left out, not installed (pip install 'query-reduction[bench]')"
    # Its tensors are (batch, time, channel, state). All units as states of one channel keep them side by side in
    # memory, which is several times faster here than a channel each.
    return [
        Contender(
            "mambapy pscan",
            pscan,
            _copies(11),
            arrange=lambda tensor: tensor.unsqueeze(2),
            restore=lambda tensor: tensor.squeeze(2),
        )
    ]


def _accelerated_scan() -> list[Contender] | str:
    try:
        from accelerated_scan.ref import scan as reference
    except ImportError:
        return "accelerated-scan ref: left out, not installed (pip install 'query-reduction[bench]')"
    return [
        Contender("accelerated-scan ref", reference, _copies(18), arrange=_time_last, restore=_time_last),
    ]


def _generic() -> list[Contender] | str:
    try:
        from torch._higher_order_ops import associative_scan
    except ImportError:
        return "torch associative_scan: left out, this PyTorch has none"

    def combine(before: tuple[Tensor, Tensor], after: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
        return before[0] * after[0], before[1] * after[0] + after[1]

    def states(keep: Tensor, v: Tensor) -> Tensor:
        h: Tensor = associative_scan(combine, (keep, v), dim=1, combine_mode="generic")[1]
        return h

    return [Contender("torch associative_scan", states, _copies(18))]


def _heinsen() -> list[Contender]:
    """Sums of logarithms (Heinsen 2023); positive and negative v apart, as a logarithm needs it."""

    def states(keep: Tensor, v: Tensor) -> Tensor:
        total = keep.log().cumsum(2)
        parts = [
            (total + torch.logcumsumexp(part.clamp(min=_LOG_OF_NOTHING).log() - total, dim=2)).exp() for part in (v, -v)
        ]
        return parts[0] - parts[1]

    return [Contender("log-space (Heinsen)", states, _copies(31), arrange=_time_last, restore=_time_last)]
