from __future__ import annotations

from collections.abc import Iterator

import pytest

from query_reduction.bench import limits, long_stories, scaling, timing
from query_reduction.bench.timing import Effort

TINY = Effort(rounds=2, fewest_rounds=1, sample_seconds=0.0, runner_seconds=0.0, slowest_call=5.0)


@pytest.fixture
def tiny() -> Effort:
    return TINY


@pytest.fixture(autouse=True)
def one_thread(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """On a busy machine two threads wait for each other longer than the tests may take."""
    for module in (limits, long_stories, scaling, timing):
        monkeypatch.setattr(module, "available_cores", lambda: 1)
    yield
    timing.all_threads(1)
