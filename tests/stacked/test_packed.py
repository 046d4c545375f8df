"""Packed sequences, and the gradients of packed GRU and LSTM against those of plain steps."""

from __future__ import annotations

from collections.abc import Callable
from itertools import accumulate

import pytest
import torch
from torch import Tensor

from query_reduction.stacked.packed import gru_states, pack, packed_gru, packed_lstm

STACK, D = 2, 3
LENGTHS = torch.tensor([2, 0, 4, 1, 4])


def numbers(*shape: int, seed: int = 0) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(shape, generator=generator, dtype=torch.float64).requires_grad_()


def test_steps_of_all_sequences_side_by_side() -> None:
    packing = pack(LENGTHS)
    assert packing.counts == (4, 3, 2, 2)
    steps = list(zip(packing.time.tolist(), packing.sequence.tolist(), strict=True))
    assert steps == [(0, 2), (0, 4), (0, 0), (0, 3), (1, 2), (1, 4), (1, 0), (2, 2), (2, 4), (3, 2), (3, 4)]
    assert packing.last.tolist() == [6, 0, 9, 3, 10]


def test_turned_sequences_run_backward() -> None:
    packing = pack(LENGTHS)
    turned = packing.turned(LENGTHS)
    assert torch.equal(packing.sequence[turned], packing.sequence)
    assert torch.equal(packing.time[turned], LENGTHS[packing.sequence] - 1 - packing.time)


@pytest.mark.parametrize("lengths", [[], [0, 0]])
def test_nothing_to_pack(lengths: list[int]) -> None:
    packing = pack(torch.tensor(lengths, dtype=torch.int64))
    assert packing.counts == ()
    assert packing.last.tolist() == lengths


def plain_lstm(x: Tensor, weight: Tensor) -> Callable[[int, Tensor, Tensor], tuple[Tensor, Tensor]]:
    def step(row: int, h: Tensor, c: Tensor) -> tuple[Tensor, Tensor]:
        i, f, o, n = (x[:, row] + (h.unsqueeze(1) @ weight).squeeze(1)).chunk(4, dim=1)
        c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(n)
        return torch.sigmoid(o) * torch.tanh(c), c

    return step


def plain_gru(x: Tensor, weight: Tensor, bias: Tensor) -> Callable[[int, Tensor, Tensor], tuple[Tensor, Tensor]]:
    def step(row: int, h: Tensor, c: Tensor) -> tuple[Tensor, Tensor]:
        reset_x, update_x, new_x = x[:, row].chunk(3, dim=1)
        reset_h, update_h, new_h = ((h.unsqueeze(1) @ weight).squeeze(1) + bias).chunk(3, dim=1)
        z = torch.sigmoid(update_x + update_h)
        h = (1 - z) * torch.tanh(new_x + torch.sigmoid(reset_x + reset_h) * new_h) + z * h
        return h, c

    return step


def by_steps(
    step: Callable[[int, Tensor, Tensor], tuple[Tensor, Tensor]], counts: tuple[int, ...], start: Tensor
) -> Tensor:
    """Sequence after sequence; the n-th packed sequence is the n-th of those that have a step."""
    found = {}
    before = [0, *accumulate(counts)]
    for place in range(counts[0]):
        h, c = start[:, place], torch.zeros_like(start[:, place])
        for t, count in enumerate(counts):
            if place < count:
                h, c = step(before[t] + place, h, c)
                found[before[t] + place] = h
    return torch.stack([found[row] for row in range(len(found))], dim=1)


def assert_same(found: Tensor, expected: Tensor, parameters: list[Tensor]) -> None:
    torch.testing.assert_close(found, expected, rtol=1e-12, atol=1e-13)
    direction = torch.cos(torch.arange(found.numel(), dtype=torch.float64)).view(found.shape)
    own = torch.autograd.grad((found * direction).sum(), parameters)
    theirs = torch.autograd.grad((expected * direction).sum(), parameters)
    for one, other in zip(own, theirs, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-11, atol=1e-12)


def test_lstm_equals_plain_steps() -> None:
    counts = pack(LENGTHS).counts
    x, weight = numbers(STACK, sum(counts), 4 * D), numbers(STACK, D, 4 * D, seed=1)
    expected = by_steps(plain_lstm(x, weight), counts, torch.zeros(STACK, counts[0], D, dtype=torch.float64))
    assert_same(packed_lstm(x, weight, counts), expected, [x, weight])


def test_gru_equals_plain_steps() -> None:
    counts = pack(LENGTHS).counts
    x, weight, bias = (
        numbers(STACK, sum(counts), 3 * D),
        numbers(STACK, D, 3 * D, seed=1),
        numbers(STACK, 3 * D, seed=2),
    )
    start = numbers(STACK, counts[0], D, seed=3)
    expected = by_steps(plain_gru(x, weight, bias), counts, start)
    assert_same(packed_gru(x, weight, bias, counts, start), expected, [x, weight, bias, start])


def test_sequences_of_equal_length_need_no_packing() -> None:
    x, weight, bias = numbers(STACK, 3, 5, 3 * D), numbers(STACK, D, 3 * D, seed=1), numbers(STACK, 3 * D, seed=2)
    steps = x.transpose(1, 2).flatten(1, 2)
    packed = packed_gru(steps, weight, bias, [3] * 5).view(STACK, 5, 3, D).transpose(1, 2)
    assert_same(gru_states(x, weight, bias), packed, [x, weight, bias])


def test_no_steps_give_no_states() -> None:
    weight, bias = numbers(STACK, D, 3 * D), numbers(STACK, 3 * D, seed=2)
    assert gru_states(numbers(STACK, 4, 0, 3 * D), weight, bias).shape == (STACK, 4, 0, D)
    assert packed_lstm(numbers(STACK, 0, 4 * D), numbers(STACK, D, 4 * D), ()).shape == (STACK, 0, D)


@pytest.mark.parametrize("cell", ["gru", "lstm"])
def test_restarts_are_rounded_as_if_alone(cell: str) -> None:
    """Numbers of rows and units that fill no vector, and weights that begin at odd places in memory."""
    stack, d, counts = 7, 50, (32, 31, 15, 3, 3, 1)
    generator = torch.Generator().manual_seed(0)
    gates = 3 if cell == "gru" else 4
    shapes = (sum(counts), gates * d), (d, gates * d), (gates * d,)
    given = [torch.randn(stack, *shape, generator=generator).requires_grad_() for shape in shapes]

    def states(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        return (
            packed_gru(x, weight, bias, counts) if cell == "gru" else packed_lstm(x + bias.unsqueeze(1), weight, counts)
        )

    together = states(*given)
    gradients = torch.autograd.grad(together.square().sum(), given)
    for some in (slice(1, 2), slice(3, 6)):
        own = [parameter[some].detach().clone().requires_grad_() for parameter in given]
        apart = states(*own)
        assert torch.equal(apart, together[some])
        for mine, theirs in zip(torch.autograd.grad(apart.square().sum(), own), gradients, strict=True):
            assert torch.equal(mine, theirs[some])
