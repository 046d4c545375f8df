from __future__ import annotations

from collections.abc import Iterator

import pytest

from query_reduction.bench.timing import Effort, all_threads

TINY = Effort(rounds=2, fewest_rounds=1, sample_seconds=0.0, runner_seconds=0.0, slowest_call=5.0)


@pytest.fixture
def tiny() -> Effort:
    return TINY


@pytest.fixture(autouse=True)
def one_thread_afterwards() -> Iterator[None]:
    yield
    all_threads(1)
