"""Many native calls from several threads, and forks meanwhile; run under sanitizers by ``attack.sanitizers``."""

from __future__ import annotations

import os
import random
from concurrent.futures import ThreadPoolExecutor

import torch

from query_reduction.native import arrays, library, reader
from query_reduction.native.shape import Shape
from query_reduction.native.threads import use_threads
from query_reduction.recurrence.scan import scan

_CALLS = int(os.environ.get("ATTACK_CALLS", "100"))
_FORKS = 10


def _calls(seed: int) -> None:
    """By turns the scan and the reader, forward and backward, and the reader on arrays."""
    chance = random.Random(seed)
    generator = torch.Generator().manual_seed(seed)
    for number in range(_CALLS // 4):
        if number % 2:
            _read(chance, generator)
            continue
        batch, time, dim = chance.randint(1, 5), chance.randint(1, 40), chance.choice([1, 3, 16, 17])
        gates = torch.rand(batch, time, 1, generator=generator).requires_grad_()
        values = torch.randn(batch, time, dim, generator=generator).requires_grad_()
        lengths = torch.tensor([chance.randint(1, time) for _ in range(batch)])
        scan(gates, values, lengths=lengths).sum().backward()
        assert gates.grad is not None and bool(gates.grad.isfinite().all())


def _read(chance: random.Random, generator: torch.Generator) -> None:
    stretch = chance.choice([1.0, 1.2, 2.0, 10.0])
    tied, reset, vector = (chance.random() < 0.5 for _ in range(3))
    layers, dim = chance.randint(1, 3), chance.choice([1, 3, 16, 17])
    shape = Shape(layers, dim, tied, reset, vector, chance.choice([0.0, 2.5]), stretch)
    restarts, batch, time = chance.randint(1, 3), chance.randint(1, 5), chance.randint(1, 40)
    named = {"embedding": (7, shape.dimension), **shape.parameters()}
    weights = {name: torch.randn(restarts, *size, generator=generator) for name, size in named.items()}
    words = torch.randint(0, 7, (6, 4), generator=generator)
    stories = torch.randint(0, 6, (batch, time), generator=generator)
    lengths = torch.randint(0, time + 1, (batch,), generator=generator)
    questions = torch.randint(0, 6, (batch,), generator=generator)
    on_arrays = arrays.ArrayReader(shape, {name: weight.numpy() for name, weight in weights.items()})
    encoded = on_arrays.encode(words.numpy(), 4)
    expected = on_arrays.read(encoded, encoded[:, questions.numpy()], stories.numpy(), lengths.numpy())
    tensors = {name: weight.requires_grad_() for name, weight in weights.items()}
    table = reader.encode(tensors["embedding"], words, 4)
    found = reader.read(shape, tensors, table, table[:, questions], stories, lengths)
    assert bool((found.detach().numpy() == expected).all())
    found.sum().backward()
    assert all(weight.grad is not None and bool(weight.grad.isfinite().all()) for weight in tensors.values())


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
