"""Output where not every character can be written: a plain one of the same width stands for it.

Pipes on Windows and old terminals write cp1252 or ASCII. A table must stay a table there, and never end in a traceback.
"""

from __future__ import annotations

import codecs
import sys
import unicodedata

__all__ = ["allow_plain_text"]

_PLAIN = dict(
    zip(
        "→←↑↓█▉▊▋▌▍▎▏━─│╸╺╭╮╰╯–—−“”‘’±×·•●✓✗",
        "><^v####||..--|--++++---\"\"''~x.**+x",
        strict=True,
    )
)
_NAME = "query_reduction.plain_text"


def allow_plain_text() -> None:
    """Let standard output and standard error replace what their encoding lacks."""
    codecs.register_error(_NAME, _replace)
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None and not (stream.encoding or "").lower().startswith("utf"):
            reconfigure(errors=_NAME)


def _replace(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    text = error.object[error.start : error.end]
    return "".join(_plain(character) for character in text), error.end


def _plain(character: str) -> str:
    """One ASCII character: that of the same look, the letter below an accent, the digit of a superscript, or ``?``."""
    first = _PLAIN.get(character) or unicodedata.normalize("NFKD", character)[0]
    return first if first.isascii() else "?"
