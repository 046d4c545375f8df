"""Facts hidden in a whole book: the networks of the table and their trainings; see ``long_test`` for what is asked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from query_reduction.errors import InputError
from query_reduction.reading.protocol import Parts
from query_reduction.sources.fetch import cache_folder, find_babi
from query_reduction.sources.named import load_parts
from query_reduction.text.haystack import halves, read_haystack
from query_reduction.text.stories import Story
from query_reduction.training.run import Run
from query_reduction.training.run_folder import is_finished
from query_reduction.training.setup import Setup, setup

__all__ = ["COLUMNS", "TASKS", "LongColumn", "find_haystack", "folder_of", "long_runs", "setup_of", "test_stories"]

TASKS = ("1", "2", "3", "4", "5")
_NETWORKS = {"1": "3rv", "2": "3rv100", "3": "3rv100", "4": "3rv", "5": "3rv"}
"""Half as many units do for some tasks, and train in a third of the time."""
_RUNS = Path("runs") / "long"
_TEXT = Path("text") / "king-james-bible.txt"


@dataclass(frozen=True, slots=True)
class LongColumn:
    """A network of the table."""

    name: str
    about: str
    recipe: str
    restarts: int
    changes: dict[str, Any] = field(default_factory=dict)
    """Settings of the training that differ from the recipe's."""
    of: str = ""
    """The column whose trained networks it uses, if not its own."""
    reads_all: bool = True
    """Whether every sentence is read, or only those of known words."""
    questions: int = 100
    """Questions per task and length."""


COLUMNS: dict[str, LongColumn] = {
    column.name: column
    for column in (
        LongColumn(
            "long",
            "trained on stories hidden in the first half of the book, with gates that can be exactly shut",
            "long",
            1,
            questions=200,
        ),
        LongColumn(
            "plain gates",
            "the same training without stretched gates",
            "long",
            1,
            {"gate_stretch": 1.0, "plain_epochs": 0, "stretch_epochs": 0},
        ),
        LongColumn(
            "stories alone", "trained without a book (recipe best); reads every sentence", "best", 1, {"memory": 0}
        ),
        LongColumn(
            "left out",
            "the same network; sentences with many unknown words are left out before it reads",
            "best",
            1,
            of="stories alone",
            reads_all=False,
        ),
    )
}
"""The columns by name; the first is the result, the others are controls."""


def find_haystack(path: Path | None = None) -> list[str]:
    """The lines of the book: of a file, or of the one under $QRN_DATA."""
    found = path or cache_folder() / _TEXT
    if not found.is_file():
        raise InputError(f"no book at {found}: name a text of one sentence per line with --haystack")
    return read_haystack(found)


def test_stories(task: str) -> Sequence[Story]:
    """The published test stories of a task."""
    return load_parts(str(find_babi("en")), task).test


def folder_of(column: LongColumn, task: str) -> Path:
    """Where the training of a column's network is."""
    return _RUNS / f"{(column.of or column.name).replace(' ', '-')}-{task}"


def setup_of(column: LongColumn, task: str) -> Setup:
    """How the network of a column is trained."""
    own = COLUMNS[column.of] if column.of else column
    return setup(_NETWORKS[task], own.recipe, changes={"restarts": own.restarts, **own.changes})


def long_runs(
    haystack: Sequence[str], columns: Sequence[LongColumn], tasks: Sequence[str]
) -> Iterator[tuple[Path, str, Run]]:
    """The trainings that the columns still need, one at a time: the folder, what it is called, and the run."""
    for column in columns:
        for task in tasks:
            folder = folder_of(column, task)
            own = COLUMNS[column.of] if column.of else column
            if not is_finished(folder):
                parts: Parts = load_parts(str(find_babi("en")), task)
                if own.recipe == "long":
                    parts = parts.hidden_in(halves(haystack)[0])
                yield folder, f"long, {own.name}, task {task}", Run(parts, setup_of(own, task))
