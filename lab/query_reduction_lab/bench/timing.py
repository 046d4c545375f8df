"""How long to measure, and how to time a few runners of one process fairly: round-robin, ratios round by round.

A busy machine slows all runners of a round alike, so the ratio of two within a round says more than either time.
"""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from query_reduction.native.threads import available_cores, use_threads
from query_reduction_lab.bench.results import Samples

__all__ = ["FULL", "QUICK", "SLOW", "Effort", "Runner", "race"]

SLOW = 0.05
"""A call that takes longer than this many seconds is not repeated within a sample."""
_THREAD_TRIALS = 5
_FEWEST_CALLS = 3
"""Calls in a sample, unless they are slow."""
_QUIETER = 0.97
"""More threads must be faster by this factor to be taken: a tie goes to fewer."""


@dataclass(frozen=True, slots=True)
class Effort:
    """How long to measure."""

    rounds: int
    fewest_rounds: int
    """A runner that has used up its time still takes part in this many rounds."""
    sample_seconds: float
    """A sample repeats the call for about this many seconds."""
    runner_seconds: float
    """Time for all samples of one runner."""
    slowest_call: float
    """A runner whose single call takes longer is left out."""
    patience: float
    """Seconds a contender may take to get ready (to compile, mostly)."""


FULL = Effort(15, 3, sample_seconds=0.03, runner_seconds=1.5, slowest_call=3.0, patience=300.0)
QUICK = Effort(4, 2, sample_seconds=0.01, runner_seconds=0.3, slowest_call=0.3, patience=60.0)


@dataclass(frozen=True, slots=True)
class Runner:
    """Something to be timed."""

    name: str
    call: Callable[[], object]
    units: int = 1
    """Units of work (models stepped) per call; times are per unit."""
    set_threads: Callable[[int], None] = use_threads
    thread_counts: tuple[int, ...] | None = None
    """Numbers of threads to try, of which the fastest is used; None tries one and all cores."""


def race(runners: Sequence[Runner], effort: Effort) -> list[Samples]:
    """Sample all runners in turn, round after round."""
    with _garbage_left_alone():
        plans = [_prepare(runner, effort) for runner in runners]
        seconds: list[list[float]] = [[] for _ in runners]
        spent = [0.0] * len(runners)
        for finished in range(effort.rounds):
            for number, (runner, (threads, repeats)) in enumerate(zip(runners, plans, strict=True)):
                if finished >= effort.fewest_rounds and spent[number] > effort.runner_seconds:
                    continue
                runner.set_threads(threads)
                if repeats > 1:
                    runner.call()  # untimed: fills caches, wakes this runner's threads, lets the last one's sleep
                calls = [_timed(runner.call) for _ in range(repeats)]
                spent[number] += sum(calls)
                # The median: a call during which another process got the core must not matter.
                seconds[number].append(statistics.median(calls) / runner.units)
            gc.collect()
    return [
        Samples(runner.name, threads, tuple(found))
        for runner, (threads, _), found in zip(runners, plans, seconds, strict=True)
    ]


@contextmanager
def _garbage_left_alone() -> Iterator[None]:
    """No garbage collection inside a sample; existing objects are not scanned between rounds either."""
    gc.collect()
    gc.freeze()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
        gc.unfreeze()


def _prepare(runner: Runner, effort: Effort) -> tuple[int, int]:
    """Warm up; find the best number of threads, and how many calls make a sample."""
    counts = runner.thread_counts or tuple(sorted({1, available_cores()}))
    best_threads, best = counts[0], float("inf")
    for count in counts:
        runner.set_threads(count)
        trials = 1 if _timed(runner.call) > SLOW else _THREAD_TRIALS
        # Not the fastest: with more threads than idle cores a lucky call is fast and most are not.
        typical = statistics.median(_timed(runner.call) for _ in range(trials))
        if typical < best * _QUIETER:
            best_threads, best = count, typical
    fewest = 1 if best > SLOW else _FEWEST_CALLS
    return best_threads, max(fewest, round(effort.sample_seconds / best))


def _timed(call: Callable[[], object]) -> float:
    started = time.perf_counter()
    call()
    return time.perf_counter() - started
