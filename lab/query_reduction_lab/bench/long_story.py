"""One long story, read forward and backward in its own process: prints time and memory as JSON.

Its own process because the high-water mark of memory never falls.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import time
from pathlib import Path

import torch

from query_reduction.heads.arrays import HeadConfig
from query_reduction.native.threads import use_threads
from query_reduction.rivals.registry import build_network, resolve
from query_reduction.stacked.network import StackedNetwork
from query_reduction.stacked.tensors import TensorBatch
from query_reduction.text.vocabulary import Vocabulary

__all__ = ["high_water", "long_batch"]

_WORDS = 40
_LONGEST_SENTENCE = 8
_ANSWERS = 6
_WARM_UP = 16


def high_water() -> int:
    """The most memory this process ever held, in bytes."""
    try:
        # A child's ru_maxrss starts at its parent's; this does not.
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmHWM"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024


def long_batch(sentences: int) -> TensorBatch:
    """One question about this many sentences, all different."""
    generator = torch.Generator().manual_seed(0)
    words = torch.randint(2, _WORDS, (sentences + 1, _LONGEST_SENTENCE), generator=generator, dtype=torch.int32)
    return TensorBatch(
        words=words,
        stories=torch.arange(sentences, dtype=torch.int32).unsqueeze(0),
        lengths=torch.tensor([sentences], dtype=torch.int32),
        questions=torch.tensor([sentences], dtype=torch.int32),
        answers=torch.zeros(1, dtype=torch.int32),
    )


def _forward_backward(network: StackedNetwork, batch: TensorBatch) -> None:
    network.zero_grad()
    network.losses(batch).sum().backward()


def main() -> None:
    """Measure one length."""
    parser = argparse.ArgumentParser()
    parser.add_argument("sentences", type=int)
    parser.add_argument("--variant", default="2r")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=0.5)
    options = parser.parse_args()
    use_threads(options.threads)
    words = tuple(f"w{number}" for number in range(_WORDS - 2))
    vocabulary = Vocabulary(words, tuple(f"a{number}" for number in range(_ANSWERS)), _LONGEST_SENTENCE)
    network = build_network(resolve(options.variant), vocabulary, HeadConfig())
    _forward_backward(network, long_batch(_WARM_UP))
    before = high_water()
    batch = long_batch(options.sentences)
    _forward_backward(network, batch)
    memory = high_water() - before
    times: list[float] = []
    while len(times) < 3 or sum(times) < options.seconds:
        started = time.perf_counter()
        _forward_backward(network, batch)
        times.append(time.perf_counter() - started)
    print(json.dumps({"bytes": memory, "seconds": min(times)}))


if __name__ == "__main__":
    main()
