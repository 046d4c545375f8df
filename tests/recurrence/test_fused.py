"""What only the fused backend promises: an operator PyTorch knows, the same bits on any number of threads."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from query_reduction.errors import InputError
from query_reduction.native import library as native
from query_reduction.native import threads
from query_reduction.recurrence.scan import scan

pytestmark = pytest.mark.skipif(not native.available(), reason="the native library is not built")


def inputs(batch: int, time: int, dim: int, gate: int, dtype: torch.dtype = torch.float32) -> list[Tensor]:
    generator = torch.Generator().manual_seed(batch + time + dim)
    return [
        torch.rand(batch, time, gate, generator=generator, dtype=dtype, requires_grad=True),
        torch.randn(batch, time, dim, generator=generator, dtype=dtype, requires_grad=True),
        torch.randint(0, time + 1, (batch,), generator=generator),
        torch.randn(batch, dim, generator=generator, dtype=dtype, requires_grad=True),
    ]


def results(arguments: list[Tensor], reverse: bool) -> list[Tensor]:
    h = scan(*arguments, reverse=reverse, backend="fused")
    leaves = [argument for argument in arguments if argument.requires_grad]
    return [h, *torch.autograd.grad(h.square().sum(), leaves)]


def results_in_a_row(arguments: list[Tensor], reverse: bool) -> list[list[Tensor]]:
    """Several times: scans that are not large get threads only when others came just before them."""
    return [results(arguments, reverse) for _ in range(4)]


@pytest.mark.usefixtures("any_threads")
@pytest.mark.parametrize("gate", ["scalar", "vector"])
@pytest.mark.parametrize("shape", [(1, 1000, 200), (2, 1301, 50), (5, 990, 33), (70, 640, 3)])
@pytest.mark.parametrize("reverse", [False, True])
def test_same_bits_on_any_number_of_threads(gate: str, shape: tuple[int, int, int], reverse: bool) -> None:
    arguments = inputs(*shape, 1 if gate == "scalar" else shape[2])
    threads.use_threads(1)
    first = results(arguments, reverse)
    for count in (2, 3, 8):
        threads.use_threads(count)
        for again in results_in_a_row(arguments, reverse):
            assert all(torch.equal(a, b) for a, b in zip(first, again, strict=True))


@pytest.mark.usefixtures("any_threads")
@pytest.mark.parametrize("batch", [1, 2, 3, 8, 9, 33])
@pytest.mark.parametrize("count", [1, 2, 3])
def test_every_example_has_its_gradient(batch: int, count: int) -> None:
    """Backward takes the examples in another order than forward, and threads several at once."""
    threads.use_threads(count)
    arguments = inputs(batch, 40, 70, 70)
    h = scan(*arguments, backend="loop")
    leaves = [argument for argument in arguments if argument.requires_grad]
    wanted = [h, *torch.autograd.grad(h.square().sum(), leaves)]
    for got in results_in_a_row(arguments, False):
        for have, want in zip(got, wanted, strict=True):
            torch.testing.assert_close(have, want, rtol=2e-4, atol=2e-4)


FADING = {"soon": 0.5, "late": 0.002, "never": 0.0}
"""How far gates are open at most: how fast the past fades, and with it what one stretch of time leaves the next."""


@pytest.mark.usefixtures("any_threads")
@pytest.mark.parametrize("gate", ["scalar", "vector"])
@pytest.mark.parametrize("fading", FADING)
@pytest.mark.parametrize("reverse", [False, True])
def test_long_stories_cut_into_stretches_keep_their_bits(gate: str, fading: str, reverse: bool) -> None:
    """Also where lengths end inside a stretch, nothing counts at all, or something is not a number."""
    generator = torch.Generator().manual_seed(11)
    dim, time = 150, 1700
    z = FADING[fading] * torch.rand(3, time, 1 if gate == "scalar" else dim, generator=generator)
    v, initial = torch.randn(3, time, dim, generator=generator), torch.randn(3, dim, generator=generator)
    v[2, 5, 7] = v[2, time - 300, 8] = torch.nan
    arguments = [z.requires_grad_(), v.requires_grad_(), torch.tensor([time, 300, time]), initial.requires_grad_()]
    for count in (3, 1):
        given = [argument[:count].detach().requires_grad_(argument.requires_grad) for argument in arguments]
        threads.use_threads(1)
        first = results(given, reverse)
        for workers in (2, 5):
            threads.use_threads(workers)
            for again in results_in_a_row(given, reverse):
                assert all(torch.equal(a.nan_to_num(), b.nan_to_num()) for a, b in zip(first, again, strict=True))
                assert all(torch.equal(a.isnan(), b.isnan()) for a, b in zip(first, again, strict=True))


@pytest.mark.usefixtures("any_threads")
@pytest.mark.parametrize("name", ["avx512", "avx2", "baseline"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_results_that_no_cache_holds(name: str, dtype: torch.dtype) -> None:
    """They are written past it, if rows are whole vectors; the last ones of a row 4 numbers longer are not."""
    used = native.variant()
    if not native.choose_variant(name):
        pytest.skip("not on this processor")
    try:
        for dim in (64, 68):
            generator = torch.Generator().manual_seed(dim)
            z = torch.rand(1, 60_000, dim, generator=generator, dtype=dtype, requires_grad=True)
            v = torch.randn(1, 60_000, dim, generator=generator, dtype=dtype, requires_grad=True)
            h, dz, dv = results([z, v], False)
            state, places = torch.zeros(dim, dtype=dtype), slice(31_000, 31_050)
            for t in range(30_900, 31_050):  # what was before has faded
                state = (1 - z[0, t]) * state + v[0, t]
            torch.testing.assert_close(h[0, 31_049], state, rtol=1e-4, atol=1e-4)
            after = dv[0, 31_001:31_051] * (1 - z[0, 31_001:31_051])
            torch.testing.assert_close(dv[0, places], 2 * h[0, places] + after, rtol=1e-4, atol=1e-4)
            torch.testing.assert_close(dz[0, places], -h[0, 30_999:31_049] * dv[0, places], rtol=1e-4, atol=1e-4)
    finally:
        native.choose_variant(used)


@pytest.mark.parametrize("gate", [1, 5])
@pytest.mark.parametrize("reverse", [False, True])
def test_operator_is_well_formed(gate: int, reverse: bool) -> None:
    arguments = inputs(3, 6, 5, gate)
    torch.library.opcheck(torch.ops.query_reduction.scan.default, (*arguments, reverse))
    h = torch.randn(3, 6, 5)
    plain = [argument.detach() for argument in arguments]
    torch.library.opcheck(
        torch.ops.query_reduction.scan_backward.default, (h, plain[0], h, plain[2], plain[3], reverse)
    )


@pytest.mark.parametrize("reverse", [False, True])
def test_vmap(reverse: bool) -> None:
    z, v, lengths, initial = (tensor.detach() for tensor in inputs(3, 6, 5, 1, torch.float64))
    stack = torch.stack([v, v + 1, v * 2], dim=2)

    def loss(z: Tensor, v: Tensor) -> Tensor:
        return scan(z, v, lengths, initial, reverse=reverse, backend="fused").square().sum()

    def expected(backend: str) -> list[Tensor]:
        return [
            scan(z, stack[:, :, i], lengths, initial, reverse=reverse, backend=backend) for i in range(stack.shape[2])
        ]

    mapped = torch.func.vmap(lambda v: scan(z, v, lengths, initial, reverse=reverse, backend="fused"), in_dims=2)(stack)
    torch.testing.assert_close(mapped, torch.stack(expected("loop")))
    gradients = torch.func.vmap(torch.func.grad(loss, argnums=(0, 1)), in_dims=(None, 2))(z, stack)
    for i in range(stack.shape[2]):
        alone = torch.func.grad(loss, argnums=(0, 1))(z, stack[:, :, i])
        torch.testing.assert_close((gradients[0][i], gradients[1][i]), alone)


def test_inputs_need_not_be_contiguous() -> None:
    z, v, lengths, initial = (tensor.detach() for tensor in inputs(4, 6, 10, 10))
    wide = torch.stack([v, v], dim=3)
    odd = [z.transpose(0, 1).contiguous().transpose(0, 1), wide[..., 1], torch.stack([lengths, lengths], 1)[:, 0]]
    assert not any(tensor.is_contiguous() for tensor in odd)
    expected = scan(z, v, lengths, initial, backend="fused")
    assert torch.equal(expected, scan(odd[0], odd[1], odd[2], initial.T.contiguous().T, backend="fused"))


def test_auto_takes_the_fused_backend_on_the_cpu() -> None:
    z, v, lengths, initial = inputs(2, 4, 3, 1)
    assert "_Scan" in str(scan(z, v, lengths, initial).grad_fn)
    half = scan(z.half(), v.half(), lengths, initial.half())
    assert half.dtype == torch.float16


def test_other_types_are_refused() -> None:
    with pytest.raises(ValueError, match="float32 and float64"):
        scan(torch.zeros(1, 1, 1).half(), torch.zeros(1, 1, 1).half(), backend="fused")
    with pytest.raises(ValueError, match="works on the CPU"):
        scan(torch.zeros(1, 1, 1, device="meta"), torch.zeros(1, 1, 1, device="meta"), backend="fused")


def test_not_a_number_stays_visible() -> None:
    v = torch.zeros(1, 4, 50)
    v[0, 2, 49] = torch.nan
    h = scan(torch.full((1, 4, 1), 0.5), v, backend="fused")
    assert h[0, 2:, 49].isnan().all() and h[0, :, :49].isfinite().all()


def bad_operator_inputs() -> dict[str, dict[str, Tensor]]:
    z, v = torch.zeros(2, 3, 1), torch.zeros(2, 3, 4)
    return {
        "no lengths": {"lengths": torch.zeros(0, dtype=torch.int64)},
        "lengths of another type": {"lengths": torch.ones(2)},
        "half": {"z": z.half(), "v": v.half(), "initial": torch.zeros(2, 4).half()},
        "bfloat16": {"z": z.bfloat16(), "v": v.bfloat16(), "initial": torch.zeros(2, 4).bfloat16()},
        "two types": {"z": z.double()},
        "gates of another width": {"z": torch.zeros(2, 3, 2)},
        "flat": {"v": v[0]},
        "initial": {"initial": torch.zeros(2, 3)},
        "whole numbers": {"z": z.long(), "v": v.long(), "initial": torch.zeros(2, 4).long()},
    }


@pytest.mark.parametrize("name", bad_operator_inputs())
def test_operators_check_what_they_are_given(name: str) -> None:
    given = {
        "z": torch.zeros(2, 3, 1),
        "v": torch.zeros(2, 3, 4),
        "lengths": torch.tensor([3, 2]),
        "initial": torch.zeros(2, 4),
    } | bad_operator_inputs()[name]
    with pytest.raises((InputError, ValueError), match=r"got|works in"):
        torch.ops.query_reduction.scan(*given.values(), False)
    with pytest.raises((InputError, ValueError), match=r"got|works in"):
        torch.ops.query_reduction.scan_backward(given["v"], *given.values(), False)


def test_operators_take_lengths_of_any_size() -> None:
    z, v, initial = torch.rand(2, 3, 1), torch.rand(2, 3, 4), torch.rand(2, 4)
    far = torch.ops.query_reduction.scan(z, v, torch.tensor([2**62, -(2**62)]), initial, False)
    assert torch.equal(far, scan(z, v, torch.tensor([3, 0]), initial, backend="fused"))
    with pytest.raises(ValueError, match="gradient must be"):
        torch.ops.query_reduction.scan_backward(v[:1], z, v, torch.tensor([3, 3]), initial, False)


def test_there_is_no_second_derivative() -> None:
    z, v, lengths, initial = inputs(2, 4, 3, 1)
    h = scan(z, v, lengths, initial, backend="fused")
    with pytest.raises(RuntimeError, match="no second derivative"):
        torch.autograd.grad(h.sum(), v, create_graph=True)


@pytest.mark.parametrize("gate", [1, 70])
def test_large_results_outlive_each_other(gate: int) -> None:
    # Their memory is used again, but never while a tensor still lies in it.
    z, v = torch.rand(40, 300, gate), torch.randn(40, 300, 70)
    wanted = scan(z, v, backend="associative")
    kept = [scan(z, v * factor, backend="fused") for factor in range(1, 6)]
    for factor, h in enumerate(kept, 1):
        torch.testing.assert_close(h, wanted * factor, rtol=1e-4, atol=1e-4)
    address, total = kept[0].data_ptr(), kept[0][5:].sum()
    part = kept[0][1]
    kept.clear()
    again = [scan(z, v, backend="fused") for _ in range(5)]
    assert address not in [h.data_ptr() for h in again]
    torch.testing.assert_close(part, wanted[1], rtol=1e-4, atol=1e-4)
    assert total.isfinite()


@pytest.mark.parametrize("shape", [(1, 130, 64), (3, 65, 17), (2, 70, 33), (15, 9, 50), (2, 9, 130)])
@pytest.mark.parametrize("gate", ["scalar", "vector"])
def test_rows_of_any_width(shape: tuple[int, int, int], gate: str) -> None:
    for dtype in (torch.float32, torch.float64):
        arguments = inputs(*shape, 1 if gate == "scalar" else shape[2], dtype)
        for given in (arguments, [arguments[0], arguments[1]]):
            got = results(given, False)
            h = scan(*given, backend="loop")
            leaves = [argument for argument in given if argument.requires_grad]
            for have, want in zip(got, [h, *torch.autograd.grad(h.square().sum(), leaves)], strict=True):
                torch.testing.assert_close(have, want, rtol=2e-4, atol=2e-4)
