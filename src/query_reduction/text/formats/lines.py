"""Text files line by line: problems are recorded with their location and never crash."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, NamedTuple, Protocol

from query_reduction.text.formats.opening import LONGEST_LINE, UnreadableError, open_text
from query_reduction.text.stories import Story

__all__ = ["NumberedLine", "Problem", "Scanner", "lines_of", "numbered_lines", "text_lines"]


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem in a file, with its location."""

    path: Path
    line: int
    what: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.what}" if self.line else f"{self.path}: {self.what}"


class Scanner(Protocol):
    """A reader of one format: yields the stories of a file and appends what is wrong with it to ``problems``."""

    def __call__(
        self, path: Path, problems: list[Problem], *, stop_at_first: bool = False, unanswered: bool = False
    ) -> Iterator[Story]:
        """Scan; ``unanswered`` allows questions without answers, which are then empty texts."""


class NumberedLine(NamedTuple):
    """A line that begins with a number."""

    place: int
    """Its line number in the file."""
    number: int
    """The number at its start; 1 begins a new story."""
    text: str


def numbered_lines(path: Path, problems: list[Problem], *, stop_at_first: bool) -> Iterator[NumberedLine]:
    """The lines of a bAbI file, numbered 1, 2, 3, … anew for every story; others are recorded in ``problems``."""
    last = 0
    for place, line in enumerate(text_lines(path, problems), start=1):
        if stop_at_first and problems:
            return
        if not line.strip():
            continue
        first_word, _, text = line.lstrip().partition(" ")
        if not first_word.isdecimal():
            problems.append(Problem(path, place, f"expected 'NUMBER text', found {line[:40]!r}"))
            continue
        number = int(first_word[:12])
        if number not in (1, last + 1):
            problems.append(Problem(path, place, f"line number {number} after {last}: number lines 1, 2, 3, …"))
        last = number
        yield NumberedLine(place, number, text)


def text_lines(path: Path, problems: list[Problem]) -> Iterator[str]:
    """Lines without their ends (LF or CRLF), read one at a time; undecodable bytes are a problem, not a crash."""
    try:
        with open_text(path) as file:
            yield from lines_of(file, path, problems)
    except UnreadableError as error:
        problems.append(Problem(path, 0, str(error)))


def lines_of(file: IO[str], path: Path, problems: list[Problem]) -> Iterator[str]:
    """The lines of an open text, as ``text_lines``; ``path`` is what its problems call it."""
    place = 0
    try:
        while line := file.readline(LONGEST_LINE):
            place += 1
            if "\0" in line:
                problems.append(Problem(path, place, "binary data, not text"))
                return
            if len(line) == LONGEST_LINE:
                problems.append(Problem(path, place, f"a line of more than {LONGEST_LINE} characters"))
                return
            yield line.rstrip("\n")
    except UnicodeDecodeError as error:
        # The decoder reached the bad bytes while reading ahead: count the lines between the last one given and them.
        place += 1 + error.object[: error.start].count(b"\n")
        problems.append(Problem(path, place, "not UTF-8 text"))
