"""Adagrad and Adam in native code against PyTorch's, step by step."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from query_reduction.native import library as native
from query_reduction.native.update import Update
from query_reduction.training.optimisers import build_optimiser, native_update
from query_reduction.training.recipes import Recipe

pytestmark = pytest.mark.skipif(not native.available(), reason="the native library is not built")

SIZES = (64, 6400, 128)
DECAYS = (0.0, 0.1, 0.001)


@pytest.mark.parametrize("optimiser", ["adagrad", "adam"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_equals_pytorch(optimiser: str, dtype: torch.dtype) -> None:
    rule = build_optimiser(Recipe(optimiser=optimiser))  # type: ignore[arg-type]
    random = torch.Generator().manual_seed(0)

    def draw() -> Tensor:
        return torch.randn(sum(SIZES), generator=random, dtype=dtype)

    values, gradients = draw(), torch.zeros(sum(SIZES), dtype=dtype)
    memory = {kind: torch.full_like(values, start) for kind, start in rule.memory.items()}
    own, own_memory = values.clone(), {kind: kept.clone() for kind, kept in memory.items()}
    update = native_update(rule, own, gradients, own_memory, list(zip(SIZES, DECAYS, strict=True)))
    assert update is not None
    for step in range(20):
        gradients.copy_(draw())
        parts = (
            values.split(SIZES),
            gradients.split(SIZES),
            {kind: kept.split(SIZES) for kind, kept in memory.items()},
        )
        for number, decay in enumerate(DECAYS):
            kept = {kind: pieces[number] for kind, pieces in parts[2].items()}
            rule.step(parts[0][number], parts[1][number], kept, step, rate=0.01, decay=decay)
        update.take(0.01, step + 1)
        close = 1e-6 if dtype == torch.float32 else 1e-14
        torch.testing.assert_close(own, values, rtol=close, atol=close)
        torch.testing.assert_close(own_memory, memory, rtol=close, atol=close)


def test_buffers_that_do_not_fit_are_refused() -> None:
    values = torch.zeros(64)
    for gradients, runs in ((torch.zeros(63), [(64, 0.0)]), (torch.zeros(64), [(32, 0.0)])):
        with pytest.raises(ValueError, match="numbers of one type"):
            Update(values, gradients, (torch.zeros(64),), runs, epsilon=1e-8)
    with pytest.raises(ValueError, match="memory"):
        Update(values, torch.zeros(64), (), [(64, 0.0)], epsilon=1e-8)


def test_descent_has_no_native_code() -> None:
    values = torch.zeros(64)
    assert native_update(build_optimiser(Recipe(optimiser="sgd")), values, values, {}, [(64, 0.0)]) is None
