"""qrn bench"""

from __future__ import annotations

import json as json_format
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import tyro

from query_reduction.bench.picture import check_picture, draw_curve
from query_reduction.bench.run import Section, run_bench
from query_reduction.bench.tables import tables
from query_reduction.cli.output import console, notes, print_json
from query_reduction.errors import InputError

__all__ = ["Bench"]


@dataclass(frozen=True)
class Bench:
    """Measure speed and memory, side by side with other ways to compute the same.

    Everything is timed in turn, round after round, in one run; ratios are medians over the rounds, with quartiles.
    """

    only: Annotated[tuple[Section, ...], tyro.conf.arg(metavar="PART ...")] = ()
    """Measure just these parts: recurrence, curve, step, limits, memory, scaling, build."""
    quick: bool = False
    """A minute or two instead of ten or twenty: fewer sizes and rounds, wider spread."""
    plot: Path | None = None
    """Draw speed against the length of the story here (.svg, .png, .pdf); needs the part curve."""
    earlier: Path | None = None
    """Show and draw this file, printed with --json before, instead of measuring."""
    results: Path = Path("results")
    """The folder of 'qrn reproduce', for the time a whole column of results took."""
    json: bool = False
    """Print all figures as one JSON object."""

    def run(self) -> int:
        """Measure, print, draw."""
        if self.plot is not None:
            check_picture(self.plot)
            if self.only and "curve" not in self.only:
                raise InputError("--plot draws the part curve: add it to --only")
        found = self._measure() if self.earlier is None else _load(self.earlier)
        if self.json:
            print_json(found)
        else:
            for table in tables(found):
                console.print(table)
        if self.plot is not None:
            if "curve" not in found["sections"]:
                raise InputError(f"{self.earlier}: holds no part 'curve' to draw")
            draw_curve(found["sections"]["curve"], self.plot)
            notes.print(f"picture: {self.plot}", markup=False)
        return 0

    def _measure(self) -> dict[str, Any]:
        return run_bench(
            self.only,
            quick=self.quick,
            results=self.results,
            started=lambda what: notes.print(f"measuring: {what}", style="dim", markup=False),
        )


def _load(path: Path) -> dict[str, Any]:
    try:
        found: dict[str, Any] = json_format.loads(path.read_text(encoding="utf-8"))
        if found["format"] != 1 or not isinstance(found["sections"], dict):
            raise ValueError("another format")
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(f"{path}: not figures of 'qrn bench --json' ({error})") from error
    return found
