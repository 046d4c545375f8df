"""Ordinary prose as sentences: one text in, a list of sentences out.

A line end ends a sentence, so a text with one sentence per line stays as it is, with full stops or without; only in
prose that was wrapped (``unwrapped`` tells) a sentence goes on in the next line. Within a line a sentence ends at
``.``, ``!``, ``?`` or ``…`` (one or several, with the quotes and brackets that close there) before white space, and at
``。``, ``！``, ``？`` or ``।`` whatever follows. A full stop that belongs to an abbreviation, an initial or an item
number does not end a sentence. Only whitespace around sentences is lost (a line break within one becomes a space), and
splitting a sentence again leaves it unchanged.

The rules are our own, for these guarantees and for speed: on the examples of the test, which
were written for these rules, syntok and pysbd (set to English) took 14 and 45 times as long.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from query_reduction.text.short_texts import remember_short
from query_reduction.text.stories import Story

__all__ = ["sentences_of_lines", "split_sentences", "split_story", "split_texts", "unwrapped"]

_END = re.compile(
    # Match from the first of several marks without backtracking: a line of nothing but marks takes linear time.
    r"""(?<![.!?…‥؟])(?P<marks>[.!?…‥؟]++)(?P<closing>["'“”‘’»›)\]}]*+)(?=\s)|[。！？｡।॥۔]++[」』）】〕"'”’»›)\]}]*+"""
)
# Whatever ends a line or could end a sentence before the last one: most texts have none and are one sentence.
_SEVERAL = re.compile(r"""[\n\r\v\f\x1c-\x1e\x85\u2028\u2029。！？｡।॥۔]|[.!?…‥؟]["'“”‘’»›)\]}]*+\s""")
_MARKS = ".!?…‥؟。！？｡।॥۔"
_CLOSING = "」』）】〕\"'“”‘’»›)]}"
_MARK = re.compile(f"[{_MARKS}]")
_ITEM_LINE = re.compile(r"(?:[-*•–—]|\(?(?:\d{1,3}|[a-zA-Z])[.)])\s")
_MANY_LINES = 200
"""A paragraph of more lines is cut where a line ends a sentence, if it is read line by line."""
_MOST_LINES = 1000
"""One of more lines is cut anywhere."""
_SPACE = re.compile(r"\s*")
_OPENING = re.compile(r"""[\s"'“”‘’«»‹›„(\[{¿¡—–-]*""")
_LONGEST_ABBREVIATION = 20
_LAST_WORD = re.compile(r"[^\s\"'“”‘’«»‹›„(\[{¿¡—–]*$")
_NEXT_WORD = re.compile(r"[\w']*")
_ITEM = re.compile(r"\d{1,3}|[ivxIVX]+|[a-zA-Z]")
_LETTERS = re.compile(r"(?:[^\W\d_]\.)+[^\W\d_]")  # e.g, U.S


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# A name follows these, so its capital letter says nothing.
_TITLES = _words("mr mrs ms mx dr prof messrs mme mlle vs cf viz approx ca e.g i.e bzw z.b d.h u.a")
_TITLES_WITH_CAPITAL = _words("Rev Hon St Gen Col Maj Capt Cmdr Lt Sgt Cpl Pvt Gov Sen Rep Pres Supt Mt Ft")
_BEFORE_NUMBERS = _words(
    "no nr nos vol vols p pp fig figs eq eqs sec ch art jan feb mar apr jun jul aug sep sept oct nov dec"
)
# These may also end a sentence: it ends if the next word is a common sentence opener.
_ANYWHERE = _words("etc inc ltd co corp llc plc jr sr al dept univ bros ph.d")
_OPENERS = _words(
    "the a an this that these those he she it they we you i there here his her their our my its in on at but and so "
    "then after before when while if what where who why how is are was were do does did no yes"
)
_TIMES = frozenset(["a.m", "p.m"])
_SHORT = _TITLES | _words(" ".join(_TITLES_WITH_CAPITAL).lower()) | _BEFORE_NUMBERS | _ANYWHERE


def split_sentences(text: str) -> list[str]:
    """The sentences of a text, without the white space around them; an empty text has none."""
    only = text.strip()
    if _is_plain(only) or _SEVERAL.search(text) is None:
        return [only] if only else []
    lines = [line.strip() for line in text.splitlines()]
    return [sentence for line in unwrapped(lines) for sentence in _of_line(line)]


def sentences_of_lines(lines: Iterable[str]) -> Iterator[str]:
    """The sentences of a text of any length, line by line: paragraphs are kept together, up to a few hundred lines."""
    together: list[str] = []
    for line in lines:
        together.append(line)
        blank = not line.strip()
        if blank or len(together) >= _MOST_LINES or (len(together) >= _MANY_LINES and _is_ended(line.strip())):
            yield from split_sentences("\n".join(together))
            together = []
    yield from split_sentences("\n".join(together))


def unwrapped(lines: Sequence[str]) -> list[str]:
    """Lines without white space around them, those of wrapped prose joined where a sentence goes on in the next one.

    It goes on after a line without a mark at its end if a later line of the paragraph has one, and if either the next
    line begins in lower case and the sentence with a capital letter, or the paragraph is as full as a wrapped one and
    some sentence clearly goes on in the next line. Lines without marks are a list.
    """
    joined: list[str] = []
    start = 0
    while start < len(lines):
        end = start
        while end < len(lines) and lines[end]:
            end += 1
        paragraph = lines[start:end]
        joined += paragraph if all(map(_is_ended, paragraph[:-1])) else _without_breaks(paragraph)
        start = end + 1
    return joined


def _without_breaks(lines: Sequence[str]) -> list[str]:
    """A paragraph with lines that do not end in a mark, joined where one sentence is on several lines."""
    parts = [_of_line(line) for line in lines]
    is_open = [not _is_ended(line) for line in lines]
    last_end = max((place for place, part in enumerate(parts) if len(part) > 1 or not is_open[place]), default=-1)
    capital = lines[0][0].isupper()
    wrapped = _is_filled(lines) and any(
        is_open[place] and (len(parts[place]) > 1 or (capital and lines[place + 1][0].islower()))
        for place in range(last_end)
    )
    joined: list[list[str]] = []
    for place, line in enumerate(lines):
        goes_on = 0 < place <= last_end and is_open[place - 1] and not _ITEM_LINE.match(line)
        if goes_on and (wrapped or (capital and line[0].islower())):
            joined[-1].append(line)
        else:
            joined.append([line])
            capital = line[0].isupper()
        if len(parts[place]) > 1:
            capital = parts[place][-1][0].isupper()
    return [" ".join(pieces) for pieces in joined]


def _is_filled(lines: Sequence[str]) -> bool:
    """Whether no line had room for the first word of the next one: so an editor wraps a paragraph."""
    width = max(map(len, lines))
    return all(len(line) + 1 + len(after.split(None, 1)[0]) > width for line, after in pairwise(lines))


def _is_ended(line: str) -> bool:
    """Whether a line ends in a mark that ends sentences, and what closes there; the full stop of Mr. is none."""
    if not line.endswith("."):
        return line.rstrip(_CLOSING)[-1:] in _MARKS
    last = line[-_LONGEST_ABBREVIATION:-1].rpartition(" ")[2]
    return last.lower() not in _TITLES and last not in _TITLES_WITH_CAPITAL


def _is_plain(text: str) -> bool:
    """Whether a text in ASCII is one sentence because it has no mark before its end; several times as fast to see."""
    if not (text.isascii() and text.isprintable()):
        return False
    inner = text.rstrip(".!?\"')]}")
    return not ("." in inner or "!" in inner or "?" in inner)


def split_story(story: Story, parts_of: Callable[[str], Sequence[str]] | None = None) -> Story:
    """The story with each of its texts split, into sentences or by ``parts_of``.

    A fact that was several sentences is all of them.
    """
    split = [*map(parts_of or _split_once, story.sentences)]
    if all(len(parts) == 1 for parts in split):
        return story
    first = [0]
    for parts in split:
        first.append(first[-1] + len(parts))
    questions = tuple(
        replace(
            question,
            after=first[question.after],
            support=tuple(part for fact in question.support for part in range(first[fact], first[fact + 1])),
        )
        for question in story.questions
    )
    return replace(story, sentences=tuple(sentence for parts in split for sentence in parts), questions=questions)


def split_texts(texts: Sequence[str]) -> tuple[Sequence[str], Sequence[int]]:
    """The sentences of some texts, and for each the position of the text it comes from."""
    split = list(map(_split_once, texts))
    if all(len(parts) == 1 for parts in split):
        return texts, range(len(texts))
    sentences = [sentence for parts in split for sentence in parts]
    return sentences, [position for position, parts in enumerate(split) for _ in parts]


def _split(text: str) -> tuple[str, ...]:
    return tuple(split_sentences(text)) or (text,)


_split_once = remember_short(_split, 1 << 16)
"""A text of a story split; stories repeat their sentences, so each is looked at once."""


def _of_line(line: str) -> list[str]:
    first = _MARK.search(line)
    if first is None or first.end() == len(line):
        return [line] if line else []  # true of nearly all sentences: no need to look more closely
    sentences = []
    start = 0
    for end in _END.finditer(line):
        if end.end() < len(line) and (end["marks"] is None or _ends(line, start, end)):
            sentences.append(line[start : end.end()])
            start = _SPACE.match(line, end.end()).end()  # type: ignore[union-attr]  # it matches no space, too
    return [*sentences, line[start:]]


def _ends(line: str, start: int, end: re.Match[str]) -> bool:
    """Whether the sentence that begins at ``start`` ends at these marks.

    Looks ahead no further than the next mark: therefore splitting a sentence again leaves it unchanged.
    """
    begin = _OPENING.match(line, end.end()).end()  # type: ignore[union-attr]
    if begin == len(line) or end.start() == start:
        return False  # only brackets follow; “… and so it was.”
    if line[begin].islower() and (end["closing"] or len(end["marks"]) > 1 or end["marks"] in "…‥"):
        return False  # “Really?” she asked. It was … odd.
    if end["marks"] != ".":
        return True
    # Never look further back than the longest abbreviation: a line of initials takes linear time, too.
    low = max(start, end.start() - _LONGEST_ABBREVIATION)
    space = line.rfind(" ", low, end.start())
    word = line[max(space + 1, low) : end.start()]
    if space >= 0 and len(word) > 1 and word.isalpha() and word.lower() not in _SHORT:
        return True  # an ordinary word, as nearly always: no need to look more closely
    tail = _LAST_WORD.search(line, low, end.start())
    word = tail[0] if tail else ""
    if low == start and _ITEM.fullmatch(word) and line[start : end.start()].lstrip("(") == word:
        return False  # 1. Open the lid.
    return not _is_abbreviation(word, line, begin)


def _is_abbreviation(word: str, line: str, begin: int) -> bool:
    """Whether the full stop after ``word`` belongs to it alone, given the text that begins there."""
    lower = word.lower()
    if lower in _TITLES or word in _TITLES_WITH_CAPITAL:
        return True
    if lower in _BEFORE_NUMBERS:
        return line[begin].isdigit()
    if lower in _TIMES:
        return not line[begin].isupper()
    initial = len(word) == 1 and word.isupper() and word != "I"
    if initial or lower in _ANYWHERE or _LETTERS.fullmatch(word):
        opener = _NEXT_WORD.match(line, begin)
        return line[begin].islower() or opener is None or opener[0].lower() not in _OPENERS
    return False
