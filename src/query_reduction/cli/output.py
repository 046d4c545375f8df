"""What verbs print: results on standard output, progress and notes on standard error."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from rich.console import Console

__all__ = ["console", "notes", "print_json", "print_reading"]


class _Output(Console):
    """Standard output."""

    def on_broken_pipe(self) -> None:
        """Let ``main`` handle it, as for other output; rich would exit with an error."""
        raise BrokenPipeError


console = _Output(highlight=False)
notes = Console(stderr=True, highlight=False)


def print_json(value: Any) -> None:
    """One JSON object on one line of standard output."""
    print(json.dumps(value, ensure_ascii=False, allow_nan=False))


def print_reading(lines: Iterable[str]) -> None:
    """What the user should know about how a story was read."""
    for line in lines:
        console.print(line, style="yellow", markup=False, soft_wrap=True)
