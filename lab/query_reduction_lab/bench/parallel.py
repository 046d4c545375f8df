"""How much faster it is to compute all time steps at once, the paper's ratio next to ours; and, separately, fused code.

The paper's 6.2 compares its matrix form, parallel over time, with the same network stepping through time. Like for like
is our matrix form against our loop, both made of PyTorch operations. This package trains neither way: its reader is
sequential over time and fused into one native pass, which is a different gain and is reported as such.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from query_reduction.files import write_atomically
from query_reduction.origin import provenance
from query_reduction_lab.bench.results import Race, Spread, Step, ratios
from query_reduction_lab.bench.step import LOOP, MATRIX, VARIANTS, measure_steps
from query_reduction_lab.bench.tables import Table, shown_ratio, to_markdown
from query_reduction_lab.bench.timing import FULL, QUICK

__all__ = ["ParallelRow", "measure_speed", "parallel_rows", "parallel_table", "speed_markdown", "write_speed"]

_PAPER = 6.2
"""On average, one Titan X."""


@dataclass(frozen=True, slots=True)
class ParallelRow:
    """Times faster than the loop over time, per model, with the same number of threads."""

    variant: str
    restarts: int
    """The number of models that train together, the same in all three."""
    threads: int
    matrix: Spread | None
    """The paper's form: parallel over time."""
    fused: Spread | None
    """The native reader: sequential over time."""


def parallel_rows(step: Step) -> Iterator[ParallelRow]:
    """Both gains, for every network, stack and number of threads."""
    for row in step.rows:
        for threads in row.race.thread_counts:
            yield ParallelRow(
                row.variant,
                row.restarts,
                threads,
                _gain(row.race, MATRIX, threads),
                _gain(row.race, row.race.ours, threads),
            )


def _gain(race: Race, way: str, threads: int) -> Spread | None:
    loop, other = race.of(LOOP, threads), race.of(way, threads)
    return None if loop is None or other is None else ratios(loop, other)


def parallel_table(rows: list[ParallelRow]) -> Table:
    """For people."""
    cells = [("paper, on average, one Titan X", "1", "", f"{_PAPER:g}", "")]
    cells += [
        (
            row.variant,
            str(row.restarts),
            str(row.threads),
            "–" if row.matrix is None else shown_ratio(row.matrix),
            "–" if row.fused is None else shown_ratio(row.fused),
        )
        for row in rows
    ]
    return Table(
        "Parallel over time against sequential: a training step, times faster than a loop over time",
        ("network", "models together", "threads", "matrix form (parallel)", "fused reader (sequential)"),
        tuple(cells),
        (
            "The paper's ratio is to be compared with the matrix form alone. The fused reader steps through time, too: "
            "what it gains is by doing so in one native pass, not by being parallel over time.",
        ),
    )


def measure_speed(variants: tuple[str, ...] = VARIANTS, *, quick: bool = False) -> dict[str, Any]:
    """The table of ``qrn reproduce speed``, as it is stored."""
    rows = list(parallel_rows(measure_steps(variants, QUICK if quick else FULL, lambda share: None)))
    return {"table": "speed", "published": _PAPER, "rows": [asdict(row) for row in rows], **provenance()}


def speed_markdown(speed: dict[str, Any]) -> str:
    """For a person."""
    rows = []
    for row in speed["rows"]:
        gains = {name: Spread(**row[name]) if row[name] else None for name in ("matrix", "fused")}
        rows.append(ParallelRow(**row | gains))
    machine = speed["machine"]
    origin = f"Per model; {machine['processor']}, {machine['cores']} cores, torch {machine['torch']}."
    return f"{to_markdown(parallel_table(rows))}\n{origin}\n"


def write_speed(speed: dict[str, Any], folder: Path) -> list[Path]:
    """Write it; return the files."""
    contents = {"speed.json": json.dumps(speed, indent=1) + "\n", "speed.md": speed_markdown(speed)}
    for name, content in contents.items():
        write_atomically(folder / name, content)
    return [folder / name for name in contents]
