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
from query_reduction.origin import checkout_checksums, provenance

__all__ = ["LongCell", "LongNetwork", "LongResults", "LongTime"]

_CODE = (
    "src/query_reduction/data/haystack.py",
    "src/query_reduction/inference/reader.py",
    "src/query_reduction/inference/streaming.py",
    "src/query_reduction/training/hiding.py",
    "src/query_reduction/training/shutting.py",
    "src/query_reduction/experiments/long.py",
    "src/query_reduction/experiments/long_test.py",
)
"""What the figures depend on, besides the settings of the networks, which are stored with them."""


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
    about: dict[str, Any]
    """Checksums of the book and of the code: what was measured with others does not count."""
    networks: dict[str, LongNetwork] = field(default_factory=dict)
    """By column and task: ``long 1``."""
    cells: list[LongCell] = field(default_factory=list)
    times: list[LongTime] = field(default_factory=list)

    @staticmethod
    def load(path: Path, book: Sequence[str]) -> LongResults:
        """What was measured of this book by this code; nothing if there is no such file."""
        text = "\n".join(book)
        about = {
            "book": {
                "lines": len(book),
                "words": len(text.split()),
                "sha256": hashlib.sha256(text.encode()).hexdigest(),
            },
            "code": checkout_checksums(_CODE),
        }
        results = LongResults(path, about)
        if not path.is_file():
            return results
        try:
            values = json.loads(path.read_text(encoding="utf-8"))
            if all(values.get(name) == value for name, value in about.items()):
                results.networks = {name: LongNetwork(**each) for name, each in values["networks"].items()}
                results.cells = [LongCell(**each) for each in values["cells"]]
                results.times = [LongTime(**each) for each in values["times"]]
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise InputError(f"{path}: not a file of results; remove it to measure everything again") from error
        return results

    def save(self) -> None:
        """Write all of it, with where it comes from."""
        content = {
            "table": "long",
            "seed": 0,
            "instruction_set": native.variant() if native.available() else None,
            **self.about,
            "networks": {name: asdict(self.networks[name]) for name in sorted(self.networks)},
            "cells": [asdict(cell) for cell in self.cells],
            "times": [asdict(time) for time in self.times],
            **provenance(),
        }
        write_atomically(self.path, json.dumps(content, indent=1) + "\n")

    def add_network(self, column: str, task: str, network: LongNetwork) -> None:
        """Remember a network, and forget what was measured with another one in its place."""
        name = f"{column} {task}"
        self.networks[name] = network
        self.cells = [c for c in self.cells if (c.column, c.task) != (column, task) or c.model == network.model]
        if column == "long":
            self.times = [time for time in self.times if time.task != task or time.model == network.model]

    def cell(self, column: str, task: str, words: int) -> LongCell | None:
        """What was measured at one length."""
        return next((c for c in self.cells if (c.column, c.task, c.words) == (column, task, words)), None)
