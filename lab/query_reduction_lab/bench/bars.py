"""The engine's targets, and whether the figures meet them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from query_reduction_lab.bench.contenders import WITHOUT_AUTOGRAD
from query_reduction_lab.bench.recurrence import BOTH
from query_reduction_lab.bench.results import Limits, LongStories, Recurrence, Scaling, Step, ratios
from query_reduction_lab.bench.text_tables import TextTable

__all__ = ["Bar", "bars_table", "judge"]

_SCAN_BARS = {"Numba": 2.5, "JAX": 5.0}
"""Contenders by the start of their names: at least this many times our time."""
_STACKED_BARS = {"GRU reader": 10.0, "LSTM reader": 10.0, "QRN, loop": 15.0, "QRN, matrix": 10.0}
_PRODUCT_BARS = {"2r": 55.0, "6r200": 85.0}


@dataclass(frozen=True, slots=True)
class Bar:
    """A target."""

    what: str
    bar: float
    measured: float
    unit: str
    at_least: bool = True

    @property
    def met(self) -> bool:
        """Whether it is met."""
        return self.measured >= self.bar if self.at_least else self.measured <= self.bar


def judge(parts: Sequence[Recurrence | Step | Scaling | Limits | LongStories]) -> list[Bar]:
    """Every target for which there are figures."""
    found: list[Bar] = []
    for part in parts:
        if isinstance(part, Recurrence):
            found += _recurrence(part)
        elif isinstance(part, Step):
            found += _step(part)
        elif isinstance(part, Scaling):
            found += _scaling(part)
        elif isinstance(part, Limits):
            found += _limits(part)
        else:
            found += _long_stories(part)
    return found


def bars_table(bars: Sequence[Bar], *, quick: bool) -> TextTable:
    """As a table to read."""
    rows = tuple(
        (
            bar.what,
            f"{'≥' if bar.at_least else '≤'} {bar.bar:g} {bar.unit}",
            f"{bar.measured:.3g} {bar.unit}",
            "met" if bar.met else "not met",
        )
        for bar in bars
    )
    title = "What is to be reached" + (" (a quick run is only a hint)" if quick else "")
    return TextTable(title, ("what", "bar", "measured", "verdict"), rows)


def _recurrence(part: Recurrence) -> Iterator[Bar]:
    for row in part.rows:
        for threads in row.race.thread_counts:
            peers = row.race.peers(threads)
            ways = {row.mode: row.race.own(threads)}
            if row.mode == BOTH:
                # Like for like: those it is compared with have no autograd around them.
                ways[f"{row.mode} without autograd"] = row.race.of(WITHOUT_AUTOGRAD, threads)
            for way, own in ways.items():
                for start, bar in _SCAN_BARS.items():
                    peer = next((peer for peer in peers if peer.contender.startswith(start)), None)
                    if own is not None and peer is not None:
                        what = f"scan {row.size}, {way}, threads: {threads}, against {peer.contender}"
                        yield Bar(what, bar, ratios(peer, own).median, "×")
    for row in part.crowded:
        for threads in row.race.thread_counts:
            own, peers = row.race.own(threads), row.race.peers(threads)
            if own is not None and peers:
                what = f"scan {row.size}, {row.mode}, among other thread pools, against {peers[0].contender}"
                yield Bar(what, 1.0, ratios(peers[0], own).median, "×")


def _step(part: Step) -> Iterator[Bar]:
    for row in part.rows:
        threads = max(row.race.thread_counts, default=1)
        own = row.race.own(threads)
        if row.variant != "2r" or row.restarts == 1 or own is None:
            continue
        for start, bar in _STACKED_BARS.items():
            peer = next((peer for peer in row.race.peers(threads) if peer.contender.startswith(start)), None)
            if peer is not None:
                what = f"2r step, {row.restarts} stacked, threads: {threads}, against {peer.contender}"
                yield Bar(what, bar, ratios(peer, own).median, "×")


def _scaling(part: Scaling) -> Iterator[Bar]:
    for row in part.threads:
        if row.threads > 1:
            bar = 1.7 if row.variant == "2r" and row.restarts > 1 else 1.0
            what = f"{row.variant}, {row.restarts} together: {row.threads} threads against 1"
            yield Bar(what, bar, row.speedup.median, "×")


def _limits(part: Limits) -> Iterator[Bar]:
    for row in part.steps:
        if row.restarts > 1 and row.variant in _PRODUCT_BARS:
            what = f"{row.variant}, {row.restarts} together: share of the fastest matrix product"
            yield Bar(what, _PRODUCT_BARS[row.variant], 100 * row.share.median, "%")
    yield Bar("scan, forward and backward: share of the best bandwidth", 80, 100 * part.scan_share, "%")


def _long_stories(part: LongStories) -> Iterator[Bar]:
    if len(part.rows) > 2:
        span = f"{part.rows[0].sentences:,} to {part.rows[-1].sentences:,} sentences".replace(",", " ")
        time_off = max(abs(row.seconds_off) for row in part.rows)
        memory_off = max(abs(row.bytes_off) for row in part.rows)
        yield Bar(f"time of reading {span}, off a straight line", 15, 100 * time_off, "%", at_least=False)
        yield Bar(f"memory of reading {span}, off a straight line", 15, 100 * memory_off, "%", at_least=False)
