"""How far a command walks through the library: files, functions, calls, and changes from one file to another.

    python -m query_reduction_lab.studies.walk ask task2 --story story.txt --question "Where is the milk?"

The second run in a process is counted, and functions of the library alone: no comprehensions, no lambdas. With
PYTHONPATH before it, another version of the library is measured in the same way.
"""

from __future__ import annotations

import contextlib
import io
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from types import FrameType

import query_reduction
from query_reduction.cli import main

__all__ = ["Walk", "walk"]

_LIBRARY = str(Path(query_reduction.__file__).parent)


@dataclass(frozen=True, slots=True)
class Walk:
    """What was passed on the way."""

    files: int
    functions: int
    calls: int
    changes: int
    """From one file to another."""


def walk(arguments: Sequence[str]) -> Walk:
    """Run a command twice and count on the second run."""
    passed: list[tuple[str, int]] = []

    def count(frame: FrameType, event: str, argument: object) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(_LIBRARY) and not code.co_name.startswith("<"):
            passed.append((code.co_filename, code.co_firstlineno))

    with contextlib.redirect_stdout(io.StringIO()):
        main(arguments)
        sys.setprofile(count)
        try:
            main(arguments)
        finally:
            sys.setprofile(None)
    files = [file for file, _ in passed]
    changes = sum(one != other for one, other in pairwise(files))
    return Walk(len(set(files)), len(set(passed)), len(passed), changes)


if __name__ == "__main__":
    print(walk(sys.argv[1:]))
