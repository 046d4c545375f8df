"""Time several runners fairly: round-robin, each with the number of threads that suits it, ratios round by round.

A busy machine slows all runners of a round alike, so the ratio of two within a round says more than either time.
"""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import torch

from query_reduction.native.threads import available_cores, use_threads

__all__ = ["FULL", "QUICK", "Effort", "Runner", "Spread", "Timing", "all_threads", "race", "ratios", "spread"]

_SLOW = 0.05
"""A call that takes longer than so many seconds needs no untimed call before it."""
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
    """A runner that has used up its time still takes part in so many rounds."""
    sample_seconds: float
    """A sample repeats the call until about so much time is spent."""
    runner_seconds: float
    """Time for all samples of one runner."""
    slowest_call: float
    """A runner whose single call is expected to take longer is left out."""


FULL = Effort(rounds=15, fewest_rounds=3, sample_seconds=0.02, runner_seconds=1.5, slowest_call=2.0)
QUICK = Effort(rounds=4, fewest_rounds=2, sample_seconds=0.004, runner_seconds=0.4, slowest_call=0.5)


def all_threads(count: int) -> None:
    """So many threads for PyTorch and for native code alike."""
    use_threads(count)
    torch.set_num_threads(count)


@dataclass(frozen=True, slots=True)
class Runner:
    """Something to be timed."""

    name: str
    call: Callable[[], object]
    units: int = 1
    """How many units of work (models stepped) a call does; times are per unit."""
    set_threads: Callable[[int], None] = all_threads
    thread_counts: tuple[int, ...] | None = None
    """Numbers of threads to try, the fastest is taken; None tries one and all cores."""


@dataclass(slots=True)
class Timing:
    """The samples of one runner, one a round, in seconds per unit of work."""

    name: str
    threads: int
    repeats: int
    """Calls in a sample; their median counts."""
    call_seconds: float
    """About how long one call takes."""
    seconds: list[float] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Spread:
    """The middle half of several measurements."""

    median: float
    lower: float
    """First quartile."""
    upper: float
    """Third quartile."""

    def as_json(self) -> dict[str, float]:
        """Five significant digits are more than any timing has."""
        return {name: float(f"{getattr(self, name):.5g}") for name in ("median", "lower", "upper")}


def spread(values: Sequence[float]) -> Spread:
    """Median and quartiles."""
    if len(values) == 1:
        return Spread(values[0], values[0], values[0])
    lower, median, upper = statistics.quantiles(values, n=4, method="inclusive")
    return Spread(median, lower, upper)


def ratios(timing: Timing, base: Timing) -> Spread:
    """How many times longer than the base, round by round."""
    return spread([mine / its for mine, its in zip(timing.seconds, base.seconds, strict=False)])


def race(runners: Sequence[Runner], effort: Effort) -> list[Timing]:
    """Sample all runners in turn, round after round."""
    with _garbage_left_alone():
        timings = [_prepare(runner, effort) for runner in runners]
        spent = [0.0] * len(runners)
        for finished_rounds in range(effort.rounds):
            for number, (runner, timing) in enumerate(zip(runners, timings, strict=True)):
                if finished_rounds >= effort.fewest_rounds and spent[number] > effort.runner_seconds:
                    continue
                runner.set_threads(timing.threads)
                if timing.call_seconds < _SLOW:
                    runner.call()  # untimed: fills caches, wakes this runner's threads, lets the last one's sleep
                calls = [_timed(runner.call) for _ in range(timing.repeats)]
                spent[number] += sum(calls)
                # The median: another process that gets the core in one of the calls must not count.
                timing.seconds.append(statistics.median(calls) / runner.units)
            gc.collect()
    return timings


@contextmanager
def _garbage_left_alone() -> Iterator[None]:
    """No garbage collection inside a sample; what exists already is not looked at between rounds either."""
    gc.collect()
    gc.freeze()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
        gc.unfreeze()


def _prepare(runner: Runner, effort: Effort) -> Timing:
    """Warm up; find the best number of threads, and how many calls make a sample."""
    counts = runner.thread_counts or tuple(sorted({1, available_cores()}))
    best_threads, best = counts[0], float("inf")
    for count in counts:
        runner.set_threads(count)
        trials = 1 if _timed(runner.call) > _SLOW else _THREAD_TRIALS
        # Not the fastest: with more threads than idle cores a lucky call is fast and most are not.
        typical = statistics.median(_timed(runner.call) for _ in range(trials))
        if typical < best * _QUIETER:
            best_threads, best = count, typical
    fewest = 1 if best > _SLOW else _FEWEST_CALLS
    return Timing(runner.name, best_threads, max(fewest, round(effort.sample_seconds / best)), best)


def _timed(call: Callable[[], object]) -> float:
    started = time.perf_counter()
    call()
    return time.perf_counter() - started
