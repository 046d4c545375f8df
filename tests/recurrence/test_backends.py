"""Every backend against the loop in double precision, in value and gradient: random, odd and extreme inputs."""

from __future__ import annotations

import functools

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from query_reduction.errors import InputError
from query_reduction.native import library as native
from query_reduction.recurrence.scan import BACKENDS, scan

Arguments = tuple[Tensor, Tensor, Tensor, Tensor, bool]
GATES = ["random", "open", "closed", "mixed"]
TOLERANCE = {torch.float32: 2e-5, torch.float64: 1e-12}


NOT_BUILT = pytest.mark.skipif(not native.available(), reason="the native library is not built")
each_backend = pytest.mark.parametrize(
    "backend", [pytest.param(name, marks=[NOT_BUILT] if name == "fused" else []) for name in sorted(BACKENDS)]
)


def gates(kind: str, shape: tuple[int, ...], generator: torch.Generator) -> Tensor:
    """Gates as the network makes them; open and closed ones are exactly 1 and 0."""
    random = torch.rand(shape, generator=generator, dtype=torch.float64)
    exact = (random < 0.5).double()
    return {"random": random, "open": torch.ones(shape).double(), "closed": torch.zeros(shape).double()}.get(
        kind, torch.where(torch.rand(shape, generator=generator) < 0.5, exact, random)
    )


def run(
    backend: str, dtype: torch.dtype, z: Tensor, v: Tensor, lengths: Tensor, initial: Tensor, reverse: bool
) -> list[Tensor]:
    """Value and gradients, with a gradient that differs at every place."""
    leaves = [tensor.to(dtype).requires_grad_() for tensor in (z, v, initial)]
    h = scan(leaves[0], leaves[1], lengths, leaves[2], reverse=reverse, backend=backend)
    weight = torch.cos(torch.arange(h.numel(), dtype=torch.float64)).view(h.shape).to(dtype)
    return [h.detach(), *torch.autograd.grad((h * weight).sum(), leaves)]


def compare(
    backend: str, dtype: torch.dtype, z: Tensor, v: Tensor, lengths: Tensor, initial: Tensor, reverse: bool
) -> None:
    # Rounding the inputs first leaves the backend's own error to be judged.
    z, v, initial = (tensor.to(dtype).double() for tensor in (z, v, initial))
    wanted = run("loop", torch.float64, z, v, lengths, initial, reverse)
    judge(run(backend, dtype, z, v, lengths, initial, reverse), wanted, dtype)


def judge(got: list[Tensor], wanted: list[Tensor], dtype: torch.dtype) -> None:
    for name, have, want in zip(("h", "dz", "dv", "dinitial"), got, wanted, strict=True):
        assert have.isfinite().all(), name
        scale = max(1.0, want.abs().max().item())
        assert (have.double() - want).abs().max().item() <= TOLERANCE[dtype] * scale, name


@settings(max_examples=40, deadline=None)
@given(data=st.data())
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@each_backend
def test_equals_loop(backend: str, dtype: torch.dtype, data: st.DataObject) -> None:
    batch, time, dim = data.draw(st.tuples(st.integers(1, 5), st.integers(1, 70), st.integers(1, 40)), label="shape")
    generator = torch.Generator().manual_seed(data.draw(st.integers(0, 2**31), label="seed"))
    gate_dim = data.draw(st.sampled_from([1, dim]), label="gate")
    lengths = torch.tensor(data.draw(st.lists(st.integers(0, time), min_size=batch, max_size=batch), label="lengths"))
    z = gates(data.draw(st.sampled_from(GATES), label="gates"), (batch, time, gate_dim), generator)
    v = torch.randn(batch, time, dim, generator=generator, dtype=torch.float64)
    initial = torch.randn(batch, dim, generator=generator, dtype=torch.float64)
    compare(backend, dtype, z, v, lengths, initial, data.draw(st.booleans(), label="reverse"))


@pytest.mark.parametrize("kind", GATES)
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize(("time", "dim"), [(63, 50), (100, 64), (129, 7), (1, 200)])
@each_backend
def test_odd_lengths(backend: str, kind: str, reverse: bool, time: int, dim: int) -> None:
    generator = torch.Generator().manual_seed(time)
    z = gates(kind, (3, time, 1), generator)
    v = torch.randn(3, time, dim, generator=generator, dtype=torch.float64)
    initial = torch.randn(3, dim, generator=generator, dtype=torch.float64)
    compare(backend, torch.float32, z, v, torch.tensor([time, time // 2, 0]), initial, reverse)


@functools.cache
def long_story(kind: str, vector: bool, time: int) -> tuple[Arguments, list[Tensor]]:
    """Inputs, and what the loop makes of them: slow enough to be done once for all backends."""
    generator = torch.Generator().manual_seed(3)
    z = gates(kind, (2, time, 2 if vector else 1), generator).float().double()
    # Closed gates add all inputs up: keep the sum within what a float can hold to the tolerance.
    v = torch.randn(2, time, 2, generator=generator).double() / 8
    initial = torch.randn(2, 2, generator=generator).double()
    arguments = (z, v, torch.tensor([time, time - 17]), initial, False)
    return arguments, run("loop", torch.float64, *arguments)


@pytest.mark.parametrize(("kind", "vector"), [*((kind, False) for kind in GATES), ("mixed", True)])
@each_backend
def test_long_stories(backend: str, kind: str, vector: bool) -> None:
    arguments, wanted = long_story(kind, vector, 700 if backend == "matrix" else 5000)
    if backend != "loop":
        judge(run(backend, torch.float32, *arguments), wanted, torch.float32)


@each_backend
def test_past_the_length_nothing_counts(backend: str) -> None:
    z, v = torch.rand(2, 6, 1), torch.randn(2, 6, 3)
    lengths = torch.tensor([4, 0])
    first = scan(z, v, lengths, backend=backend)
    z[0, 4:], v[0, 4:], z[1], v[1] = 0.5, 100.0, 0.5, 100.0
    assert torch.equal(first, scan(z, v, lengths, backend=backend))
    assert (first[0, 4:] == 0).all() and (first[1] == 0).all()


@pytest.mark.parametrize("shape", [(0, 3, 4), (2, 0, 4), (2, 3, 0), (0, 0, 0)])
@each_backend
def test_empty(backend: str, shape: tuple[int, int, int]) -> None:
    z = torch.rand(shape[0], shape[1], 1, requires_grad=True)
    v = torch.randn(shape, requires_grad=True)
    h = scan(z, v, backend=backend)
    h.sum().backward()
    assert h.shape == shape
    assert z.grad is not None and v.grad is not None and (z.grad == 0).all()


def test_matrix_form_says_when_a_story_is_too_long() -> None:
    with pytest.raises(InputError, match=r"GiB.*'associative' or 'fused'"):
        scan(torch.rand(1, 40_000, 1), torch.rand(1, 40_000, 1), backend="matrix")


@each_backend
def test_double_precision_gradients(backend: str) -> None:
    generator = torch.Generator().manual_seed(5)
    lengths = torch.tensor([5, 2, 0])
    for gate in (1, 3):
        leaves = [
            torch.rand(shape, generator=generator, dtype=torch.float64, requires_grad=True)
            for shape in ((3, 5, gate), (3, 5, 3), (3, 3))
        ]
        for reverse in (False, True):
            assert torch.autograd.gradcheck(
                lambda z, v, initial, r=reverse: scan(z, v, lengths, initial, reverse=r, backend=backend), leaves
            )


@pytest.mark.parametrize(
    ("z", "v", "lengths", "initial"),
    [
        ((2, 3), (2, 3, 4), None, None),
        ((2, 3, 1), (2, 3), None, None),
        ((2, 4, 1), (2, 3, 4), None, None),
        ((2, 3, 2), (2, 3, 4), None, None),
        ((2, 3, 1), (2, 3, 4), (3,), None),
        ((2, 3, 1), (2, 3, 4), (2, 1), None),
        ((2, 3, 1), (2, 3, 4), None, (2, 3)),
    ],
)
@each_backend
def test_wrong_shapes(
    backend: str,
    z: tuple[int, ...],
    v: tuple[int, ...],
    lengths: tuple[int, ...] | None,
    initial: tuple[int, ...] | None,
) -> None:
    with pytest.raises(InputError, match="got"):
        scan(
            torch.zeros(z),
            torch.zeros(v),
            None if lengths is None else torch.zeros(lengths, dtype=torch.int64),
            None if initial is None else torch.zeros(initial),
            backend=backend,
        )


@each_backend
def test_wrong_types(backend: str) -> None:
    z, v = torch.zeros(2, 3, 1), torch.zeros(2, 3, 4)
    for arguments in (
        (z.double(), v),
        (z.long(), v.long()),
        (z, v, torch.ones(2)),
        (z, v, None, torch.zeros(2, 4).double()),
    ):
        with pytest.raises(InputError, match="got"):
            scan(*arguments, backend=backend)


def test_unknown_backend() -> None:
    with pytest.raises(InputError, match="no scan backend 'quantum'; choose from associative"):
        scan(torch.zeros(1, 1, 1), torch.zeros(1, 1, 1), backend="quantum")
