"""Tensors in memory that is kept: where they begin, and that what is computed in them is what PyTorch computes."""

from __future__ import annotations

import pytest
import torch

from query_reduction.native import library as native
from query_reduction.native import memory, reader

pytestmark = pytest.mark.skipif(not native.available(), reason="the native library is not built")


def test_memory_is_aligned_and_not_always_at_the_same_place_of_a_page() -> None:
    made = [memory.empty((600, 500), torch.float32) for _ in range(8)]
    places = [tensor.data_ptr() % 4096 for tensor in made]
    assert all(place % 64 == 0 for place in places) and len(set(places)) > 3
    for number, tensor in enumerate(made):
        tensor.fill_(number)
    assert all(tensor.eq(number).all() for number, tensor in enumerate(made))  # none reaches into another


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_rows_of_a_table_have_the_gradient_of_indexing(dtype: torch.dtype, monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = torch.tensor([3, 0, 3, 3, 9999], dtype=torch.int32)
    given = torch.randn(2, 10_000, 6, dtype=dtype)
    weight = torch.randn(2, 5, 6, dtype=dtype)
    found = []
    for large in (1, 10**9):
        monkeypatch.setattr(reader, "_LARGE_TABLE", large)
        table = given.clone().requires_grad_()
        rows = reader.rows(table, numbers)
        assert ("Rows" in str(rows.grad_fn)) == (large == 1)
        (gradient,) = torch.autograd.grad((rows * weight).sum(), table)
        found.append((rows.detach(), gradient))
    assert all(torch.equal(*pair) for pair in zip(*found, strict=True))
    with torch.no_grad():
        assert torch.equal(reader.rows(given, numbers), given[:, numbers.long()])


@pytest.mark.parametrize("dtype", [torch.int64, torch.int32, torch.uint8], ids=str)
@pytest.mark.parametrize("size", [3, 600])
def test_whole_numbers_are_copied_only_if_they_must(dtype: torch.dtype, size: int) -> None:
    given = torch.arange(size * size).remainder(200).view(size, size).to(dtype)
    for tensor in (given, given.T):
        found = memory.whole_numbers(tensor)
        assert found.dtype is torch.int64 and found.is_contiguous() and torch.equal(found, tensor.long())
    assert (memory.whole_numbers(given).data_ptr() == given.data_ptr()) == (dtype is torch.int64)
