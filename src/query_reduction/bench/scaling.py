"""What more threads and more restarts at once bring, and what a step costs when there is nothing to compute."""

from __future__ import annotations

from typing import Any

from query_reduction.bench.step import STACKED, build_qrn, network_step, our_runner, workload
from query_reduction.bench.timing import Effort, Runner, race, ratios, spread
from query_reduction.native.threads import available_cores, use_threads
from query_reduction.networks.registry import resolve

__all__ = ["measure_scaling"]


def measure_scaling(effort: Effort, variants: tuple[str, ...] = ("2r", "6r200")) -> dict[str, Any]:
    """Threads, restarts, overhead."""
    return {
        "threads": [_threads(effort, variant, restarts) for variant in variants for restarts in (1, STACKED)],
        "restarts": [_restarts(effort, variant) for variant in variants],
        "overhead": [_overhead(effort, restarts) for restarts in (1, STACKED)],
        "notes": [] if available_cores() > 1 else ["one core only: threads cannot be compared"],
    }


def _threads(effort: Effort, variant: str, restarts: int) -> dict[str, Any]:
    config, work, cores = resolve(variant), workload(), available_cores()
    one, many = race(
        [our_runner(str(count), config, work, restarts, threads=count) for count in (1, cores)],
        effort,
    )
    return {
        "variant": variant,
        "restarts": restarts,
        "threads": cores,
        "seconds": spread(many.seconds).as_json(),
        "speedup": ratios(one, many).as_json(),
    }


def _restarts(effort: Effort, variant: str) -> dict[str, Any]:
    """Ten together against ten one after another, the same process, the better number of threads for each."""
    config, work = resolve(variant), workload()
    steps = [network_step(build_qrn(config, work, 1, None), work) for _ in range(STACKED)]

    def one_after_another() -> None:
        for step in steps:
            step()

    apart, together = race(
        [
            Runner("one after another", one_after_another, STACKED, use_threads),
            our_runner("together", config, work, STACKED),
        ],
        effort,
    )
    return {
        "variant": variant,
        "restarts": STACKED,
        "seconds": spread(together.seconds).as_json(),
        "seconds_apart": spread(apart.seconds).as_json(),
        "speedup": ratios(apart, together).as_json(),
    }


def _overhead(effort: Effort, restarts: int) -> dict[str, Any]:
    """A whole step for one story of one sentence: what is left is Python, PyTorch and the optimiser."""
    work = workload(1, 1, 1)
    step = network_step(build_qrn(resolve("2r"), work, restarts, None), work)
    (timing,) = race([Runner("step", step, 1, use_threads, (1,))], effort)
    return {"variant": "2r", "restarts": restarts, "seconds": spread(timing.seconds).as_json()}
