"""What only the fused backend promises: an operator PyTorch knows, the same bits on any number of threads."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch
from torch import Tensor

from query_reduction.native import library as native
from query_reduction.native import threads
from query_reduction.scan import scan

pytestmark = pytest.mark.skipif(not native.available(), reason="the native library is not built")


@pytest.fixture
def any_threads() -> Iterator[None]:
    before, chosen = torch.get_num_threads(), threads._chosen
    yield
    torch.set_num_threads(before)
    threads._chosen = chosen


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
        assert all(torch.equal(a, b) for a, b in zip(first, results(arguments, reverse), strict=True))


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
