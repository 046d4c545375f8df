"""What tests of native code need to try: every instruction set, any number of threads."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch

from query_reduction.native import library as native
from query_reduction.native import threads


@pytest.fixture(params=["avx512", "avx2", "baseline"])
def variant(request: pytest.FixtureRequest) -> Iterator[str]:
    before = native.variant()
    if not native.choose_variant(request.param):
        pytest.skip(f"this processor does not have {request.param}")
    yield request.param
    native.choose_variant(before)


@pytest.fixture
def any_threads() -> Iterator[None]:
    before, chosen = torch.get_num_threads(), threads._chosen
    yield
    torch.set_num_threads(before)
    threads._chosen = chosen
