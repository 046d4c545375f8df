"""Reading a text takes steps in proportion to its length, whatever the text.

``lines_run`` counts lines of Python, for the tests; the row of the report counts machine instructions with callgrind,
which sees regular expressions and the sorting of combining marks, too. Seconds are never measured.
"""

from __future__ import annotations

import math
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from types import FrameType
from typing import Any

from query_reduction.errors import InputError
from query_reduction.model import StoryModel, load
from query_reduction_lab.attack.record import Row

__all__ = ["SHAPES", "exponent", "lines_run", "run", "text_of"]

SHAPES: dict[str, str] = {
    "one word": "no ",
    "a pronoun": "it ",
    "a shouted pronoun": "IT ",
    "initials": "A.",
    "initials apart": "A. ",
    "numbers with points": "1.",
    "item numbers": "1. ",
    "full stops": ".",
    "full stops apart": ". ",
    "full stops and quotes": ".'",
    "quotes": "'",
    "opening brackets": "(",
    "dashes": " - ",
    "apostrophes within": "a'",
    "hyphens within": "a-",
    "possessives": "Zoë's ",
    "combining marks": "\u0301\u0323",
    "letters with marks": "e\u0301\u0323 ",
    "right-to-left marks": "\u200fא",
    "Arabic": "مريم ",
    "Chinese sentences": "玛丽。",
    "emoji": "🙂",
    "joined emoji": "👩\u200d",
    "no-break spaces": "a\u00a0",
    "lines of a letter": "a\n",
    "lines of a name": "Mary\n",
    "wrapped lines": "Mary went\nto ",
    "carriage returns": "x\r",
    "one long word": "x",
    "unknown names": "Zoë ",
    "known and unknown names": "Mary Zoë ",
    "sentences": "Mary went to the garden. ",
    "sentences with unknown names": "Zoë # went to the attic #. ",
    "sentences of unknown words": "Blorp frimmed the zat. ",
}
"""Pieces that a text repeats; # is a number that is new every time."""

_QUESTION = "Where is Mary?"
_STORY = "Mary went to the garden."
_LENGTHS = (20_000, 80_000)
_BAR = 1.1
_WAYS: tuple[Callable[[StoryModel, str], object], ...] = (
    lambda model, text: model.read(text, _QUESTION),
    lambda model, text: model.read(_STORY, text),
    lambda model, text: model.answer_from(text.splitlines(), _QUESTION),
)
"""As a story, as a question, and line by line."""


def text_of(shape: str, length: int, first: int = 0) -> str:
    """A text of this shape, of about so many characters; its numbers, if it has any, count from ``first``."""
    piece = SHAPES[shape]
    return "".join([piece.replace("#", str(number)) for number in range(first, first + length // len(piece))])


def exponent(few: int, many: int, times: float) -> float:
    """How steps grow with a length that grows by this factor: 1 in proportion, 2 by the square."""
    return math.log(many / few) / math.log(times)


def lines_run(function: Callable[[], object]) -> int:
    """How many lines of Python a call runs; text that is refused is fine."""
    count = 0

    def counted(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal count
        count += 1
        return counted

    before = sys.gettrace()
    sys.settrace(counted)
    try:
        with suppress(InputError):
            function()
    finally:
        sys.settrace(before)
    return count


def run(short: bool) -> list[Row]:
    """Every shape, by the number of machine instructions."""
    if shutil.which("valgrind") is None:
        return [Row("growth with the length of a text", 0, "valgrind is not installed", f"exponent ≤ {_BAR}", False)]
    shapes = list(SHAPES)[::12] if short else list(SHAPES)
    nothing = _instructions(shapes[0], 0)
    found = {}
    for shape in shapes:
        few, many = (_instructions(shape, length) - nothing for length in _LENGTHS)
        found[shape] = exponent(few, many, _LENGTHS[1] / _LENGTHS[0])
    worst = max(found, key=lambda shape: found[shape])
    said = f"largest exponent {found[worst]:.2f} ({worst})"
    return [Row("growth with the length of a text", len(found), said, f"exponent ≤ {_BAR}", found[worst] <= _BAR)]


def _instructions(shape: str, length: int) -> int:
    """Of a process that reads a text in every way."""
    command = [
        "valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null",
        sys.executable, "-m", "query_reduction_lab.attack.growth", shape, str(length),
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    collected = re.search(r"Collected : (\d+)", done.stderr)
    assert collected is not None, done.stderr
    return int(collected[1])


def _read_in_every_way(shape: str, length: int) -> None:
    model = load("task1")
    assert isinstance(model, StoryModel)
    for way in _WAYS:
        # What is made once in a process belongs to every length.
        way(model, "Zoë went to the attic 🙂. " + "e\u0301" * 600)
        if length:
            with suppress(InputError):
                way(model, text_of(shape, length))


if __name__ == "__main__":
    _read_in_every_way(sys.argv[1], int(sys.argv[2]))
