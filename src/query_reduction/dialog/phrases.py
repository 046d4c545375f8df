"""How people say names in the training dialogs: "in paris", "in a cheap price range".

A model that read "in a cheap price range" in all its dialogs does not take "cheap, please" as a request. So a name in a
context it never has in training is read in its most common phrase.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from query_reduction.errors import InputError
from query_reduction.text.formats.stored import Bounds
from query_reduction.text.stories import Story

__all__ = ["EDGE", "Phrase", "learn_asks", "learn_phrases", "phrases_from_json", "phrases_to_json"]

EDGE = ""
"""Stands for the word before the first and after the last word."""
_SHARE = 0.5
"""A phrase grows by a word as long as more than this share of its remaining occurrences has that word there."""
_SURE = 0.8
"""A response asks for a kind if at least this share of the next user utterances name one of that kind."""


@dataclass(frozen=True, slots=True)
class Phrase:
    """The words around the names of one kind."""

    before: tuple[str, ...]
    after: tuple[str, ...]
    lefts: frozenset[str]
    """All words that come right before such a name in training; a name of another kind as its kind."""
    rights: frozenset[str]


def learn_phrases(utterances: Iterable[str]) -> dict[str, Phrase]:
    """The phrase of each kind, from what users say in training, with kinds for names."""
    places: dict[str, list[tuple[list[str], int]]] = {}
    for utterance, count in Counter(utterances).items():
        words = utterance.split()
        for place, word in enumerate(words):
            if _is_kind(word):
                places.setdefault(word, []).extend([(words, place)] * count)
    return {
        kind: Phrase(
            tuple(reversed(_grow(found, -1))),
            tuple(_grow(found, 1)),
            frozenset(_at(words, place - 1) for words, place in found),
            frozenset(_at(words, place + 1) for words, place in found),
        )
        for kind, found in places.items()
    }


def learn_asks(dialogs: Iterable[Story]) -> dict[str, str]:
    """The responses that ask for a name and its kind, from dialogs with kinds for names: users mostly give one next."""
    followed: Counter[str] = Counter()
    given: Counter[tuple[str, str]] = Counter()
    for dialog in dialogs:
        for question, following in zip(dialog.questions, dialog.questions[1:], strict=False):
            followed[question.answer] += 1
            kinds = {word for word in following.text.split() if _is_kind(word)}
            if len(kinds) == 1:
                given[question.answer, kinds.pop()] += 1
    return {response: kind for (response, kind), count in given.items() if count > _SURE * followed[response]}


def _grow(places: Sequence[tuple[list[str], int]], step: int) -> list[str]:
    """The words that mostly follow in one direction."""
    grown: list[str] = []
    offset = step
    while True:
        nearby = Counter(_at(words, place + offset) for words, place in places)
        word, count = nearby.most_common(1)[0]
        if _is_kind(word) and step > 0 and count > _SHARE * len(places):
            return []  # what stands between two names belongs to the second
        if word == EDGE or _is_kind(word) or count <= _SHARE * len(places):
            return grown
        grown.append(word)
        places = [(words, place) for words, place in places if _at(words, place + offset) == word]
        offset += step


def phrases_to_json(phrases: Mapping[str, Phrase]) -> dict[str, Any]:
    """Phrases as lists."""
    return {
        kind: [list(found.before), list(found.after), sorted(found.lefts), sorted(found.rights)]
        for kind, found in phrases.items()
    }


def phrases_from_json(value: object, read: Bounds) -> dict[str, Phrase]:
    """The inverse of ``phrases_to_json``; anything else is an ``InputError``."""
    phrases = {}
    for kind, entry in read.mapping(value, "phrases").items():
        parts = [read.texts(part, "phrases") for part in read.list(entry, "phrases")]
        if len(parts) != 4:
            raise InputError("phrases must have four parts")
        phrases[kind] = Phrase(parts[0], parts[1], frozenset(parts[2]), frozenset(parts[3]))
    return phrases


def _is_kind(word: str) -> bool:
    return word.startswith("<") and word.endswith(">") and word != "<silence>"


def _at(words: Sequence[str], place: int) -> str:
    return words[place] if 0 <= place < len(words) else EDGE
