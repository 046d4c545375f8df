"""Which words of a story are names, and where they stand: for networks that read names as symbols of their story.

What was discovered comes first: the units of kinds that questions ask about. Then names that somebody gave, from a list
or a file. Where there is neither, another function decides, for example by capital letters. All forms of a name are
one: "кухню" is the name "кухня", and the name in "Benjamin's" is "benjamin".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from query_reduction.errors import InputError
from query_reduction.names.symbols import NameSpans, Span, name_spans
from query_reduction.names.symmetries import Symmetries
from query_reduction.names.units import TextKind, Units, plain, words_of
from query_reduction.text.words import WORD, compose

__all__ = ["discovered_names", "read_names", "spans_by"]

_MOST_NAMES = 1_000_000


def discovered_names(symmetries: Symmetries) -> frozenset[str]:
    """The units of all kinds that questions ask about: people and things, not verbs."""
    asked = {
        kind for context, kinds in symmetries.contexts.items() if context.startswith("@question ") for kind in kinds
    }
    return frozenset(unit for number in asked for unit in symmetries.fillers[number])


def read_names(path: Path) -> tuple[str, ...]:
    """Names from a file, one on each line; forms of one name on the same line, with tabs between them."""
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except FileNotFoundError:
        raise InputError(f"{path}: no such file of names") from None
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read as UTF-8 text ({error})") from None
    names = tuple(line.strip() for line in lines if words_of(line))
    if not names or len(names) > _MOST_NAMES:
        raise InputError(f"{path}: it must have 1 to {_MOST_NAMES} names, one on each line")
    return names


def spans_by(symmetries: Symmetries | None, given: Iterable[str], otherwise: NameSpans = name_spans) -> NameSpans:
    """A function that finds names: those discovered, or else those given, or else what another function finds.

    A story in which none of them stands is left to the next.
    """
    ways: list[NameSpans] = []
    if symmetries and (found := discovered_names(symmetries)):
        ways.append(lambda texts: [list(_spans(text, symmetries.units, found)) for text in texts])
    if units := _given_units(given):
        names = frozenset(units.names.values())
        ways.append(lambda texts: [list(_spans(text, units, names)) for text in texts])

    def spans(texts: Sequence[str]) -> list[list[Span]]:
        for way in ways:
            places = way(texts)
            # A question about names that only another way knows must not be left without any.
            if places and places[-1]:
                return places
        return otherwise(texts)

    return spans


def _given_units(given: Iterable[str]) -> Units | None:
    phrases: set[tuple[str, ...]] = set()
    names: dict[str, str] = {}
    for line in given:
        forms = [words_of(form) for form in compose(line).split("\t")]
        for form in forms:
            if form:
                names[" ".join(form)] = " ".join(forms[0])
            if len(form) > 1:
                phrases.add(form)
    return Units(frozenset(phrases), names=names) if names else None


def _spans(text: str, units: Units, names: frozenset[str], of: TextKind = "sentence") -> Iterator[Span]:
    matches = list(WORD.finditer(text))
    words = [match[0].lower() for match in matches]
    start = 0
    for length, unit in zip(units.lengths(words), units.of_words(words, of), strict=True):
        if unit in names:
            yield matches[start].start(), matches[start + length - 1].end(), plain(unit)
        start += length
