"""Sentences that tell two facts, cut in two: "Tom is in the attic while Mia is in the hall", "Ben sat down and slept".

Where to cut, the stories show. A *frame* is a sentence without its names: "‹person› took the ‹thing›". If what follows
an "and" or "while", with the first name of the sentence before it or without, has the frame of a sentence that was told
alone, it is read as one; otherwise the sentence stays whole.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache

from query_reduction.errors import InputError
from query_reduction.names.symmetries import Symmetries
from query_reduction.names.units import plain
from query_reduction.text.stories import Story

__all__ = ["Clauses"]

_CUT = re.compile(r",?\s+(?:and|while|but|whereas|then)\s+", re.IGNORECASE)
_TOLD = 2
"""How often a frame must have been told."""
_LEAST_WORDS = 3
"""Of what stands before a cut: "Mary and Daniel went" is one fact."""
_MOST_FRAMES = 20_000
_SENTENCES_KEPT = 1 << 14


@dataclass(frozen=True)
class Clauses:
    """The frames of sentences that were told alone."""

    frames: frozenset[str]
    symmetries: Symmetries

    @staticmethod
    def learned(symmetries: Symmetries, stories: Iterable[Story]) -> Clauses | None:
        """The frames of some stories; None if none of their sentences has a cut that they show."""
        sentences = Counter(sentence for story in stories for sentence in story.sentences)
        none = Clauses(frozenset(), symmetries)
        counts: Counter[str] = Counter()
        for sentence, count in sentences.items():
            counts[none.frame(sentence)] += count
        told = [frame for frame, count in counts.most_common(_MOST_FRAMES) if count >= _TOLD]
        found = Clauses(frozenset(told), symmetries)
        return found if any(len(found.split(sentence)) > 1 for sentence in sentences) else None

    def frame(self, sentence: str) -> str:
        """A sentence with the numbers of their kinds in place of its names."""
        units = self.symmetries.units.of_text(sentence, "sentence")
        return " ".join(self._kind_of.get(unit, plain(unit)) for unit in units)

    @cached_property
    def split(self) -> Callable[[str], tuple[str, ...]]:
        """The facts of a sentence; stories repeat their sentences, so each is looked at once."""
        return lru_cache(_SENTENCES_KEPT)(self._split)

    def _split(self, sentence: str) -> tuple[str, ...]:
        for cut in _CUT.finditer(sentence):
            before, after = sentence[: cut.start()], sentence[cut.end() :]
            if len(before.split()) < _LEAST_WORDS or not after:
                continue
            subject = self._first_name(before)
            alone = after[0].upper() + after[1:]
            for rest in (alone, f"{subject} {after}") if subject else (alone,):
                if self.frame(rest) in self.frames:
                    return (f"{before}.", *self._split(rest))
        return (sentence,)

    def as_json(self) -> list[str]:
        """The frames."""
        return sorted(self.frames)

    @staticmethod
    def from_json(data: object, symmetries: Symmetries) -> Clauses:
        """The inverse of ``as_json``, for the symmetries it was learned with."""
        if not isinstance(data, list) or len(data) > _MOST_FRAMES or not all(isinstance(one, str) for one in data):
            raise InputError("frames of sentences cannot be read: they must be a list of texts")
        return Clauses(frozenset(data), symmetries)

    @cached_property
    def _kind_of(self) -> dict[str, str]:
        return {unit: f"‹{number}›" for number, kind in enumerate(self.symmetries.columns) for unit in kind}

    def _first_name(self, text: str) -> str:
        """The name that a text begins with, as it is written there; nothing if it does not begin with one."""
        units = self.symmetries.units.of_text(text, "sentence")
        if not units or units[0] not in self._kind_of:
            return ""
        words = list(re.finditer(r"\w+", text))
        return text[: words[len(plain(units[0]).split()) - 1].end()]
