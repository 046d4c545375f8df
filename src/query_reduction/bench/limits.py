"""How near the machine's limits: matrix products against its fastest one, the scan against its memory.

Only products that any way of computing the step must do are counted, so the share is of useful work.
"""

from __future__ import annotations

from typing import Any

import torch

from query_reduction.bench.step import STACKED, Workload, our_runner, workload
from query_reduction.bench.timing import Effort, Runner, Timing, race, spread
from query_reduction.native import library as native
from query_reduction.native.threads import available_cores
from query_reduction.networks.qrn import QRNConfig
from query_reduction.networks.registry import resolve
from query_reduction.scan import scan

__all__ = ["FORMULA", "measure_limits", "step_products"]

FORMULA = (
    "3 · 2d² · (S + B + (L − 1)·B·T): forward and twice as much backward; W_x x once for each of the S distinct "
    "sentences, W_q q once a story in layer 1 and once a sentence in the other L − 1; gates, encoder, head and "
    "everything elementwise left out"
)
_SCAN_PASSES = 8
"""Numbers moved for each element: z, v in and h out; z, h, dh in and dz, dv out."""


def step_products(config: QRNConfig, work: Workload) -> int:
    """Floating point operations of the matrix products of one model's step, tied weights, by ``FORMULA``."""
    batch = work.questions.batch(work.chosen)
    stories, time = batch.stories.shape
    # The questions are rows of the table, too, but nothing is read from them.
    sentences = min(len(batch.stories.unique()), stories * time)
    return 6 * config.dimension**2 * (sentences + stories + (config.layers - 1) * stories * time)


def measure_limits(
    effort: Effort, *, gemm: int = 2048, stream: int = 2**25, scan_steps: int = 2**18, variant: str = "6r200"
) -> dict[str, Any]:
    """Rates of a large matrix product and of large copies, and what our step and scan reach of them."""
    cores = available_cores()
    left, right, product = (torch.randn(gemm, gemm) for _ in range(3))
    runners = [Runner("torch.mm", lambda: torch.mm(left, right, out=product), thread_counts=(cores,))]
    work_of = {32: workload(32), 128: workload(128)}
    config: QRNConfig = resolve(variant)
    cases = [(STACKED, 32), (1, 32), (1, 128)]
    for restarts, batch in cases:
        runners.append(our_runner(f"{variant}, {restarts} × batch {batch}", config, work_of[batch], restarts))
    peak, *steps = race(runners, effort)
    operations = 2 * gemm**3
    best_rate = operations / min(peak.seconds)
    rows = []
    for (restarts, batch), timing in zip(cases, steps, strict=True):
        products = step_products(config, work_of[batch])
        share = spread(
            [products / mine / (operations / its) for mine, its in zip(timing.seconds, peak.seconds, strict=False)]
        )
        rows.append(
            {
                "name": timing.name,
                "restarts": restarts,
                "batch": batch,
                "threads": timing.threads,
                "products": products,
                "rate": products / spread(timing.seconds).median,
                "share": share.as_json(),
                "share_of_best": products / min(timing.seconds) / best_rate,
            }
        )
    return {
        "gemm": {"size": gemm, "threads": cores, "rate": spread(_rates(peak, operations)).as_json(), "best": best_rate},
        "formula": FORMULA,
        "steps": rows,
        "memory": _memory(effort, stream, scan_steps, cores),
        "notes": [],
    }


def _memory(effort: Effort, stream: int, scan_steps: int, cores: int) -> dict[str, Any]:
    """Bandwidth by copy and by a + s·b, and the scan's."""
    a, b, c = (torch.ones(stream) for _ in range(3))
    z = torch.rand(1, scan_steps, 64, requires_grad=True)
    v = torch.randn(1, scan_steps, 64, requires_grad=True)
    gradient = torch.ones(1, scan_steps, 64)
    backend = "fused" if native.available() else "associative"

    def both() -> object:
        return torch.autograd.grad(scan(z, v, backend=backend), (z, v), gradient)

    timings = race(
        [
            Runner("copy", lambda: c.copy_(a), thread_counts=(cores,)),
            Runner("triad", lambda: torch.add(a, b, alpha=2.0, out=c), thread_counts=(cores,)),
            Runner(f"scan ({backend})", both),
        ],
        effort,
    )
    moved = [2 * stream * 4, 3 * stream * 4, _SCAN_PASSES * v.numel() * 4]
    rates = {timing.name: _rates(timing, amount) for timing, amount in zip(timings, moved, strict=True)}
    best = max(max(rates["copy"]), max(rates["triad"]))
    return {
        "rows": [
            {"name": name, "rate": spread(values).as_json(), "best": max(values)} for name, values in rates.items()
        ],
        "scan_share_of_best": max(rates[timings[2].name]) / best,
    }


def _rates(timing: Timing, amount: float) -> list[float]:
    return [amount / seconds for seconds in timing.seconds]
