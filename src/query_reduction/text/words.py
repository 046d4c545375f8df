"""Texts as words: how each kind of vocabulary splits a text, and which symbols carry meaning."""

from __future__ import annotations

import itertools
import re
import string
import unicodedata
from functools import cache
from typing import Literal, TypeAlias

__all__ = ["Tokens", "compose", "fold", "signs", "split_words", "word_places"]

Tokens: TypeAlias = Literal["words", "spaces", "text"]
"""How a text is split into words.

``words``: runs of letters, digits and underscores (models of version 0.1.0).
``spaces``: everything between spaces, in lower case (dialogs).
``text``: words with their combining marks, inner apostrophes and hyphens (``don't``, ``well-known``), numbers with
their points (``3.5``, ``10:30``), and each symbol that is not punctuation (``€``, ``%``, ``🙂``) as a separate word.
"""

_WORD = re.compile(r"\w+")
_INNER = r"(?:['\-‐‑](?=\w)|(?<=\d)[.,:](?=\d))"
# Finds the same in such a text as the pattern for all of Unicode, several times faster.
_ASCII_TEXT = re.compile(rf"\w+(?:{_INNER}\w+)*|[$+<=>|~%&@#]")
# A text of such characters alone is split at its marks and spaces, several times faster again.
_MARKS = b'.,:;!?()"'
_PLAIN = string.ascii_letters.encode() + b"_ " + _MARKS
_MARKS_AS_SPACES = bytes.maketrans(_MARKS, b" " * len(_MARKS))
_SPOKEN = "%‰&@#§"
"""Punctuation in Unicode, but read aloud as a word."""
_JOINERS = "\u200c\u200d"
_SKIN = "\U0001f3fb-\U0001f3ff"
_PICTURES = range(0x1F000, 0x1FB00)
_LAST_SYMBOL = 0x1FC00
_SELECTORS = range(0xE0100, 0xE01F0)
_NO_SIGNS = re.compile(r"[\w\s.,:;!?'\"()\-]*")  # true of nearly all texts: no need to look more closely


def compose(text: str) -> str:
    """The text in the normal form NFC, in which ``ë`` is one character."""
    return text if text.isascii() or unicodedata.is_normalized("NFC", text) else unicodedata.normalize("NFC", text)


def fold(word: str) -> str:
    """The case-folded word."""
    return word.lower() if word.isascii() else compose(word.casefold())


def split_words(text: str, tokens: Tokens) -> list[str]:
    """The words of a text."""
    if tokens == "words":
        return _WORD.findall(text)
    if tokens == "spaces":
        return text.lower().split()
    if text.isascii():
        letters = text.encode("ascii")
        if not letters.translate(None, _PLAIN):
            return letters.translate(_MARKS_AS_SPACES).decode("ascii").split()
        return _ASCII_TEXT.findall(text)
    return _text_pattern().findall(compose(text).replace("’", "'"))


def word_places(text: str) -> list[tuple[str, int, int]]:
    """The words of a text as ``text`` splits it, each with where it begins and ends."""
    pattern = _ASCII_TEXT if text.isascii() else _text_pattern()
    # One character for one: the places hold in the text as it was written.
    return [(found[0], found.start(), found.end()) for found in pattern.finditer(text.replace("’", "'"))]


def signs(text: str) -> list[str]:
    """The symbols of a text that ``words`` skips although they mean something."""
    return [] if _NO_SIGNS.fullmatch(text) else _sign_pattern().findall(text)


@cache
def _text_pattern() -> re.Pattern[str]:
    letter = rf"[\w{_classes()[0]}{_JOINERS}]"
    return re.compile(rf"\w{letter}*(?:{_INNER}{letter}+)*|{_sign_pattern().pattern}")


@cache
def _sign_pattern() -> re.Pattern[str]:
    marks, symbols = _classes()
    # An emoji with its variation selectors and skin tone, and what zero-width joiners add to it, is one word.
    sign = rf"[{symbols}{_SPOKEN}][{marks}{_SKIN}]*"
    return re.compile(rf"{sign}(?:\u200d{sign})*")


@cache
def _classes() -> tuple[str, str]:
    """The character classes of a regular expression for combining marks, and for symbols."""
    marks: list[range] = []
    symbols: list[range] = []
    for code in itertools.chain(range(0x24, _LAST_SYMBOL), _SELECTORS):
        kind = unicodedata.category(chr(code))
        # Emoji that this version of Python does not know are symbols, too.
        found = marks if kind[0] == "M" else symbols if kind in ("Sc", "Sm", "So") or code in _PICTURES else None
        if found is None:
            continue
        if found and found[-1].stop == code:
            found[-1] = range(found[-1].start, code + 1)
        else:
            found.append(range(code, code + 1))
    return _as_class(marks), _as_class(symbols)


def _as_class(ranges: list[range]) -> str:
    return "".join(f"{re.escape(chr(codes[0]))}-{re.escape(chr(codes[-1]))}" for codes in ranges)
