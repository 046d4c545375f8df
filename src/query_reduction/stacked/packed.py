"""Recurrent layers over sequences of different lengths, with gradients written out.

Sequences are *packed*: all their first steps stand side by side, then all second steps, and so on, the longest sequence
first, so that nothing is computed past a sequence's end. A step back in time is a few passes over memory and one
product; the gradient of a weight is one product for all steps.

tanh(x) is computed as 2σ(2x) - 1: on a CPU, PyTorch's sigmoid takes a sixth of the time of its tanh.

PyTorch computes the last few sigmoids of a tensor, which fill no vector of the processor, with another formula. Which
ones these are must not depend on how many restarts stand side by side: sigmoids are taken in buffers that are filled
up, and products have a multiple of four rows, because those of one or three are rounded by where the weights stand.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.autograd import Function
from torch.autograd.function import once_differentiable
from torch.nn import functional

__all__ = ["Packing", "gru_states", "pack", "packed_gru", "packed_lstm"]

_sigmoid_backward = torch.ops.aten.sigmoid_backward


@dataclass(frozen=True, slots=True)
class Packing:
    """Where the steps of sequences stand when they are packed."""

    counts: tuple[int, ...]
    """How many sequences have a first step, a second one, and so on."""
    sequence: Int[Tensor, "row"]
    """The sequence each packed step belongs to …"""
    time: Int[Tensor, "row"]
    """… and its number in it, from 0."""
    last: Int[Tensor, "sequence"]
    """The row of each sequence's last step; 0 if it has none."""

    def turned(self, lengths: Int[Tensor, "sequence"]) -> Int[Tensor, "row"]:
        """The rows in an order in which every sequence runs backward."""
        rows = torch.zeros(len(lengths), len(self.counts), dtype=torch.int64)
        rows[self.sequence, self.time] = torch.arange(len(self.time))
        return rows[self.sequence, lengths.long()[self.sequence] - 1 - self.time]


def pack(lengths: Int[Tensor, "sequence"]) -> Packing:
    """Pack sequences of these lengths."""
    lengths = lengths.long()
    order = lengths.argsort(descending=True, stable=True)
    time = torch.arange(int(lengths.max()) if len(lengths) else 0)
    inside = time.unsqueeze(1) < lengths[order]
    step, place = inside.nonzero(as_tuple=True)
    counts = inside.sum(1)
    if not len(time):
        return Packing((), order[place], step, torch.zeros_like(lengths))
    last = (counts.cumsum(0) - counts)[(lengths - 1).clamp(min=0)] + order.argsort()
    return Packing(tuple(counts.tolist()), order[place], step, last * (lengths > 0))


def packed_gru(
    projected: Float[Tensor, "stack row three_dim"],
    weight: Float[Tensor, "stack dim three_dim"],
    bias: Float[Tensor, "stack three_dim"],
    counts: Sequence[int],
    start: Float[Tensor, "stack sequence dim"] | None = None,
) -> Float[Tensor, "stack row dim"]:
    """The states of a GRU after each packed step, given W x_t of reset gate, update gate and candidate side by side:
    h_t = (1 - z_t) n_t + z_t h_{t-1}, with n_t = tanh(W x_t + r_t (U h_{t-1} + b))."""
    if start is None:
        start = projected.new_zeros(projected.shape[0], max(counts, default=0), weight.shape[1])
    states: Tensor = _GRU.apply(projected, weight, bias, start, tuple(counts))  # type: ignore[no-untyped-call]
    return states


def packed_lstm(
    projected: Float[Tensor, "stack row four_dim"],
    weight: Float[Tensor, "stack dim four_dim"],
    counts: Sequence[int],
) -> Float[Tensor, "stack row dim"]:
    """The states of an LSTM after each packed step, given W x_t + b of input, forget and output gate and candidate side
    by side: c_t = f_t c_{t-1} + i_t tanh(n_t) and h_t = o_t tanh(c_t), from zero."""
    states: Tensor = _LSTM.apply(projected, weight, tuple(counts))  # type: ignore[no-untyped-call]
    return states


def gru_states(
    projected: Float[Tensor, "stack rows time three_dim"],
    weight: Float[Tensor, "stack dim three_dim"],
    bias: Float[Tensor, "stack three_dim"],
    start: Float[Tensor, "stack rows dim"] | None = None,
) -> Float[Tensor, "stack rows time dim"]:
    """The same for sequences that all have the same number of steps."""
    stack, rows, time, _ = projected.shape
    steps = projected.transpose(1, 2).flatten(1, 2)
    states = packed_gru(steps, weight, bias, [rows] * time, start)
    return states.view(stack, time, rows, weight.shape[1]).transpose(1, 2)


_LANES = 64


def _room(like: Tensor, rows: int, width: int) -> tuple[Tensor, Tensor]:
    """A tensor of so many rows for each of the stack; and the buffer it begins, filled up to whole vectors."""
    size = like.shape[0] * rows * width
    buffer = like.new_zeros(-(-size // _LANES) * _LANES)
    return buffer[:size].view(like.shape[0], rows, width), buffer


def _product(h: Tensor, weight: Tensor, added: Tensor) -> Tensor:
    """h W + b."""
    rows = h.shape[1]
    return torch.baddbmm(added, functional.pad(h, (0, 0, 0, -rows % 4)), weight)[:, :rows]


def _tanh(x: Tensor) -> Tensor:
    values, buffer = _room(x, *x.shape[1:])
    torch.mul(x, 2, out=values)
    buffer.sigmoid_()
    return values.mul_(2).sub_(1)


def _tanh_slope(tanh: Tensor) -> Tensor:
    return tanh.square().neg_().add_(1)


def _rows(counts: Sequence[int]) -> list[tuple[int, int]]:
    """The first row of every step and of the next."""
    ends = [0]
    for count in counts:
        ends.append(ends[-1] + count)
    return list(pairwise(ends))


class _GRU(Function):
    """``packed_gru``; see there."""

    @staticmethod
    def forward(
        ctx: Any, projected: Tensor, weight: Tensor, bias: Tensor, start: Tensor, counts: tuple[int, ...]
    ) -> Tensor:
        """Step through time, keeping the gates of every step."""
        d = weight.shape[1]
        states = projected.new_empty(*projected.shape[:2], d)
        gates, candidates, inner, before = [], [], [], []
        h, shift = start, bias.unsqueeze(1)
        for (first, end), count in zip(_rows(counts), counts, strict=True):
            if count < h.shape[1]:
                h = h[:, :count].contiguous()
            x = projected[:, first:end]
            from_state = _product(h, weight, shift)
            gate, buffer = _room(h, count, 2 * d)
            torch.add(x[:, :, : 2 * d], from_state[:, :, : 2 * d], out=gate)
            buffer.sigmoid_()
            new = _tanh(torch.addcmul(x[:, :, 2 * d :], gate[:, :, :d], from_state[:, :, 2 * d :]))
            before.append(h)
            h = torch.lerp(new, h, gate[:, :, d:])
            states[:, first:end] = h
            gates.append(gate)
            candidates.append(new)
            inner.append(from_state[:, :, 2 * d :])
        ctx.save_for_backward(weight, start)
        ctx.counts, ctx.kept = counts, (gates, candidates, inner, before)
        return states

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        """Step back through time."""
        weight, start = ctx.saved_tensors
        gates, candidates, inner, before = ctx.kept
        d, turned = weight.shape[1], weight.transpose(1, 2)
        to_input = grad.new_empty(*grad.shape[:2], 3 * d)
        to_state = torch.empty_like(to_input)
        # What the steps after this one say of the states they began with, the longest sequences first.
        later = torch.zeros_like(start)
        nothing = later.new_zeros(1, 1, d)
        for t, (first, end) in reversed(list(enumerate(_rows(ctx.counts)))):
            count = end - first
            gate, new, h = gates[t], candidates[t], before[t]
            dh = later[:, :count] + grad[:, first:end]
            reset, update = gate[:, :, :d], gate[:, :, d:]
            kept = dh * update
            dnew = (dh - kept).mul_(_tanh_slope(new))
            dgate = torch.cat((dnew * inner[t], dh.mul_(h - new)), dim=2)
            both = _sigmoid_backward(dgate, gate)
            to_input[:, first:end, : 2 * d] = both
            to_input[:, first:end, 2 * d :] = dnew
            step = torch.cat((both, dnew.mul_(reset)), dim=2)
            to_state[:, first:end] = step
            later[:, :count] = kept.add_(_product(step, turned, nothing))
        came_from = torch.cat(before, dim=1) if before else grad.new_zeros(grad.shape[0], 0, d)
        return to_input, came_from.transpose(1, 2) @ to_state, to_state.sum(1), later, None


class _LSTM(Function):
    """``packed_lstm``; see there."""

    @staticmethod
    def forward(ctx: Any, projected: Tensor, weight: Tensor, counts: tuple[int, ...]) -> Tensor:
        """Step through time, keeping gates and cells of every step."""
        d = weight.shape[1]
        states = projected.new_empty(*projected.shape[:2], d)
        # One sigmoid for all: the candidate's tanh is one of twice the value.
        twice = weight.new_ones(4 * d)
        twice[3 * d :] = 2
        weight = weight * twice
        gates, bent, cells, before = [], [], [], []
        h = c = projected.new_zeros(projected.shape[0], max(counts, default=0), d)
        nothing = h.new_zeros(1, 1, 4 * d)
        for (first, end), count in zip(_rows(counts), counts, strict=True):
            if count < h.shape[1]:
                h, c = h[:, :count].contiguous(), c[:, :count].contiguous()
            gate, buffer = _room(h, count, 4 * d)
            torch.addcmul(_product(h, weight, nothing), projected[:, first:end], twice, out=gate)
            buffer.sigmoid_()
            i, f, o, n = gate.chunk(4, dim=2)
            before.append(h)
            cells.append(c)
            c = torch.mul(f, c).addcmul_(i, n, value=2).sub_(i)
            tanh = _tanh(c)
            h = o * tanh
            states[:, first:end] = h
            gates.append(gate)
            bent.append(tanh)
        ctx.save_for_backward(weight, twice)
        ctx.counts, ctx.kept = counts, (gates, bent, cells, before)
        return states

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        """Step back through time."""
        weight, twice = ctx.saved_tensors
        gates, bent, cells, before = ctx.kept
        d, turned = weight.shape[1], weight.transpose(1, 2)
        to_gates = grad.new_empty(*grad.shape[:2], 4 * d)
        later = grad.new_zeros(grad.shape[0], max(ctx.counts, default=0), d)
        later_cell = torch.zeros_like(later)
        nothing = later.new_zeros(1, 1, d)
        for t, (first, end) in reversed(list(enumerate(_rows(ctx.counts)))):
            count = end - first
            gate, tanh = gates[t], bent[t]
            i, f, o, n = gate.chunk(4, dim=2)
            dh = later[:, :count] + grad[:, first:end]
            # dc from h = o tanh(c), and from the cell of the next step.
            dc = (dh * o).mul_(_tanh_slope(tanh)).add_(later_cell[:, :count])
            dgate = torch.empty_like(gate)
            torch.mul(dc, n.mul(2).sub_(1), out=dgate[:, :, :d])
            torch.mul(dc, cells[t], out=dgate[:, :, d : 2 * d])
            torch.mul(dh, tanh, out=dgate[:, :, 2 * d : 3 * d])
            torch.mul(dc, i, out=dgate[:, :, 3 * d :]).mul_(2)
            step = _sigmoid_backward(dgate, gate)
            to_gates[:, first:end] = step
            later[:, :count] = _product(step, turned, nothing)
            later_cell[:, :count] = dc.mul_(f)
        came_from = torch.cat(before, dim=1) if before else grad.new_zeros(grad.shape[0], 0, d)
        to_gates *= twice
        return to_gates, came_from.transpose(1, 2) @ to_gates, None
