"""The states of things along a story, as a table: a row per sentence, a column per thing."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from query_reduction.errors import InputError
from query_reduction.files import write_atomically
from query_reduction.pointing.decide import State

__all__ = ["Track"]


@dataclass(frozen=True, slots=True)
class Track:
    """What became of each thing."""

    sentences: tuple[str, ...]
    things: tuple[str, ...]
    states: tuple[tuple[State, ...], ...]
    """For each thing, its state before the first sentence and after each."""
    notes: tuple[str, ...] = ()
    """What the reader should know, one line per item."""

    def of(self, thing: str) -> tuple[State, ...]:
        """The states of one thing."""
        if thing not in self.things:
            raise InputError(f"{thing!r} was not tracked; there are {', '.join(self.things)}")
        return self.states[self.things.index(thing)]

    def rows(self) -> list[tuple[str, ...]]:
        """The sentence (empty before the first), then the state of each thing after it."""
        told = ("", *self.sentences)
        return [(sentence, *(states[number].text for states in self.states)) for number, sentence in enumerate(told)]

    def as_csv(self) -> str:
        """The table with a header; sentences are numbered from 1, 0 is before the first."""
        out = io.StringIO()
        table = csv.writer(out, lineterminator="\n")
        table.writerow(["number", "sentence", *self.things])
        table.writerows([number, *row] for number, row in enumerate(self.rows()))
        return out.getvalue()

    def as_json(self) -> dict[str, Any]:
        """Sentences, and for each thing its states with confidence, place and what happened."""
        return {
            "sentences": list(self.sentences),
            "things": {
                thing: [state.as_json() for state in states]
                for thing, states in zip(self.things, self.states, strict=True)
            },
            "notes": list(self.notes),
        }

    def save(self, path: str | Path) -> None:
        """Write the table as .csv, or everything as .json."""
        target = Path(path)
        if target.suffix not in (".csv", ".json"):
            raise InputError(f"{target}: a table is written to a file that ends in .csv or .json")
        text = self.as_csv() if target.suffix == ".csv" else json.dumps(self.as_json(), ensure_ascii=False) + "\n"
        write_atomically(target, text)

    def __str__(self) -> str:
        header: Sequence[str] = ("", *self.things)
        rows = [header, *self.rows()]
        widths = [max(len(row[column]) for row in rows) for column in range(len(header))]
        return "\n".join(
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
        )
