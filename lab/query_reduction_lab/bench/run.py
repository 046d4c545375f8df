"""Run the chosen parts of the benchmark; write each as it finishes, and the page of all of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

from query_reduction.files import write_atomically
from query_reduction_lab.bench.bars import bars_table, judge
from query_reduction_lab.bench.part_files import PARTS, MeasuredPart, Origin, Part, load_part, origin_now, write_part
from query_reduction_lab.bench.results import Step
from query_reduction_lab.bench.text_tables import TextTable, part_tables, to_markdown
from query_reduction_lab.bench.timing import FULL, QUICK

__all__ = ["SECTIONS", "Section", "all_tables", "load_parts", "page", "run_bench", "write_page"]

Section = Literal["recurrence", "step", "scaling", "limits", "memory"]
Progress = Callable[[float], None]
"""Called with the share of a part that is done."""

_ROUNDS_OF_PROCESSES = 3


def _recurrence(quick: bool, progress: Progress) -> Part:
    from query_reduction_lab.bench.crowd import measure_crowd
    from query_reduction_lab.bench.problem import FULL_SIZES
    from query_reduction_lab.bench.recurrence import measure_recurrence

    sizes = FULL_SIZES[::2] if quick else FULL_SIZES
    alone = measure_recurrence(sizes, QUICK if quick else FULL, progress, compiled=not quick)
    return replace(alone, crowded=measure_crowd(sizes, 0.2 if quick else 1.5))


def _step(quick: bool, progress: Progress) -> Part:
    from query_reduction_lab.bench.step import VARIANTS, measure_steps

    return measure_steps(VARIANTS, QUICK if quick else FULL, progress)


def _scaling(quick: bool, progress: Progress) -> Part:
    from query_reduction_lab.bench.scaling import measure_scaling

    return measure_scaling(QUICK if quick else FULL)


def _limits(quick: bool, progress: Progress) -> Part:
    from query_reduction_lab.bench.limits import measure_limits

    return measure_limits(QUICK if quick else FULL)


def _memory(quick: bool, progress: Progress) -> Part:
    from query_reduction_lab.bench.long_stories import LENGTHS, LENGTHS_QUICK, measure_long_stories

    return measure_long_stories(LENGTHS_QUICK if quick else LENGTHS, 1 if quick else _ROUNDS_OF_PROCESSES, progress)


SECTIONS: dict[Section, tuple[str, Callable[[bool, Progress], Part]]] = {
    "recurrence": ("the recurrence alone, against other ways to compute it", _recurrence),
    "step": ("a whole training step", _step),
    "scaling": ("threads, restarts, overhead", _scaling),
    "limits": ("share of this machine's limits", _limits),
    "memory": ("time and memory against the length of the story", _memory),
}
"""Part → what it shows, and how to measure it, quickly or in full."""


def run_bench(
    chosen: Sequence[Section],
    *,
    quick: bool,
    folder: Path | None = None,
    progress: Callable[[str, float], None] = lambda what, share: None,
) -> list[MeasuredPart]:
    """Measure the chosen parts (all, if none is named), in their fixed order, each written to the folder at once."""
    found = []
    for name, (what, measure) in SECTIONS.items():
        if chosen and name not in chosen:
            continue
        progress(what, 0.0)
        origin = origin_now()
        part = measure(quick, lambda share, what=what: progress(what, share))  # type: ignore[misc]
        record = MeasuredPart(name, quick, origin, part)
        if folder is not None:
            write_part(record, folder)
        found.append(record)
        progress(what, 1.0)
    return found


def load_parts(folder: Path) -> list[MeasuredPart]:
    """What earlier runs wrote, in the order of the parts."""
    return [load_part(folder / f"{name}.json") for name in PARTS if (folder / f"{name}.json").exists()]


def all_tables(records: Sequence[MeasuredPart]) -> list[tuple[Origin, list[TextTable]]]:
    """The tables of every part; those of the training step include parallel against sequential."""
    from query_reduction_lab.bench.parallel import parallel_rows, parallel_table

    found = []
    for record in records:
        tables = part_tables(record.part)
        if isinstance(record.part, Step):
            tables.append(parallel_table(list(parallel_rows(record.part))))
        found.append((record.origin, tables))
    return found


def page(records: Sequence[MeasuredPart]) -> str:
    """All parts as Markdown, each with where it comes from."""
    lines = [
        "# Speed",
        "",
        "Written by `qrn bench` from `bench/*.json`. Every contender of the recurrence and of the training step runs",
        "in a process of its own, in alternating rounds; ratios are taken round by round. One thread: the process is",
        "kept to one core; two threads: to two.",
        "",
    ]
    for record, (origin, tables) in zip(records, all_tables(records), strict=True):
        lines += [f"## {SECTIONS[record.name][0].capitalize()}", ""]  # type: ignore[index]
        lines += [_from(origin, quick=record.quick), ""]
        lines += [to_markdown(table) for table in tables]
    bars = judge([record.part for record in records])
    if bars:
        lines.append(to_markdown(bars_table(bars, quick=any(record.quick for record in records))))
    return "\n".join(lines)


def _from(origin: Origin, *, quick: bool) -> str:
    packages = ", ".join(f"{package.name} {package.version}" for package in origin.packages)
    hint = " A quick run: only a hint." if quick else ""
    return (
        f"`{origin.command}`, commit {origin.commit}, {origin.processor}, {origin.cores} cores, {origin.system}, "
        f"instruction set {origin.instruction_set}, load before {origin.load:g}, "
        f"Python {origin.python}, {packages}.{hint}"
    )


def write_page(records: Sequence[MeasuredPart], path: Path) -> None:
    """Write the Markdown."""
    write_atomically(path, page(records))
