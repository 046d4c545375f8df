"""What users say before each act of the system: whether an utterance is of a kind that training had for it.

A network always has a best response, also to "Who won the football?". So each act (a response without its names) keeps
the utterances after which training has it. How much an utterance supports an act is its likeness to the closest of
them: shared words count by how rare they are, and words that mean nothing to the model count against it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from query_reduction.heads.slots import API_CALL, cut
from query_reduction.text.formats.dialog import SILENCE
from query_reduction.text.formats.stored import Bounds
from query_reduction.text.stories import Story

__all__ = ["Acts", "Likeness", "act_of"]

_MOST_PER_ACT = 2000
"""Distinct utterances kept of an act, the most frequent first."""


def act_of(response: str) -> str:
    """A response without its names: ``what do you think of _``; all calls of the knowledge base are one act."""
    said = cut(response)[0]
    if said == API_CALL:
        return API_CALL
    return " ".join("_" if word[:1] == "<" and word[-1:] == ">" else word for word in said.split())


@dataclass(frozen=True, slots=True)
class Likeness:
    """The training utterance that is closest to what was said, and how close it is, from 0 to 1."""

    share: float = 0.0
    utterance: str = ""


@dataclass(frozen=True)
class Acts:
    """By act, the utterances that led to it in training, with kinds for names."""

    utterances: Mapping[str, tuple[str, ...]]

    @staticmethod
    def learn(dialogs: Iterable[Story]) -> Acts:
        """From dialogs with kinds for names. What a user said leads to all that the system says until the next time."""
        led: dict[str, Counter[str]] = {}
        for dialog in dialogs:
            said = ""
            for turn in dialog.questions:
                if turn.text.lower() != SILENCE.lower():
                    said = turn.text.lower()
                if said:
                    led.setdefault(act_of(turn.answer), Counter())[said] += 1
        return Acts({act: tuple(text for text, _ in counts.most_common(_MOST_PER_ACT)) for act, counts in led.items()})

    def closest(self, utterance: str, unknown: Sequence[str] = (), act: str | None = None) -> Likeness:
        """The closest of all training utterances, or of those that led to one act."""
        words = set(utterance.split())
        known = [self._weight(word) for word in words]
        size = sum(known) + len(set(unknown)) * self._rarest
        best = Likeness()
        if not size:
            return best
        for text in self.utterances.get(act, ()) if act is not None else self._all:
            others = self._words[text]
            shared = sum(self._weight(word) for word in words & others)
            share = 2 * shared / (size + self._sizes[text])
            if share > best.share:
                best = Likeness(share, text)
        return best

    def begins_like(self, utterance: str, act: str | None = None) -> bool:
        """Whether an utterance begins with a word that training utterances, all or those of one act, begin with."""
        first = utterance.split(maxsplit=1)[:1]
        texts = self._all if act is None else self.utterances.get(act, ())
        return any(text.split(maxsplit=1)[:1] == first for text in texts)

    @cached_property
    def words(self) -> frozenset[str]:
        """All words that users say in training."""
        return frozenset(self._weights)

    def as_json(self) -> dict[str, list[str]]:
        """As lists."""
        return {act: list(texts) for act, texts in self.utterances.items()}

    @staticmethod
    def from_json(value: Any, read: Bounds) -> Acts:
        """The inverse of ``as_json``; anything else is an ``InputError``."""
        return Acts({act: read.texts(texts, "acts") for act, texts in read.mapping(value, "acts").items()})

    def _weight(self, word: str) -> float:
        return self._weights.get(word, self._rarest)

    @cached_property
    def _all(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(text for texts in self.utterances.values() for text in texts))

    @cached_property
    def _words(self) -> dict[str, frozenset[str]]:
        return {text: frozenset(text.split()) for text in self._all}

    @cached_property
    def _weights(self) -> dict[str, float]:
        """The rarer a word is among utterances, the more it says."""
        counts = Counter(word for words in self._words.values() for word in words)
        return {word: math.log((1 + len(self._all)) / count) for word, count in counts.items()}

    @cached_property
    def _rarest(self) -> float:
        return math.log(1 + len(self._all))

    @cached_property
    def _sizes(self) -> dict[str, float]:
        return {text: sum(map(self._weight, words)) for text, words in self._words.items()}
