"""What tests of native code need to try: every instruction set."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from query_reduction.native import library as native


@pytest.fixture(params=["avx512", "avx2", "baseline"])
def variant(request: pytest.FixtureRequest) -> Iterator[str]:
    before = native.variant()
    if not native.choose_variant(request.param):
        pytest.skip(f"this processor does not have {request.param}")
    yield request.param
    native.choose_variant(before)
