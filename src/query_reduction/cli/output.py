"""What verbs print: results on standard output, progress and notes on standard error.

Stories and file names are printed as they are, except for characters that would control the terminal instead of being
shown: escape sequences, other control characters, and marks that turn the direction of text.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.segment import Segment
from rich.text import Text

if TYPE_CHECKING:
    from query_reduction.reading.stories import Answer

__all__ = ["console", "headline", "notes", "print_json", "print_reading", "shown"]

# Halves of characters (lone surrogates) cannot be printed at all.
_HIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def shown(text: str) -> str:
    """A text with a question mark in a diamond for each character that would not be shown."""
    return _HIDDEN.sub("\ufffd", text)


class _Output(Console):
    """A console that shows what it is given and is not controlled by it."""

    def _render_buffer(self, buffer: Iterable[Segment]) -> str:
        # The one place all text passes on its way out, still apart from rich's own sequences.
        return super()._render_buffer(
            segment if segment.control else Segment(_HIDDEN.sub("\ufffd", segment.text), segment.style)
            for segment in buffer
        )

    def on_broken_pipe(self) -> None:
        """Let ``main`` handle it, as for other output; rich would exit with an error."""
        raise BrokenPipeError


console = _Output(highlight=False, emoji=False)
notes = _Output(stderr=True, highlight=False, emoji=False)


def headline(answer: Answer) -> Text:
    """An answer and how sure it is; below its threshold, that it is not known."""
    sure = f"{answer.confidence:.0%} sure"
    if answer.declined:
        return Text.assemble(("I don't know", "bold"), f"  (best guess: {shown(answer.text)}, {sure})")
    return Text.assemble((shown(answer.text), "bold"), f"  ({sure})")


def print_json(value: Any) -> None:
    """One JSON object on one line of standard output; what the encoding may lack is escaped, not lost."""
    unicode = (sys.stdout.encoding or "").lower().startswith("utf")
    text = json.dumps(value, ensure_ascii=not unicode, allow_nan=False)
    print(_HIDDEN.sub(lambda found: f"\\u{ord(found[0]):04x}", text))


def print_reading(lines: Iterable[str]) -> None:
    """What the user should know about how a story was read."""
    for line in lines:
        console.print(line, style="yellow", markup=False, soft_wrap=True)
