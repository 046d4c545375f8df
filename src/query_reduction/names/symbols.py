"""Names as symbols of their story: numbered anew in every story, so that no name has a meaning of its own.

"Kim is left of Lee. Lee is above Max. Where is Kim, seen from Max?" becomes "name_1 is left of name_3. name_3 is above
name_2. Where is name_1, seen from name_2?": those that the question has come first, the others as they are told. A
network that reads such stories has never heard a name before, and needs to.

Which words are names is found by ``name_spans``, and any other function from texts to spans may take its place: words
in brackets if there are any; otherwise single capital letters if the question has one; otherwise words with a capital
letter, except common words that merely begin a sentence.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from query_reduction.names.unknown import KnownReading
from query_reduction.text.pronouns import PERSONAL, POSSESSIVE
from query_reduction.text.words import compose

__all__ = ["MOST_NAMES", "NameSpans", "as_symbols", "name_spans", "symbol", "symbol_number", "symbols"]

MOST_NAMES = 256
"""A story may have so many names; what comes after them stays as it is written."""

Span = tuple[int, int, str]
"""Where a name begins and ends in a text, brackets included, and the name."""
NameSpans = Callable[[Sequence[str]], list[list[Span]]]
"""From the texts of a story, the question last, to the names in each."""

_BRACKETS = re.compile(r"\[([^\[\]]+)\]")
_LETTER = re.compile(r"(?<![\w'’])([A-Z])(?!\w)")
_CAPITAL = re.compile(r"(?<![\w'’\-])([^\W\d_a-z][\w\-]*(?: [^\W\d_a-z][\w\-]*)*)")
_SYMBOL = re.compile(r"\bname_([1-9]\d*)\b")
_BEGINS = re.compile(r"(?:^|[.!?…:]['\"”’)]*\s+|[\"“(]\s*)$")
_COMMON = (
    PERSONAL
    | POSSESSIVE
    | frozenset(
        re.findall(
            r"\w+",
            """a all also although an and are as at because before but by can could did do does during each every for
            from had has have here how however i if in into is it later many may more most my no not now of on once one
            or our over since so some soon than that the then there these this those though to today two under until was
            we were what when where which while who whom whose why will with would yes yesterday you your""",
        )
    )
)
"""English words that are no names even if they begin a sentence."""


def symbol(number: int) -> str:
    """The word that stands for a story's name of this number, from 1."""
    return f"name_{number}"


def symbol_number(word: str) -> int:
    """The number of a name from its word; 0 if it is another word."""
    match = _SYMBOL.fullmatch(word)
    return int(match[1]) if match else 0


def symbols() -> tuple[str, ...]:
    """The words for all names a story may have."""
    return tuple(map(symbol, range(1, MOST_NAMES + 1)))


def name_spans(texts: Sequence[str]) -> list[list[Span]]:
    """The names in the texts of a story, of which the last is the question; see the module's text for the rule.

    Texts that have symbols already have no other names.
    """
    if any(map(_SYMBOL.search, texts)):
        return [[] for _ in texts]
    if any(map(_BRACKETS.search, texts)):
        return [
            [(found.start(), found.end(), found[1].strip()) for found in _BRACKETS.finditer(text)] for text in texts
        ]
    if texts and _LETTER.search(texts[-1]):
        return [[(*found.span(), found[1]) for found in _LETTER.finditer(text)] for text in texts]
    return [list(_capitalised(text)) for text in texts]


def _capitalised(text: str) -> list[Span]:
    spans = []
    for found in _CAPITAL.finditer(text):
        if not found[0][0].isupper():
            continue
        start, name = found.start(), found[0]
        if _BEGINS.search(text, 0, start):
            first, _, rest = name.partition(" ")
            if first.lower() in _COMMON:
                start, name = start + len(first) + 1, rest
        if name:
            spans.append((start, found.end(), name))
    return spans


def as_symbols(sentences: Sequence[str], question: str, spans: NameSpans = name_spans) -> KnownReading:
    """A story and its question with symbols for names, and what each symbol stands for."""
    texts = [compose(text) for text in (*sentences, question)]
    found = spans(texts)
    numbers: dict[str, int] = {}
    for name in (name for text in (found[-1], *found[:-1]) for *_, name in text):
        if len(numbers) < MOST_NAMES:
            numbers.setdefault(name, len(numbers) + 1)
    replaced = [_replaced(text, own, numbers) for text, own in zip(texts, found, strict=True)]
    names = {symbol(number): name for name, number in numbers.items()}
    return KnownReading(tuple(replaced[:-1]), replaced[-1], names, ())


def _replaced(text: str, spans: Sequence[Span], numbers: dict[str, int]) -> str:
    pieces = []
    done = 0
    for start, end, name in spans:
        if name in numbers:
            # A space after it keeps "Kim's" two words: the name and the s of its case.
            pieces += [text[done:start], symbol(numbers[name]), " " if text[end : end + 1] in ("'", "’") else ""]
            done = end
    return "".join([*pieces, text[done:]])
