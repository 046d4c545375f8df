"""Features of stories: which units stand in which roles together, counted story by story.

A feature is a *structure* (roles without names) with up to four units in it. Structures see which units are the same,
never which they are, so a renaming moves a feature to another of the same structure: if renamed stories are as likely
as the stories themselves, the two are as frequent. Roles are named at two levels, by whole sentence patterns and by the
classes in a sentence alone; the second pools what the first tells apart.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from enum import IntEnum
from itertools import combinations

import numpy as np

from query_reduction.symmetry.candidates import Candidates
from query_reduction.symmetry.corpus import Asked, Corpus, Encoded, Told
from query_reduction.symmetry.table import PLACES, Table, make_table

__all__ = ["Extractor"]

_LEVELS = (0, 1)
_PREVIOUS = 1
"""Of the sentences that share a unit with a question the last and the one before it are looked at closely."""
_NOWHERE = -1
_RECENT = 20
"""Sentences before a question that are looked at even if they share nothing with it."""


class Group(IntEnum):
    """What a feature tells of; what speaks against an exchange is often in one group only."""

    FIRST = 0
    ALONE = 1
    AFTER = 2
    ASKED = 3
    TOLD = 4
    BESIDE = 5
    BRIDGE = 6
    HOPS = 7
    APART = 8


class _Text:
    """What is known of one sentence, question or answer: its units in roles, at both levels."""

    __slots__ = ("position", "roles", "units")

    def __init__(self, units: tuple[int, ...], roles: tuple[tuple[int, ...], ...]) -> None:
        self.units = units
        self.roles = roles
        self.position = {unit: number for number, unit in reversed(list(enumerate(units)))}
        """Where each unit stands first."""


class Extractor:
    """Counts features; structures keep their numbers, so that two corpora can be compared."""

    def __init__(self, corpus: Corpus, candidates: Candidates) -> None:
        self._classes: list[int] = candidates.classes.tolist()
        self._in_class = candidates.in_class
        self._base = len(corpus.names) + 1
        self._roles: dict[Hashable, int] = {}
        self._numbers: dict[Hashable, int] = {}
        self._groups: list[Group] = []
        self._texts: dict[Encoded, _Text] = {}
        self._cache: dict[Hashable, list[int]] = {}

    def table(self, corpus: Corpus, stories: Iterable[int] | None = None, *, questions_only: bool = False) -> Table:
        """The features of all stories, or of those with the given numbers."""
        counted = []
        for story in range(len(corpus.stories)) if stories is None else stories:
            found = self._story(corpus.stories[story], questions_only)
            keys, counts = np.unique(np.array(found, dtype=np.int64), return_counts=True)
            counted.append((story, keys, counts))
        return make_table(counted, len(corpus.stories), self._base, self._groups)

    def _key(self, group: Group, structure: Hashable, *units: int) -> int:
        number = self._numbers.setdefault((group, structure), len(self._numbers))
        if number == len(self._groups):
            self._groups.append(group)
        key = number
        for place in range(PLACES):
            key = key * self._base + (units[place] + 1 if place < len(units) else 0)
        return key

    def _text(self, encoded: Encoded) -> _Text:
        text = self._texts.get(encoded)
        if text is None:
            classes, in_class = self._classes, self._in_class
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
            text = _Text(tuple([encoded[place] for place in places]), (tuple(fine), tuple(coarse)))
            self._texts[encoded] = text
        return text

    def _story(self, story: Told, questions_only: bool) -> list[int]:
        texts = [self._text(sentence) for sentence in story.sentences]
        found: list[int] = []
        if not questions_only:
            self._sentences(texts, found)
        told_of: dict[int, list[int]] = defaultdict(list)
        told = 0
        for asked in sorted(story.questions, key=lambda asked: asked.after):
            for number in range(told, asked.after):
                for unit in texts[number].position:
                    told_of[unit].append(number)
            told = max(told, asked.after)
            self._question(asked, texts, told_of, found)
        return found

    def _sentences(self, texts: Sequence[_Text], found: list[int]) -> None:
        last: dict[int, int] = {}
        mentioned: dict[int, int] = defaultdict(int)
        for number, text in enumerate(texts):
            found += self._cached(("alone", text.roles, text.units), self._alone, text)
            for unit in text.position:
                if unit in last:
                    before = texts[last[unit]]
                    key = ("after", before.roles, before.units, text.roles, text.units, unit)
                    found += self._cached(key, self._after, before, text, unit)
                else:
                    own = self._classes[unit]
                    found.append(self._key(Group.FIRST, ("first", own, min(mentioned[own], 3)), unit))
                    mentioned[own] += 1
                last[unit] = number

    def _question(self, asked: Asked, texts: Sequence[_Text], told_of: dict[int, list[int]], found: list[int]) -> None:
        question, answer = self._text(asked.text), asked.answer
        found += self._cached(("asked", asked.text, answer), self._asked, question, answer)
        start = max(0, asked.after - _RECENT)
        recent = texts[start : asked.after]
        for number, text in enumerate(recent, start):
            last = tuple([unit for unit in text.position if told_of[unit][-1] == number])
            beside = ("beside", text.roles, text.units, asked.text, answer, last)
            found += self._cached(beside, self._beside, text, question, answer, last)
        for unit in question.position:
            numbers = told_of.get(unit, ())
            for age, number in enumerate(reversed(numbers)):
                text = texts[number]
                age = min(age, _PREVIOUS + 1)
                key = ("told", text.roles, text.units, asked.text, answer, unit, age)
                found += self._cached(key, self._told, text, question, answer, unit, age)
            if numbers:
                self._bridges(asked, question, unit, texts[numbers[-1]], recent, found)
                self._two_hops(asked, question, unit, numbers[-1], texts, told_of, found)

    def _bridges(
        self, asked: Asked, question: _Text, unit: int, near: _Text, recent: Sequence[_Text], found: list[int]
    ) -> None:
        """From the question's unit to its last sentence, and to any that shares nothing with that one.

        Two words may mean the same thing ("mouse", "mice"): what they share is not to be seen in the words.
        """
        others = near.position.keys() - {unit}
        for text in recent:
            if others.isdisjoint(text.position) and unit not in text.position:
                key = ("bridge", asked.text, asked.answer, unit, near.roles, near.units, text.roles, text.units)
                found += self._cached(key, self._bridge, question, asked.answer, unit, near, text)

    def _two_hops(
        self,
        asked: Asked,
        question: _Text,
        unit: int,
        near: int,
        texts: Sequence[_Text],
        told_of: dict[int, list[int]],
        found: list[int],
    ) -> None:
        """From the question's unit to its last sentence, and by another unit of that one on to its neighbours."""
        first = texts[near]
        for link in first.position:
            if link == unit:
                continue
            numbers = told_of[link]
            place = numbers.index(near)
            # The last sentence with the link, and the last before this one.
            for number in {numbers[-1], numbers[place - 1] if place else near} - {near}:
                second = texts[number]
                key = (
                    "hops", asked.text, asked.answer, unit, first.roles, first.units, link, second.roles, second.units,
                    number < near,
                )  # fmt: skip
                found += self._cached(key, self._hops, question, asked.answer, unit, first, link, second, number < near)

    def _cached(self, key: Hashable, make, *arguments) -> list[int]:  # type: ignore[no-untyped-def]
        keys = self._cache.get(key)
        if keys is None:
            keys = self._cache[key] = make(*arguments)
        return keys

    def _alone(self, text: _Text) -> list[int]:
        keys = []
        for level in _LEVELS:
            placed = list(zip(text.roles[level], text.units, strict=True))
            keys += [self._key(Group.ALONE, ("one", role), unit) for role, unit in placed]
            keys += [
                self._key(Group.ALONE, ("two", role, other_role), unit, other)
                for (role, unit), (other_role, other) in combinations(placed, 2)
            ]
        return keys

    def _after(self, before: _Text, text: _Text, shared: int) -> list[int]:
        """A sentence and the last one before it that shares this unit."""
        keys = []
        same = len(before.position.keys() & text.position.keys())
        for level in _LEVELS:
            then, now = before.roles[level][before.position[shared]], text.roles[level][text.position[shared]]
            structure = ("after", level, then, now, same)
            keys.append(self._key(Group.AFTER, structure, shared))
            for old_role, old in zip(before.roles[level], before.units, strict=True):
                for role, unit in zip(text.roles[level], text.units, strict=True):
                    if old != shared or unit != shared:
                        keys.append(self._key(Group.AFTER, (structure, old_role, role, old == unit), old, unit))
        return keys

    def _asked(self, question: _Text, answer: Encoded) -> list[int]:
        keys = []
        for level in _LEVELS:
            placed = list(zip(question.roles[level], question.units, strict=True))
            given = [(("answer", place, len(answer)), unit) for place, unit in enumerate(answer)]
            together = [*placed, *given]
            for size in (1, 2, 3):
                for chosen in combinations(together, size):
                    keys.append(
                        self._key(Group.ASKED, ("asked", *[role for role, _ in chosen]), *[unit for _, unit in chosen])
                    )
        return keys

    def _told(self, text: _Text, question: _Text, answer: Encoded, shared: int, age: int) -> list[int]:
        """A sentence told before a question that shares a unit with it."""
        keys = []
        answered = tuple([text.position.get(unit, _NOWHERE) for unit in answer])
        for level in _LEVELS if age <= _PREVIOUS else (1,):
            roles = text.roles[level]
            link = (level, roles[text.position[shared]], question.roles[level][question.position[shared]], age)
            known = ("told", link, answered)
            keys.append(self._key(Group.TOLD, known, shared))
            others = [(role, unit) for role, unit in zip(roles, text.units, strict=True) if unit != shared]
            rest = [
                (role, unit) for role, unit in zip(question.roles[level], question.units, strict=True) if unit != shared
            ]
            for role, unit in others:
                keys.append(self._key(Group.TOLD, (known, role), unit))
                keys += [self._key(Group.TOLD, (link, role, place), unit, given) for place, given in enumerate(answer)]
                if age > _PREVIOUS:
                    continue
                for asked_role, asked in rest:
                    alike = unit == asked
                    keys.append(self._key(Group.TOLD, (known, role, asked_role, alike), unit, asked))
                    keys += [
                        self._key(Group.TOLD, (link, role, asked_role, place, alike), unit, asked, given)
                        for place, given in enumerate(answer)
                    ]
            if age <= _PREVIOUS:
                for (role, unit), (other_role, other) in combinations(others, 2):
                    keys.append(self._key(Group.TOLD, (known, role, other_role), unit, other))
                    keys += [
                        self._key(Group.TOLD, (link, role, other_role, place), unit, other, given)
                        for place, given in enumerate(answer)
                    ]
        return keys

    def _beside(self, text: _Text, question: _Text, answer: Encoded, last: Sequence[int]) -> list[int]:
        """Any sentence and a question after it, whether they share a unit or not.

        Closest is looked at what was told last of a unit: words may be written in another way in questions.
        """
        keys = []
        level = 1
        answered = tuple([text.position.get(unit, _NOWHERE) for unit in answer])
        placed = list(zip(text.roles[level], text.units, strict=True))
        rest = list(zip(question.roles[level], question.units, strict=True))
        for role, unit in placed:
            age = unit in last
            keys += [self._key(Group.BESIDE, (role, place, age), unit, given) for place, given in enumerate(answer)]
            for asked_role, asked in rest:
                structure = (role, asked_role, unit == asked, age)
                keys.append(self._key(Group.BESIDE, (structure, answered), unit, asked))
                keys += [
                    self._key(Group.BESIDE, (structure, place), unit, asked, given)
                    for place, given in enumerate(answer)
                ]
                if not age or unit == asked:
                    continue
                for other_role, other in placed:
                    if other not in (unit, asked):
                        keys += [
                            self._key(Group.APART, (structure, other_role, place), unit, other, asked, given)
                            for place, given in enumerate(answer)
                        ]
        return keys

    def _bridge(self, question: _Text, answer: Encoded, shared: int, near: _Text, far: _Text) -> list[int]:
        keys = []
        level = 1
        link = (
            "bridge", question.roles[level][question.position[shared]], near.roles[level][near.position[shared]],
        )  # fmt: skip
        across = list(zip(far.roles[level], far.units, strict=True))
        for role, unit in zip(near.roles[level], near.units, strict=True):
            if unit == shared:
                continue
            for (far_role, one), (other_role, other) in combinations(across, 2):
                structure = (link, role, far_role, other_role)
                keys += [
                    self._key(Group.BRIDGE, (structure, place), unit, one, other, given)
                    for place, given in enumerate(answer)
                ]
        return keys

    def _hops(
        self, question: _Text, answer: Encoded, shared: int, first: _Text, link: int, second: _Text, earlier: bool
    ) -> list[int]:
        level = 1
        path = (
            "hops", question.roles[level][question.position[shared]], first.roles[level][first.position[shared]],
            first.roles[level][first.position[link]], second.roles[level][second.position[link]], earlier,
        )  # fmt: skip
        known = (path, tuple([second.position.get(unit, _NOWHERE) for unit in answer]))
        keys = [self._key(Group.HOPS, known, shared, link)]
        near = [pair for pair in zip(first.roles[level], first.units, strict=True) if pair[1] not in (shared, link)]
        far = [pair for pair in zip(second.roles[level], second.units, strict=True) if pair[1] != link]
        rest = [pair for pair in zip(question.roles[level], question.units, strict=True) if pair[1] != shared]
        for role, unit in near:
            keys.append(self._key(Group.HOPS, (known, "near", role), unit))
        for role, unit in far:
            keys.append(self._key(Group.HOPS, (known, "far", role), unit))
            keys += [self._key(Group.HOPS, (path, role, place), unit, given) for place, given in enumerate(answer)]
            for near_role, near_unit in near:
                keys.append(self._key(Group.HOPS, (known, role, near_role), unit, near_unit))
                keys += [
                    self._key(Group.HOPS, (path, role, near_role, place), unit, near_unit, given)
                    for place, given in enumerate(answer)
                ]
            for asked_role, asked in rest:
                alike = unit == asked
                keys.append(self._key(Group.HOPS, (known, role, asked_role, alike), unit, asked))
                keys += [
                    self._key(Group.HOPS, (path, role, asked_role, place, alike), unit, asked, given)
                    for place, given in enumerate(answer)
                ]
        return keys
