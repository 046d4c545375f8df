"""The recurrence in PyTorch: this package's scan, and those of other packages, each in its preferred layout."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from query_reduction.recurrence.scan import scan
from query_reduction_lab.bench.by_hand import scan_with_gradient
from query_reduction_lab.bench.problem import Problem, Result

__all__ = [
    "OursByHand",
    "TorchScan",
    "accelerated_scan_reference",
    "compiled_associative",
    "compiled_loop",
    "generic_associative",
    "hillis_steele",
    "log_space",
    "mambapy_pscan",
    "matrix_form",
    "ours",
    "torchlpc_scan",
    "unbound_loop",
    "unbound_states",
]

_LOG_OF_NOTHING = 1e-30


def _same(tensor: Tensor) -> Tensor:
    return tensor


def _keep(z: Tensor) -> Tensor:
    return 1 - z


def _time_last(tensor: Tensor) -> Tensor:
    return tensor.transpose(1, 2)


@dataclass(frozen=True, slots=True)
class _Way:
    """How one package expects its inputs."""

    states: Callable[[Tensor, Tensor], Tensor]
    """From gates and v, in its own layout, to all h_t."""
    gates: Callable[[Tensor], Tensor] = _keep
    """What it takes instead of z; computed before anything is timed."""
    sign: int = -1
    """The gradient of z is this many times that of its gates."""
    arrange: Callable[[Tensor], Tensor] = _same
    """From (batch, time, dim) to its own layout."""
    restore: Callable[[Tensor], Tensor] = _same
    """Back from its own layout."""


class TorchScan:
    """One problem, solved with autograd."""

    def __init__(self, way: _Way, problem: Problem) -> None:
        self._way = way
        z, v, gradient = (torch.from_numpy(array) for array in (problem.z, problem.v, problem.gradient))
        inputs = (way.gates(z), v)
        self._gates, self._v = (way.arrange(tensor).contiguous().clone().requires_grad_() for tensor in inputs)
        self._gradient = way.arrange(gradient).contiguous()

    def forward(self) -> object:
        """All states."""
        with torch.no_grad():
            return self._way.states(self._gates, self._v)

    def both(self) -> tuple[Tensor, Tensor, Tensor]:
        """All states and both gradients, in its own layout."""
        h = self._way.states(self._gates, self._v)
        return h, *torch.autograd.grad(h, (self._gates, self._v), self._gradient)  # type: ignore[return-value]

    def result(self) -> Result:
        """What ``both`` computes, as (batch, time, dim) and with the gradient of z."""
        h, of_gates, of_v = (self._way.restore(tensor.detach()).numpy() for tensor in self.both())
        return Result(h, self._way.sign * of_gates, of_v)


def ours(problem: Problem) -> TorchScan:
    """This package's scan, as it is called everywhere in it."""
    return TorchScan(_Way(scan, gates=_same, sign=1), problem)


class OursByHand:
    """This package's scan and its gradient, one call each."""

    def __init__(self, problem: Problem) -> None:
        self._z, self._v = (torch.from_numpy(array).clone() for array in (problem.z, problem.v))
        self._gradient = torch.from_numpy(problem.gradient)

    def forward(self) -> object:
        """All states."""
        return scan_with_gradient(self._z, self._v)[0]

    def both(self) -> tuple[Tensor, Tensor, Tensor]:
        """All states and both gradients."""
        h, gradients = scan_with_gradient(self._z, self._v)
        dz, dv, _ = gradients(self._gradient)
        return h, dz, dv

    def result(self) -> Result:
        """What ``both`` computes."""
        h, dz, dv = self.both()
        return Result(h.numpy(), dz.numpy(), dv.numpy())


def matrix_form(problem: Problem) -> TorchScan:
    """The paper's T x T matrix of products."""
    return TorchScan(_Way(lambda z, v: scan(z, v, backend="matrix"), gates=_same, sign=1), problem)


def unbound_states(keep: Tensor, v: Tensor) -> Tensor:
    """A loop over time whose backward is linear in T: ``unbind`` has one gradient, indexing has one per step."""
    h = torch.zeros_like(v[:, 0])
    states = []
    for gate, value in zip(keep.unbind(1), v.unbind(1), strict=True):
        h = torch.addcmul(value, gate, h)
        states.append(h)
    return torch.stack(states, dim=1)


def unbound_loop(problem: Problem) -> TorchScan:
    """One small operation per step."""
    return TorchScan(_Way(unbound_states), problem)


def compiled_loop(problem: Problem) -> TorchScan:
    """The same loop, unrolled and compiled."""
    return TorchScan(_Way(torch.compile(unbound_states, dynamic=False)), problem)


def _doubling(keep: Tensor, v: Tensor) -> Tensor:
    """Hillis and Steele: each round doubles the span of steps already composed."""
    span = 1
    while span < v.shape[1]:
        v = torch.cat([v[:, :span], torch.addcmul(v[:, span:], keep[:, span:], v[:, :-span])], dim=1)
        keep = torch.cat([keep[:, :span], keep[:, span:] * keep[:, :-span]], dim=1)
        span *= 2
    return v


def hillis_steele(problem: Problem) -> TorchScan:
    """An associative scan in log2(T) rounds of large operations."""
    return TorchScan(_Way(_doubling), problem)


def _combine(before: tuple[Tensor, Tensor], after: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
    return before[0] * after[0], torch.addcmul(after[1], before[1], after[0])


def _torch_associative(keep: Tensor, v: Tensor) -> Tensor:
    from torch._higher_order_ops import associative_scan

    h: Tensor = associative_scan(_combine, (keep, v), dim=1, combine_mode="generic")[1]
    return h


def generic_associative(problem: Problem) -> TorchScan:
    """PyTorch's own associative scan."""
    return TorchScan(_Way(_torch_associative), problem)


def compiled_associative(problem: Problem) -> TorchScan:
    """The associative scan in log2(T) rounds, compiled."""
    return TorchScan(_Way(torch.compile(_doubling, dynamic=False)), problem)


def mambapy_pscan(problem: Problem) -> TorchScan:
    """mambapy's parallel scan.

    Its tensors are (batch, time, channel, state). All units as states of one channel keep them side by side in memory,
    which is several times faster here than one channel each.
    """
    from mambapy.pscan import pscan

    return TorchScan(_Way(pscan, arrange=lambda tensor: tensor.unsqueeze(2), restore=lambda t: t.squeeze(2)), problem)


def accelerated_scan_reference(problem: Problem) -> TorchScan:
    """accelerated-scan's fallback without a GPU."""
    from accelerated_scan.ref import scan as reference

    return TorchScan(_Way(reference, arrange=_time_last, restore=_time_last), problem)


def torchlpc_scan(problem: Problem) -> TorchScan:
    """torchlpc's compiled filter of order one: y_t = x_t - a_t y_{t-1}, one row per unit."""
    from torchlpc import sample_wise_lpc

    batch, _, dim = problem.v.shape

    def states(gates: Tensor, v: Tensor) -> Tensor:
        h: Tensor = sample_wise_lpc(v, gates.unsqueeze(2))
        return h

    def arrange(tensor: Tensor) -> Tensor:
        return tensor.transpose(1, 2).flatten(0, 1)

    def restore(tensor: Tensor) -> Tensor:
        units: Tensor = tensor.unflatten(0, (batch, dim))
        return units.transpose(1, 2)

    return TorchScan(_Way(states, lambda z: z - 1, 1, arrange, restore), problem)


def log_space(problem: Problem) -> TorchScan:
    """Sums of logarithms (Heinsen, 2023); positive and negative v separately, as a logarithm requires."""

    def states(keep: Tensor, v: Tensor) -> Tensor:
        total = keep.log().cumsum(2)
        parts = [
            (total + torch.logcumsumexp(part.clamp(min=_LOG_OF_NOTHING).log() - total, dim=2)).exp() for part in (v, -v)
        ]
        h: Tensor = parts[0] - parts[1]
        return h

    return TorchScan(_Way(states, arrange=_time_last, restore=_time_last), problem)
