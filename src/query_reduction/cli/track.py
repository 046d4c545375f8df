"""qrn track"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from rich.table import Table
from rich.text import Text

from query_reduction.cli.arguments import POSITIONAL
from query_reduction.cli.output import console, print_json, print_reading
from query_reduction.cli.story_input import sentences_from
from query_reduction.errors import InputError
from query_reduction.model import load
from query_reduction.pointing.model import PointerModel
from query_reduction.pointing.track import Track as Tracked

__all__ = ["Track"]


@dataclass(frozen=True)
class Track:
    """Follow things through a story: where each is, or what, after every sentence.

    The model must have been trained on states after every sentence ('qrn train --data propara').
    """

    model: Annotated[str, POSITIONAL]
    """A model file, or the folder of a training run."""
    story: str | None = None
    """A text file, one sentence per line or prose (or a .jsonl file: its first story); - for standard input."""
    things: str = ""
    """The things to follow, with commas between them; several names of one thing with ; (water; liquid)."""
    out: Path | None = None
    """Write the table to this file, .csv or .json."""
    csv: bool = False
    """Print the table as comma-separated values."""
    json: bool = False
    """Print sentences and states as one JSON object, with confidence and places."""

    def run(self) -> int:
        """Track and show."""
        model = load(self.model)
        if not isinstance(model, PointerModel):
            raise InputError(f"{self.model} does not track things: train one with 'qrn train --data propara'")
        things = [thing.strip() for thing in self.things.split(",") if thing.strip()]
        if not things:
            raise InputError("name the things to follow: --things water,CO2")
        found = model.track(sentences_from(self.story), things)
        if self.out is not None:
            found.save(self.out)
        if self.json:
            print_json(found.as_json())
        elif self.csv:
            print(found.as_csv(), end="")
        elif self.out is None:
            _show(found)
        return 0


def _show(found: Tracked) -> None:
    table = Table(title_justify="left")
    for title in ("", "after", *found.things):
        table.add_column(Text(title), overflow="fold")
    for number, (sentence, *states) in enumerate(found.rows()):
        before = found.rows()[number - 1][1:] if number else ()
        cells = [
            Text(state, "bold" if number and state != old else "dim" if number else "")
            for state, old in zip(states, before or states, strict=True)
        ]
        table.add_row(str(number), Text(sentence or "(before the first sentence)", "" if sentence else "dim"), *cells)
    console.print(table)
    print_reading(found.notes)
