"""The scan without autograd has the values and the gradients of the one with it."""

from __future__ import annotations

import pytest
import torch
from query_reduction_lab.bench.by_hand import scan_with_gradient
from torch import Tensor

from query_reduction.errors import InputError
from query_reduction.native import library as native
from query_reduction.recurrence.scan import scan


def inputs(gate: int, dtype: torch.dtype) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    generator = torch.Generator().manual_seed(gate)
    return (
        torch.rand(4, 9, gate, generator=generator, dtype=dtype),
        torch.randn(4, 9, 5, generator=generator, dtype=dtype),
        torch.tensor([9, 3, 0, 5]),
        torch.randn(4, 5, generator=generator, dtype=dtype),
    )


@pytest.mark.parametrize("built", [True, False])
@pytest.mark.parametrize("gate", [1, 5])
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_equals_the_loop(
    built: bool, gate: int, reverse: bool, dtype: torch.dtype, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not built:
        monkeypatch.setattr(native, "available", lambda: False)
    z, v, lengths, initial = inputs(gate, dtype)
    weight = torch.cos(torch.arange(v.numel(), dtype=dtype)).view(v.shape)
    for given in ((z, v, lengths, initial), (z, v, None, initial), (z, v, lengths.int(), None), (z, v, None, None)):
        leaves = [tensor.clone().requires_grad_() for tensor in given if tensor is not None and tensor.dtype == dtype]
        start = leaves[2] if given[3] is not None else None
        wanted = scan(leaves[0], leaves[1], given[2], start, reverse=reverse, backend="loop")
        gradients = torch.autograd.grad(wanted, leaves, weight)
        h, gradient_of = scan_with_gradient(*given, reverse=reverse)
        torch.testing.assert_close(h, wanted.detach(), rtol=1e-5, atol=1e-5)
        for _ in range(2):  # it may be asked again
            *found, dinitial = gradient_of(weight)
            assert (dinitial is None) == (given[3] is None)
            for have, want in zip([*found, dinitial], gradients, strict=False):
                torch.testing.assert_close(have, want, rtol=1e-5, atol=1e-5)


def test_nothing_is_recorded() -> None:
    z, v, _, _ = inputs(5, torch.float32)
    h, gradient_of = scan_with_gradient(z.requires_grad_(), v.requires_grad_())
    assert not h.requires_grad
    assert not any(found.requires_grad for found in gradient_of(torch.ones_like(h)) if found is not None)


def test_no_steps_and_other_types() -> None:
    h, gradient_of = scan_with_gradient(torch.zeros(2, 0, 1), torch.zeros(2, 0, 3))
    dz, dv, dinitial = gradient_of(h)
    assert (h.shape, dz.shape, dv.shape, dinitial) == ((2, 0, 3), (2, 0, 1), (2, 0, 3), None)
    half, _ = scan_with_gradient(torch.rand(2, 4, 1).half(), torch.rand(2, 4, 3).half())
    assert half.dtype is torch.float16


def test_what_does_not_fit_is_refused() -> None:
    z, v, _, _ = inputs(5, torch.float32)
    with pytest.raises(InputError, match="v must be"):
        scan_with_gradient(z, v[0])
    if not native.available():
        pytest.skip("the native library is not built")
    with pytest.raises(ValueError, match="works on the CPU"):
        scan_with_gradient(z.to("meta"), v)
    _, gradient_of = scan_with_gradient(z, v)
    for bad in (torch.ones(4, 9, 4), torch.ones(4, 9, 5).double(), torch.ones(4, 9, 5, device="meta")):
        with pytest.raises(ValueError, match="the gradient must be"):
            gradient_of(bad)
