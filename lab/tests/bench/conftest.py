from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch
from query_reduction_lab.bench import limits, long_stories, scaling, timing, worker
from query_reduction_lab.bench.timing import Effort

from query_reduction.native.threads import use_threads

TINY = Effort(rounds=2, fewest_rounds=1, sample_seconds=0.0, runner_seconds=0.0, slowest_call=60.0, patience=120.0)


@pytest.fixture
def tiny() -> Effort:
    return TINY


@pytest.fixture(autouse=True)
def one_thread(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """On a busy machine two threads wait for each other longer than the tests may take."""
    for module in (limits, long_stories, scaling, timing, worker):
        monkeypatch.setattr(module, "available_cores", lambda: 1)
    torch.set_num_threads(1)
    yield
    use_threads(1)
