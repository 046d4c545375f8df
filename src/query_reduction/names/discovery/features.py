"""Features of stories: which units occur in which roles together, counted per story.

A feature is a *structure* (roles without names) with up to four units in it. Structures see which units are the same,
never which they are, so a renaming moves a feature to another of the same structure: if renamed stories are as likely
as the stories themselves, the two are equally frequent.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from itertools import combinations
from typing import Concatenate, ParamSpec

import numpy as np

from query_reduction.names.discovery import question_features as of_question
from query_reduction.names.discovery.candidates import Candidates
from query_reduction.names.discovery.corpus import Asked, Corpus, Told
from query_reduction.names.discovery.question_features import LEVELS, PREVIOUS
from query_reduction.names.discovery.roles import Group, Keys, Text
from query_reduction.names.discovery.table import Table, make_table

__all__ = ["Extractor"]

_RECENT = 20
"""The number of sentences before a question that are considered even if they share nothing with it."""

Arguments = ParamSpec("Arguments")


class Extractor:
    """Counts features, of any corpus that has the same units."""

    def __init__(self, corpus: Corpus, candidates: Candidates, counted_as: Sequence[int] | None = None) -> None:
        """Each unit is counted as the one given for it, or as itself."""
        self._keys = Keys(corpus, candidates, counted_as)
        self._cache: dict[Hashable, list[int]] = {}

    def table(self, corpus: Corpus, stories: Iterable[int] | None = None, *, questions_only: bool = False) -> Table:
        """The features of all stories, or of those with the given numbers."""
        counted = []
        for story in range(len(corpus.stories)) if stories is None else stories:
            found = self._story(corpus.stories[story], questions_only)
            keys, counts = np.unique(np.array(found, dtype=np.int64), return_counts=True)
            counted.append((story, keys, counts))
        return make_table(counted, len(corpus.stories), self._keys.units, self._keys.groups)

    def _story(self, story: Told, questions_only: bool) -> list[int]:
        texts = [self._keys.text(sentence) for sentence in story.sentences]
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

    def _sentences(self, texts: Sequence[Text], found: list[int]) -> None:
        last: dict[int, int] = {}
        mentioned: dict[int, int] = defaultdict(int)
        for number, text in enumerate(texts):
            found += self._cached(("alone", text.roles, text.units), _alone, text)
            for unit in text.position:
                if unit in last:
                    before = texts[last[unit]]
                    key = ("after", before.roles, before.units, text.roles, text.units, unit)
                    found += self._cached(key, _after, before, text, unit)
                else:
                    own = self._keys.classes[unit]
                    found.append(self._keys.key(Group.FIRST, ("first", own, min(mentioned[own], 3)), unit))
                    mentioned[own] += 1
                last[unit] = number

    def _question(self, asked: Asked, texts: Sequence[Text], told_of: dict[int, list[int]], found: list[int]) -> None:
        question, answer = self._keys.text(asked.text), asked.answer
        found += self._cached(("asked", asked.text, answer), of_question.asked, question, answer)
        start = max(0, asked.after - _RECENT)
        recent = texts[start : asked.after]
        for number, text in enumerate(recent, start):
            last = tuple([unit for unit in text.position if told_of[unit][-1] == number])
            beside = ("beside", text.roles, text.units, asked.text, answer, last)
            found += self._cached(beside, of_question.beside, text, question, answer, last)
        for unit in question.position:
            numbers = told_of.get(unit, ())
            for age, number in enumerate(reversed(numbers)):
                text = texts[number]
                age = min(age, PREVIOUS + 1)
                key = ("told", text.roles, text.units, asked.text, answer, unit, age)
                found += self._cached(key, of_question.told, text, question, answer, unit, age)
            if numbers:
                self._bridges(asked, question, unit, texts[numbers[-1]], recent, found)
                self._two_hops(asked, question, unit, numbers[-1], texts, told_of, found)

    def _bridges(
        self, asked: Asked, question: Text, unit: int, near: Text, recent: Sequence[Text], found: list[int]
    ) -> None:
        """From the question's unit to its last sentence, and to any that shares nothing with that one.

        Two words may mean the same thing ("mouse", "mice"): the words themselves do not show what they share.
        """
        others = near.position.keys() - {unit}
        for text in recent:
            if others.isdisjoint(text.position) and unit not in text.position:
                key = ("bridge", asked.text, asked.answer, unit, near.roles, near.units, text.roles, text.units)
                found += self._cached(key, of_question.bridge, question, asked.answer, unit, near, text)

    def _two_hops(
        self,
        asked: Asked,
        question: Text,
        unit: int,
        near: int,
        texts: Sequence[Text],
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
                found += self._cached(
                    key, of_question.hops, question, asked.answer, unit, first, link, second, number < near
                )

    def _cached(
        self,
        key: Hashable,
        make: Callable[Concatenate[Keys, Arguments], list[int]],
        *arguments: Arguments.args,
        **named: Arguments.kwargs,
    ) -> list[int]:
        keys = self._cache.get(key)
        if keys is None:
            keys = self._cache[key] = make(self._keys, *arguments, **named)
        return keys


def _alone(names: Keys, text: Text) -> list[int]:
    keys = []
    for level in LEVELS:
        placed = list(zip(text.roles[level], text.units, strict=True))
        keys += [names.key(Group.ALONE, ("one", role), unit) for role, unit in placed]
        keys += [
            names.key(Group.ALONE, ("two", role, other_role), unit, other)
            for (role, unit), (other_role, other) in combinations(placed, 2)
        ]
    return keys


def _after(names: Keys, before: Text, text: Text, shared: int) -> list[int]:
    """A sentence and the last one before it that shares this unit."""
    keys = []
    same = len(before.position.keys() & text.position.keys())
    for level in LEVELS:
        then, now = before.roles[level][before.position[shared]], text.roles[level][text.position[shared]]
        structure = ("after", level, then, now, same)
        keys.append(names.key(Group.AFTER, structure, shared))
        for old_role, old in zip(before.roles[level], before.units, strict=True):
            for role, unit in zip(text.roles[level], text.units, strict=True):
                if old != shared or unit != shared:
                    keys.append(names.key(Group.AFTER, (structure, old_role, role, old == unit), old, unit))
    return keys
