"""What the benchmark finds, part by part; ``records`` writes and reads it."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from query_reduction_lab.bench.problem import Size

__all__ = [
    "BandwidthRow",
    "LeftOut",
    "Limits",
    "LongStories",
    "LongStory",
    "OverheadRow",
    "Race",
    "Recurrence",
    "RecurrenceRow",
    "RestartsRow",
    "Samples",
    "Scaling",
    "ShareRow",
    "Spread",
    "Step",
    "StepRow",
    "ThreadsRow",
    "ratios",
    "spread",
]


@dataclass(frozen=True, slots=True)
class Spread:
    """The middle half of several measurements."""

    median: float
    lower: float
    """First quartile."""
    upper: float
    """Third quartile."""


def spread(values: Sequence[float]) -> Spread:
    """Median and quartiles."""
    if len(values) == 1:
        return Spread(values[0], values[0], values[0])
    lower, median, upper = statistics.quantiles(values, n=4, method="inclusive")
    return Spread(median, lower, upper)


@dataclass(frozen=True, slots=True)
class Samples:
    """One contender's times, one per round, in seconds per unit of work."""

    contender: str
    threads: int
    seconds: tuple[float, ...]

    @property
    def typical(self) -> float:
        """The median."""
        return statistics.median(self.seconds)


def ratios(samples: Samples, base: Samples) -> Spread:
    """How many times longer than the base, round by round."""
    return spread([mine / its for mine, its in zip(samples.seconds, base.seconds, strict=False)])


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A contender that did not take part, and why."""

    contender: str
    why: str


@dataclass(frozen=True, slots=True)
class Race:
    """Contenders timed in turn, each in its own process."""

    ours: str
    samples: tuple[Samples, ...]
    left_out: tuple[LeftOut, ...]
    idle_share: float
    """How much of a core a process used while another was timed, on average: near 0 if the idle ones slept."""

    def own(self, threads: int) -> Samples | None:
        """Ours."""
        return self.of(self.ours, threads)

    def of(self, contender: str, threads: int) -> Samples | None:
        """One contender with this many threads, if it was timed."""
        for samples in self.samples:
            if (samples.contender, samples.threads) == (contender, threads) and samples.seconds:
                return samples
        return None

    def peers(self, threads: int) -> list[Samples]:
        """All others, fastest first, each with the number of threads up to this that is best for it.

        Ours in another form ("ours, …") is not one of them.
        """
        best: dict[str, Samples] = {}
        for samples in self.samples:
            if samples.contender.startswith(self.ours) or samples.threads > threads or not samples.seconds:
                continue
            known = best.get(samples.contender)
            if known is None or samples.typical < known.typical:
                best[samples.contender] = samples
        return sorted(best.values(), key=lambda samples: samples.typical)

    @property
    def thread_counts(self) -> tuple[int, ...]:
        """The numbers of threads that ours was timed with."""
        return tuple(sorted({samples.threads for samples in self.samples if samples.contender == self.ours}))


@dataclass(frozen=True, slots=True)
class RecurrenceRow:
    """One size, forward alone or with backward."""

    size: Size
    mode: str
    race: Race


@dataclass(frozen=True, slots=True)
class Recurrence:
    """The recurrence alone."""

    rows: tuple[RecurrenceRow, ...]
    crowded: tuple[RecurrenceRow, ...]
    """All contenders in one process, one call of each in turn."""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class StepRow:
    """A training step of one network, per model."""

    variant: str
    batch: int
    sentences: int
    restarts: int
    """The number of models that train together."""
    race: Race


@dataclass(frozen=True, slots=True)
class Step:
    """Training steps."""

    rows: tuple[StepRow, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ShareRow:
    """A training step's share of the fastest matrix product."""

    variant: str
    restarts: int
    batch: int
    threads: int
    products: int
    """Floating point operations of its matrix products."""
    rate: float
    """Operations per second."""
    share: Spread


@dataclass(frozen=True, slots=True)
class BandwidthRow:
    """Bytes per second."""

    name: str
    rate: Spread
    best: float


@dataclass(frozen=True, slots=True)
class Limits:
    """How close to the machine's limits."""

    product_size: int
    product_threads: int
    product_rate: Spread
    formula: str
    """What counts as an operation of a step."""
    steps: tuple[ShareRow, ...]
    bandwidth: tuple[BandwidthRow, ...]
    scan_share: float
    """The scan's bandwidth as a share of the best of the others."""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LongStory:
    """A story of one length, and how far it is off the straight line through all of them."""

    sentences: int
    seconds: float
    seconds_off: float
    bytes: float
    bytes_off: float


@dataclass(frozen=True, slots=True)
class LongStories:
    """Time and memory against the length of a story."""

    variant: str
    threads: int
    rounds: int
    seconds_per_sentence: float
    bytes_per_sentence: float
    rows: tuple[LongStory, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ThreadsRow:
    """All threads against one."""

    variant: str
    restarts: int
    threads: int
    seconds: Spread
    speedup: Spread


@dataclass(frozen=True, slots=True)
class RestartsRow:
    """Restarts together against one after another, per model."""

    variant: str
    restarts: int
    seconds: Spread
    speedup: Spread


@dataclass(frozen=True, slots=True)
class OverheadRow:
    """A step with nothing to read."""

    variant: str
    restarts: int
    seconds: Spread


@dataclass(frozen=True, slots=True)
class Scaling:
    """Threads, restarts, overhead."""

    threads: tuple[ThreadsRow, ...]
    restarts: tuple[RestartsRow, ...]
    overhead: tuple[OverheadRow, ...]
    notes: tuple[str, ...] = ()
