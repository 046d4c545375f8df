"""The gain from more threads and more restarts at once, and the cost of a step when there is nothing to compute."""

from __future__ import annotations

from query_reduction.native.threads import available_cores
from query_reduction.rivals.registry import resolve
from query_reduction_lab.bench.results import OverheadRow, RestartsRow, Scaling, ThreadsRow, ratios, spread
from query_reduction_lab.bench.step import STACKED, build_qrn, network_step, our_runner, workload
from query_reduction_lab.bench.timing import Effort, Runner, race

__all__ = ["measure_scaling"]


def measure_scaling(effort: Effort, variants: tuple[str, ...] = ("2r", "6r200")) -> Scaling:
    """Threads, restarts, overhead."""
    return Scaling(
        tuple(_threads(effort, variant, restarts) for variant in variants for restarts in (1, STACKED)),
        tuple(_restarts(effort, variant) for variant in variants),
        tuple(_overhead(effort, restarts) for restarts in (1, STACKED)),
        () if available_cores() > 1 else ("one core only: threads cannot be compared",),
    )


def _threads(effort: Effort, variant: str, restarts: int) -> ThreadsRow:
    config, work, cores = resolve(variant), workload(), available_cores()
    one, many = race([our_runner(str(count), config, work, restarts, threads=count) for count in (1, cores)], effort)
    return ThreadsRow(variant, restarts, cores, spread(many.seconds), ratios(one, many))


def _restarts(effort: Effort, variant: str) -> RestartsRow:
    """Ten together against ten one after another, in one process, with the best number of threads for each."""
    config, work = resolve(variant), workload()
    steps = [network_step(build_qrn(config, work, 1, None), work) for _ in range(STACKED)]

    def one_after_another() -> None:
        for step in steps:
            step()

    apart, together = race(
        [
            Runner("one after another", one_after_another, STACKED),
            our_runner("together", config, work, STACKED),
        ],
        effort,
    )
    return RestartsRow(variant, STACKED, spread(together.seconds), ratios(apart, together))


def _overhead(effort: Effort, restarts: int) -> OverheadRow:
    """A whole step for one story of one sentence: the rest is Python, PyTorch and the optimiser."""
    work = workload(1, 1, 1)
    step = network_step(build_qrn(resolve("2r"), work, restarts, None), work)
    (samples,) = race([Runner("step", step, thread_counts=(1,))], effort)
    return OverheadRow("2r", restarts, spread(samples.seconds))
