"""The measure of the machine's memory computes what it says, at any size and address."""

from __future__ import annotations

import pytest
import torch

from query_reduction.native import library as native

pytestmark = pytest.mark.skipif(not native.available(), reason="the native library is not built")


@pytest.mark.parametrize("count", [0, 1, 15, 16, 1000, 65_536, 200_003])
@pytest.mark.parametrize("first", [0, 1, 4])
def test_triad(count: int, first: int) -> None:
    a, b, c = torch.randn(count + first), torch.randn(count + first), torch.zeros(count + first + 1)
    native.triad((a[first:].data_ptr(), b[first:].data_ptr(), c[first:].data_ptr()), count, 2)
    assert torch.equal(c[first : first + count], torch.add(a, b, alpha=2)[first:])
    assert c[:first].eq(0).all() and c[-1] == 0  # nothing else is written


def test_a_triad_out_of_range_is_refused() -> None:
    for count, threads in ((-1, 1), (2**62, 1), (1, 0)):
        with pytest.raises(ValueError, match="must be"):
            native.triad((0, 0, 0), count, threads)
