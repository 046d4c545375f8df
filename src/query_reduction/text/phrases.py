"""Phrases of a story: words with their places, and which runs of words may be answers.

Words are the same if they have the same key: case, and the commonest endings of English, make no difference. Which
words never begin, end or stand inside an answer is learned from training, so no list of stop words is needed.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from query_reduction.errors import InputError
from query_reduction.text.words import fold, word_places

__all__ = ["Phrase", "PhraseRule", "Word", "alternatives", "find_runs", "phrase_key", "word_key", "words_of"]

_POSSESSIVE = re.compile("['’]s$")
_VOWEL = re.compile("[aeiouy]")
_OFTEN = 10
"""A word that is met so often in training, and never as part of an answer, is no part of one."""
_LONGEST = 5


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a text and where it stands."""

    text: str
    start: int
    end: int
    key: str


@dataclass(frozen=True, slots=True)
class Phrase:
    """A run of words of a story."""

    text: str
    sentence: int
    """The position of its sentence in the story, from 0."""
    words: tuple[int, int]
    """The positions of its first word in the sentence and of the word after its last, from 0."""
    characters: tuple[int, int]
    """Where it begins and ends in the sentence."""

    def as_json(self) -> dict[str, Any]:
        """The phrase as plain values."""
        return {
            "text": self.text,
            "sentence": self.sentence,
            "words": list(self.words),
            "characters": list(self.characters),
        }


@lru_cache(maxsize=1 << 14)
def words_of(text: str) -> tuple[Word, ...]:
    """The words of a text in order; a possessive ending is a word of its own."""
    words: list[Word] = []
    for word, start, end in word_places(text):
        ending = _POSSESSIVE.search(word)
        if ending and ending.start():
            middle = start + ending.start()
            words += [_word(text, start, middle), _word(text, middle, end)]
        else:
            words.append(_word(text, start, end))
    return tuple(words)


def _word(text: str, start: int, end: int) -> Word:
    return Word(text[start:end], start, end, word_key(text[start:end]))


@lru_cache(maxsize=1 << 16)
def word_key(word: str) -> str:
    """What a word has in common with its other forms: ``wave`` and ``Waves``, ``recycle`` and ``recycling``."""
    key = fold(word)
    if not key.isascii() or not key.isalpha():
        return key.replace("’", "'").strip("'")
    if len(key) > 3 and key.endswith("s") and not key.endswith(("ss", "us", "is")):
        if key.endswith("ies") and len(key) > 4:
            key = f"{key[:-3]}y"
        else:
            key = key[:-2] if key.endswith(("sses", "shes", "ches", "xes")) else key[:-1]
    for ending in ("ing", "ed"):
        stem = key.removesuffix(ending)
        if stem != key and len(stem) > 2 and _VOWEL.search(stem):
            key = stem[:-1] if stem[-1] == stem[-2] and stem[-1] not in "lsz" else stem
            break
    return key[:-1] if len(key) > 3 and key.endswith("e") else key


def phrase_key(text: str) -> tuple[str, ...]:
    """The keys of a text's words: equal for two texts that say the same in other forms."""
    return tuple(word.key for word in words_of(text))


def alternatives(text: str) -> tuple[tuple[str, ...], ...]:
    """The keys of the names of one thing, which ";" separates: ``water; liquid``."""
    return tuple(key for part in text.split(";") if (key := phrase_key(part)))


def find_runs(keys: Sequence[str], wanted: Sequence[str]) -> Iterator[int]:
    """Where some words follow each other in a sentence, by their keys."""
    length = len(wanted)
    for first in range(len(keys) - length + 1) if length else ():
        if tuple(keys[first : first + length]) == tuple(wanted):
            yield first


@dataclass(frozen=True)
class PhraseRule:
    """Which runs of words may be answers."""

    longest: int = _LONGEST
    """How many words a phrase has at most."""
    never_first: frozenset[str] = frozenset()
    """Keys of words that begin no answer."""
    never_last: frozenset[str] = frozenset()
    never_inside: frozenset[str] = frozenset()

    @staticmethod
    def learned(texts: Iterable[str], phrases: Iterable[str], longest: int = _LONGEST) -> PhraseRule:
        """From the texts of training, and the phrases that are answers (or things that are asked about)."""
        met = Counter(word.key for text in texts for word in words_of(text))
        first, last, inside = set[str](), set[str](), set[str]()
        for phrase in phrases:
            key = phrase_key(phrase)
            if key:
                first.add(key[0])
                last.add(key[-1])
                inside.update(key)
        often = {key for key, count in met.items() if count >= _OFTEN}
        return PhraseRule(longest, *(frozenset(often - seen) for seen in (first, last, inside)))

    def runs(self, keys: Sequence[str]) -> Iterator[tuple[int, int]]:
        """The first word of every phrase that may be an answer, and the word after its last."""
        for first, key in enumerate(keys):
            if key in self.never_first:
                continue
            for end in range(first + 1, min(first + self.longest, len(keys)) + 1):
                if end - first > 2 and keys[end - 2] in self.never_inside:
                    break
                if keys[end - 1] not in self.never_last:
                    yield first, end

    def as_json(self) -> dict[str, Any]:
        """The rule as plain values."""
        never = {"first": self.never_first, "last": self.never_last, "inside": self.never_inside}
        return {"longest": self.longest, "never": {name: sorted(keys) for name, keys in never.items()}}

    @staticmethod
    def from_json(values: Mapping[str, Any]) -> PhraseRule:
        """The inverse of ``as_json``."""
        never = [values["never"][name] for name in ("first", "last", "inside")]
        if type(values["longest"]) is not int or not all(isinstance(key, str) for keys in never for key in keys):
            raise InputError("a rule for phrases needs a number and lists of words")
        return PhraseRule(values["longest"], *(frozenset(keys) for keys in never))
