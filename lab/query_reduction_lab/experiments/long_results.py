"""What was measured with facts hidden in a book: kept in one file, from which the report is made."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from query_reduction.errors import InputError
from query_reduction.files import write_atomically
from query_reduction.model import StoryModel
from query_reduction.model_file import fingerprint
from query_reduction.native import library as native
from query_reduction.origin import provenance

__all__ = ["LongCell", "LongNetwork", "LongResults", "LongTime"]


@dataclass(frozen=True, slots=True)
class LongCell:
    """How many questions a network answered correctly at one length."""

    column: str
    task: str
    words: int
    asked: int
    right: int
    model: str
    """The sha256 of the network."""

    @property
    def place(self) -> tuple[str, str, int]:
        """Its place in the table."""
        return self.column, self.task, self.words


@dataclass(frozen=True, slots=True)
class LongNetwork:
    """A trained network, and where it comes from."""

    model: str
    network: str
    dev_error: float
    """On development questions hidden in the first half of the book, or on plain ones if it was trained on these."""
    test_error: float
    """On all published test questions, as they are."""
    seconds: float
    command: str
    commit: str | None
    data: Mapping[str, str]
    settings: Mapping[str, Any]

    @staticmethod
    def of(model: StoryModel) -> LongNetwork:
        """What the card of a trained model says."""
        card = model.card
        return LongNetwork(
            fingerprint(model.saved),
            card["network"],
            card["dev_error"],
            card["test_error"],
            card["seconds"],
            card["command"],
            card["commit"],
            card["data"],
            card["settings"],
        )


@dataclass(frozen=True, slots=True)
class LongTime:
    """Time and memory of one question about the whole book, asked alone."""

    task: str
    model: str
    right: bool
    seconds: float
    """Of reading the file and answering, in a process that has the model."""
    megabytes: float
    """The most that such a process held at any time."""
    command_seconds: float
    """Of the whole command, from its start."""
    command_megabytes: float


@dataclass(slots=True)
class LongResults:
    """All of it, as far as it was measured."""

    path: Path
    book: Mapping[str, Any] = field(default_factory=dict)
    """Lines, words and checksum of the book that everything was measured with; empty before the first measurement."""
    networks: dict[str, LongNetwork] = field(default_factory=dict)
    """By column and task: ``long 1``."""
    cells: list[LongCell] = field(default_factory=list)
    times: list[LongTime] = field(default_factory=list)

    @staticmethod
    def load(path: Path) -> LongResults:
        """Everything that was measured; nothing if there is no such file."""
        if not path.is_file():
            return LongResults(path)
        try:
            values = json.loads(path.read_text(encoding="utf-8"))
            return LongResults(
                path,
                values["book"],
                {name: LongNetwork(**network) for name, network in values["networks"].items()},
                [LongCell(**cell) for cell in values["cells"]],
                [LongTime(**time) for time in values["times"]],
            )
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise InputError(f"{path}: not a file of results; remove it to measure everything again") from error

    def use_book(self, lines: Sequence[str]) -> None:
        """Say which book is read from now on; results of different books do not go into one file."""
        text = "\n".join(lines)
        sha256 = hashlib.sha256(text.encode()).hexdigest()
        if self.book and self.book["sha256"] != sha256:
            raise InputError(f"{self.path} was measured with another book; choose another folder with --out")
        self.book = {"lines": len(lines), "words": len(text.split()), "sha256": sha256}

    def save(self) -> None:
        """Write all of it, with where it comes from."""
        content = {
            "table": "long",
            "seed": 0,
            "instruction_set": native.variant() if native.available() else None,
            "book": self.book,
            "networks": {name: asdict(self.networks[name]) for name in sorted(self.networks)},
            "cells": [asdict(cell) for cell in self.cells],
            "times": [asdict(time) for time in self.times],
            **provenance(),
        }
        write_atomically(self.path, json.dumps(content, indent=1) + "\n")

    def add(self, network: LongNetwork, measured: LongCell) -> None:
        """Store what was measured with a network, in the place of what was measured there with an earlier one."""
        self.networks[f"{measured.column} {measured.task}"] = network
        others = [cell for cell in self.cells if cell.place != measured.place]
        self.cells = [*others, measured]
        self.save()

    def add_time(self, measured: LongTime) -> None:
        """Store a time, in the place of that of an earlier network."""
        self.times = [*(time for time in self.times if time.task != measured.task), measured]
        self.save()

    def of_network(self, column: str, task: str, network: LongNetwork) -> list[LongCell]:
        """What was measured with this very network."""
        return [cell for cell in self.cells if cell.place[:2] == (column, task) and cell.model == network.model]

    def cell(self, column: str, task: str, words: int) -> LongCell | None:
        """What was measured at one length."""
        return next((cell for cell in self.cells if cell.place == (column, task, words)), None)
