"""Texts as words: how each kind of vocabulary splits a text, and which symbols carry meaning."""

from __future__ import annotations

import itertools
import re
import string
import unicodedata
from functools import cache
from typing import Literal, TypeAlias

__all__ = [
    "POSSESSIVE_ENDINGS",
    "WORD",
    "Tokens",
    "compose",
    "fold",
    "signs",
    "split_words",
    "without_possessive",
    "word_places",
]

Tokens: TypeAlias = Literal["words", "spaces", "text"]
"""How a text is split into words.

``words``: runs of letters, digits and underscores (models of version 0.1.0); a Chinese character or hiragana is a word
of its own, since no spaces show where words end.
``spaces``: everything between spaces, in lower case (dialogs).
``text``: words with their combining marks, inner apostrophes and hyphens (``don't``, ``well-known``), numbers with
their points (``3.5``, ``10:30``), and each symbol that is not punctuation (``€``, ``%``, ``🙂``) as a separate word.
"""

_UNSPACED = "\u3040-\u309f\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003fffd"
"""Scripts written without spaces; names of several characters are found as phrases."""
WORD = re.compile(rf"(?!(?<=\w['’])[sS]\b)[^\W{_UNSPACED}]+|[{_UNSPACED}]")
"""The words of names and pronouns, where their places matter: "Benjamin's" is the word Benjamin and its ending."""
POSSESSIVE_ENDINGS = ("'s", "’s", "'S", "’S")
_ASCII_RUN = re.compile(r"\w+")
_RUN = re.compile(rf"[^\W{_UNSPACED}]+|[{_UNSPACED}]")
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
_LONG = 1000
"""Texts of more characters are composed piece by piece."""
_NO_SIGNS = re.compile(r"[\w\s.,:;!?'\"()\-]*")  # true of nearly all texts: no need to look more closely


def compose(text: str) -> str:
    """The text in the normal form NFC, in which ``ë`` is one character.

    Sorting the marks of one letter takes time by the square of their number: of a long text at most thirty at a time
    are sorted, as in Unicode's stream-safe format.
    """
    if text.isascii():
        return text
    if len(text) > _LONG:
        return "".join([unicodedata.normalize("NFC", piece) for piece in _many_marks().split(text)])
    return text if unicodedata.is_normalized("NFC", text) else unicodedata.normalize("NFC", text)


def without_possessive(word: str) -> str:
    """The word without its possessive ending: Benjamin for "Benjamin's"."""
    return word[:-2] if len(word) > 2 and word.endswith(POSSESSIVE_ENDINGS) else word


def fold(word: str) -> str:
    """The case-folded word."""
    return word.lower() if word.isascii() else compose(word.casefold())


def split_words(text: str, tokens: Tokens) -> list[str]:
    """The words of a text."""
    if tokens == "words":
        return (_ASCII_RUN if text.isascii() else _RUN).findall(text)
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
def _many_marks() -> re.Pattern[str]:
    """A letter with the first thirty of its many marks, or thirty more of them."""
    marks = _classes()[0]
    return re.compile(f"([^{marks}]?[{marks}]{{30}})")


@cache
def _text_pattern() -> re.Pattern[str]:
    letter = rf"(?:[^\W{_UNSPACED}]|[{_classes()[0]}{_JOINERS}])"
    word = rf"[^\W{_UNSPACED}]{letter}*(?:{_INNER}{letter}+)*"
    return re.compile(rf"{word}|[{_UNSPACED}][{_classes()[0]}{_JOINERS}]*|{_sign_pattern().pattern}")


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
