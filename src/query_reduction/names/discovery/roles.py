"""Roles: what a unit is in a sentence, and the numbers of features.

Roles are named at two levels, by whole sentence patterns and by the classes in a sentence alone; the second pools what
the first distinguishes.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence
from enum import IntEnum

from query_reduction.names.discovery.candidates import Candidates
from query_reduction.names.discovery.corpus import Corpus, Encoded
from query_reduction.names.discovery.table import PLACES

__all__ = ["Group", "Keys", "Text"]

_ANSWERS = 500
"""The number of units of answers that features tell apart."""


class Group(IntEnum):
    """What a feature is about; evidence against an exchange is often in one group only."""

    FIRST = 0
    ALONE = 1
    AFTER = 2
    ASKED = 3
    TOLD = 4
    BESIDE = 5
    BRIDGE = 6
    HOPS = 7
    APART = 8


class Text:
    """What is known of one sentence, question or answer: its units in roles, at both levels."""

    __slots__ = ("position", "roles", "units")

    def __init__(self, units: tuple[int, ...], roles: tuple[tuple[int, ...], ...]) -> None:
        self.units = units
        self.roles = roles
        self.position = {unit: number for number, unit in reversed(list(enumerate(units)))}
        """The first position of each unit."""


class Keys:
    """Numbers features; structures keep their numbers, so that two corpora can be compared.

    Features may count units as others (``counted_as``, by unit). Structures still tell which of them are the same.
    """

    def __init__(self, corpus: Corpus, candidates: Candidates, counted_as: Sequence[int] | None = None) -> None:
        self.classes: list[int] = candidates.classes.tolist()
        self.units: list[int] = sorted({*candidates.in_class, *_common_answers(corpus)})
        """All units that features tell apart, by their numbers there; all others have the next number."""
        number = {unit: number for number, unit in enumerate(self.units)}
        counted = counted_as or range(len(corpus.names))
        self._number_of = {unit: number.get(counted[unit], place) for unit, place in number.items()}
        self._other = len(self.units)
        self.base = len(self.units) + 2
        self.groups: list[Group] = []
        """Of each structure."""
        self._in_class = candidates.in_class
        self._roles: dict[Hashable, int] = {}
        self._numbers: dict[Hashable, int] = {}
        self._texts: dict[Encoded, Text] = {}

    def key(self, group: Group, structure: Hashable, *units: int) -> int:
        """The number of a structure with these units in it."""
        number = self._numbers.setdefault((group, structure), len(self._numbers))
        if number == len(self.groups):
            self.groups.append(group)
        key = number
        number_of = self._number_of
        for place in range(PLACES):
            key = key * self.base + (number_of.get(units[place], self._other) + 1 if place < len(units) else 0)
        return key

    def text(self, encoded: Encoded) -> Text:
        """The units in roles of a sentence or question."""
        text = self._texts.get(encoded)
        if text is None:
            classes, in_class = self.classes, self._in_class
            places = [place for place, unit in enumerate(encoded) if unit in in_class]
            pattern = tuple([classes[unit] for unit in encoded])
            bag = tuple(sorted(classes[encoded[place]] for place in places))
            seen: dict[int, int] = defaultdict(int)
            fine, coarse = [], []
            for place in places:
                own = classes[encoded[place]]
                fine.append(self._roles.setdefault((pattern, place), len(self._roles)))
                coarse.append(self._roles.setdefault((bag, own, seen[own]), len(self._roles)))
                seen[own] += 1
            text = Text(tuple([encoded[place] for place in places]), (tuple(fine), tuple(coarse)))
            self._texts[encoded] = text
        return text


def _common_answers(corpus: Corpus) -> list[int]:
    answers = Counter(unit for story in corpus.stories for question in story.questions for unit in question.answer)
    return [unit for unit, _ in answers.most_common(_ANSWERS)]
