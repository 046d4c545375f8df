"""Many native calls from several threads, and forks meanwhile; run under sanitizers by ``attack.sanitizers``."""

from __future__ import annotations

import os
import random
from concurrent.futures import ThreadPoolExecutor

import torch

from query_reduction.native import library
from query_reduction.native.threads import use_threads
from query_reduction.scan import scan

_CALLS = int(os.environ.get("ATTACK_CALLS", "100"))
_FORKS = 10


def _calls(seed: int) -> None:
    chance = random.Random(seed)
    generator = torch.Generator().manual_seed(seed)
    for _ in range(_CALLS // 4):
        batch, time, dim = chance.randint(1, 5), chance.randint(1, 40), chance.choice([1, 3, 16, 17])
        gates = torch.rand(batch, time, 1, generator=generator).requires_grad_()
        values = torch.randn(batch, time, dim, generator=generator).requires_grad_()
        lengths = torch.tensor([chance.randint(1, time) for _ in range(batch)])
        scan(gates, values, lengths=lengths).sum().backward()
        assert gates.grad is not None and bool(gates.grad.isfinite().all())


def test_calls_from_several_threads() -> None:
    assert library.available()
    use_threads(3)
    with ThreadPoolExecutor(4) as callers:
        list(callers.map(_calls, range(4)))


def test_forks_while_threads_work() -> None:
    use_threads(3)
    with ThreadPoolExecutor(1) as callers:
        working = callers.submit(_calls, 9)
        for _ in range(_FORKS):
            child = os.fork()
            if child == 0:
                try:
                    scan(torch.rand(4, 50, 1), torch.randn(4, 50, 8))
                    os._exit(0)
                finally:  # never go on as a second run of the tests
                    os._exit(1)
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        working.result()
