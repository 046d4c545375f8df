"""How close to the machine's limits: matrix products compared with its fastest one, the scan with its memory.

Only products that any way of computing the step must do are counted, so the share is of useful work.
"""

from __future__ import annotations

import numpy as np
import torch

from query_reduction.native import library as native
from query_reduction.native.threads import available_cores
from query_reduction.qrn.variants import QRNConfig
from query_reduction.recurrence.scan import scan
from query_reduction.rivals.registry import resolve
from query_reduction_lab.bench.results import BandwidthRow, Limits, Samples, ShareRow, spread
from query_reduction_lab.bench.step import STACKED, Workload, our_runner, workload
from query_reduction_lab.bench.timing import Effort, Runner, race

__all__ = ["FORMULA", "measure_limits", "step_products"]

FORMULA = (
    "3 · 2d² · (S + B + (L − 1)·B·T): forward and twice as much backward; W_x x once for each of the S distinct "
    "sentences, W_q q once a story in layer 1 and once a sentence in the other L − 1; gates, encoder, head and "
    "everything elementwise left out"
)
_SCAN_PASSES = 8
"""Numbers moved per element: z, v in and h out; z, h, dh in and dz, dv out."""


def step_products(config: QRNConfig, work: Workload) -> int:
    """Floating point operations of the matrix products of one model's step, tied weights, by ``FORMULA``."""
    batch = work.questions.batch(work.chosen)
    stories, time = batch.stories.shape
    # The questions are rows of the table, too, but nothing is read from them.
    sentences: int = min(len(np.unique(batch.stories)), stories * time)
    products: int = 6 * config.dimension**2 * (sentences + stories + (config.layers - 1) * stories * time)
    return products


def measure_limits(
    effort: Effort,
    *,
    gemm: int = 2048,
    stream: int = 2**25,
    scan_steps: int = 2**18,
    variants: tuple[str, ...] = ("2r", "6r200"),
) -> Limits:
    """Rates of a large matrix product and of large copies, and what our step and scan reach of them."""
    cores = available_cores()
    left, right, product = (torch.randn(gemm, gemm) for _ in range(3))
    runners = [
        Runner(
            "torch.mm",
            lambda: torch.mm(left, right, out=product),
            set_threads=torch.set_num_threads,
            thread_counts=(cores,),
        )
    ]
    work_of = {batch: workload(batch) for batch in (32, 128)}
    cases = [(variant, *case) for variant in variants for case in ((STACKED, 32), (1, 32), (1, 128))]
    for variant, restarts, batch in cases:
        runners.append(our_runner(variant, resolve(variant), work_of[batch], restarts))
    peak, *steps = race(runners, effort)
    operations = 2 * gemm**3
    rows = []
    for (variant, restarts, batch), samples in zip(cases, steps, strict=True):
        products = step_products(resolve(variant), work_of[batch])
        pairs = zip(samples.seconds, peak.seconds, strict=False)
        share = spread([products / mine / (operations / its) for mine, its in pairs])
        rate = products / samples.typical
        rows.append(ShareRow(variant, restarts, batch, samples.threads, products, rate, share))
    bandwidth = _bandwidth(effort, stream, scan_steps, cores)
    *others, scanned = bandwidth
    return Limits(
        gemm,
        cores,
        spread(_rates(peak, operations)),
        FORMULA,
        tuple(rows),
        tuple(bandwidth),
        scanned.best / max(other.best for other in others),
    )


def _bandwidth(effort: Effort, stream: int, scan_steps: int, cores: int) -> list[BandwidthRow]:
    """Bandwidth by copy and by a + s·b, in PyTorch and written past the cache, and last the scan's."""
    a, b, c = (torch.ones(stream) for _ in range(3))
    z = torch.rand(1, scan_steps, 64, requires_grad=True)
    v = torch.randn(1, scan_steps, 64, requires_grad=True)
    gradient = torch.ones(1, scan_steps, 64)

    def both() -> object:
        return torch.autograd.grad(scan(z, v), (z, v), gradient)

    by_torch = {"set_threads": torch.set_num_threads, "thread_counts": (cores,)}
    moved = {"copy": 2 * stream * 4, "triad": 3 * stream * 4}
    runners = [
        Runner("copy", lambda: c.copy_(a), **by_torch),  # type: ignore[arg-type]
        Runner("triad", lambda: torch.add(a, b, alpha=2.0, out=c), **by_torch),  # type: ignore[arg-type]
    ]
    if native.available():
        name = "triad, written past the cache"
        addresses = (a.data_ptr(), b.data_ptr(), c.data_ptr())
        runners.append(Runner(name, lambda: native.triad(addresses, stream, cores), thread_counts=(cores,)))
        moved[name] = moved["triad"]
    name = f"scan, forward and backward, {scan_steps} steps of 64 units"
    runners.append(Runner(name, both))
    moved[name] = _SCAN_PASSES * v.numel() * 4
    rates = [(samples.contender, _rates(samples, moved[samples.contender])) for samples in race(runners, effort)]
    return [BandwidthRow(name, spread(values), max(values)) for name, values in rates]


def _rates(samples: Samples, amount: float) -> list[float]:
    return [amount / seconds for seconds in samples.seconds]
