"""qrn bench"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path

from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from query_reduction.cli.output import console, notes, print_json
from query_reduction.errors import InputError, needs
from query_reduction_lab.bench.picture import check_picture, draw_recurrence
from query_reduction_lab.bench.records import Record
from query_reduction_lab.bench.results import Recurrence
from query_reduction_lab.bench.run import Section, all_tables, load_records, run_bench, write_page
from query_reduction_lab.bench.tables import to_rich

__all__ = ["Bench"]


@dataclass(frozen=True)
class Bench:
    """Measure speed and memory, compared with other implementations of the same computation.

    Every contender runs in its own process, in alternating rounds; ratios are medians over the rounds, with
    quartiles. Each part is written as it finishes, followed by the page of all parts.
    """

    only: tuple[Section, ...] = ()
    """Measure only these parts: recurrence, step, scaling, limits, memory, build."""
    quick: bool = False
    """A few minutes instead of half an hour: fewer sizes and rounds, no torch.compile, wider spread."""
    out: Path | None = None
    """Write bench.md and bench/PART.json into this folder; default: 'results', but a quick run writes nothing by
    default."""
    render: bool = False
    """Measure nothing: write the page (and the picture) again from the stored parts."""
    plot: Path | None = None
    """Draw the contenders of the recurrence here (.svg, .png, .pdf)."""
    json: bool = False
    """Print all figures as one JSON object."""

    def run(self) -> int:
        """Measure, write, print, draw."""
        if self.plot is not None:
            check_picture(self.plot)
        folder = Path("results") if self.out is None and not self.quick else self.out
        stored = None if folder is None else folder / "bench"
        if self.render:
            if folder is None or not (found := load_records(folder / "bench")):
                raise InputError(f"no figures of 'qrn bench' in {stored}")
        else:
            found = self._measure(stored)
        if folder is not None:
            write_page(load_records(folder / "bench"), folder / "bench.md")
            notes.print(f"page: {folder / 'bench.md'}", markup=False)
        if self.json:
            print_json({record.name: asdict(record) for record in found})
        else:
            for _, tables in all_tables(found):
                for table in tables:
                    console.print(to_rich(table))
        if self.plot is not None:
            part = next((record.part for record in found if isinstance(record.part, Recurrence)), None)
            if part is None:
                raise InputError("--plot draws the part recurrence, which was not measured")
            draw_recurrence(part, self.plot)
            notes.print(f"picture: {self.plot}", markup=False)
        return 0

    def _measure(self, folder: Path | None) -> list[Record]:
        columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
        with Progress(*columns, console=notes, transient=True) as bar:
            task = bar.add_task("starting", total=1.0)

            def show(what: str, share: float) -> None:
                bar.update(task, description=what, completed=share)

            with needs("train", "measuring"):
                return run_bench(self.only, quick=self.quick, folder=folder, progress=show)
