"""Time and memory against the length of a story: is the cost per sentence constant?"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
from collections.abc import Callable, Sequence

import numpy as np

from query_reduction.native.threads import available_cores
from query_reduction_lab.bench.results import LongStories, LongStory

__all__ = ["LENGTHS", "LENGTHS_QUICK", "linear_fit", "measure_long_stories"]

LENGTHS = (1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000)
LENGTHS_QUICK = (1_000, 10_000, 100_000)


def measure_long_stories(
    lengths: Sequence[int], rounds: int, progress: Callable[[float], None], variant: str = "2r"
) -> LongStories:
    """Read a story of each length, forward and backward, in fresh processes.

    The fastest time and the median memory are used: whatever else the machine does can only add time.
    """
    times: dict[int, list[float]] = {length: [] for length in lengths}
    memory: dict[int, list[float]] = {length: [] for length in lengths}
    for round_number in range(rounds):
        for place, length in enumerate(lengths):
            found = _measure(length, variant)
            times[length].append(found["seconds"])
            memory[length].append(found["bytes"])
            progress((round_number + (place + 1) / len(lengths)) / rounds)
    fastest = [min(times[length]) for length in lengths]
    middle = [statistics.median(memory[length]) for length in lengths]
    _, seconds_each, seconds_off = linear_fit(lengths, fastest)
    _, bytes_each, bytes_off = linear_fit(lengths, middle)
    rows = zip(lengths, fastest, seconds_off, middle, bytes_off, strict=True)
    return LongStories(
        variant, available_cores(), rounds, seconds_each, bytes_each, tuple(LongStory(*row) for row in rows)
    )


def linear_fit(lengths: Sequence[int], values: Sequence[float]) -> tuple[float, float, list[float]]:
    """Best fixed cost and cost per sentence, all lengths weighted equally; and the relative deviation of each value."""
    x, y = np.asarray(lengths, float), np.asarray(values, float)
    (fixed, each), *_ = np.linalg.lstsq(np.stack([1 / y, x / y], axis=1), np.ones_like(y), rcond=None)
    return float(fixed), float(each), [float(deviation) for deviation in y / (fixed + each * x) - 1]


def _measure(length: int, variant: str) -> dict[str, float]:
    command = [sys.executable, "-m", "query_reduction_lab.bench.long_story", str(length), "--variant", variant]
    command += ["--threads", str(available_cores())]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    if done.returncode != 0:
        last = done.stderr.strip().splitlines()[-1:] or [f"exit code {done.returncode}"]
        raise RuntimeError(f"reading {length} sentences failed: {last[0]}")
    found: dict[str, float] = json.loads(done.stdout)
    return found
