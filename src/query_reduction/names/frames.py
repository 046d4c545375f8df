"""Frames: texts without their names, "‹person› took the ‹thing›", as the stories have them.

They show where a sentence that tells two facts may be cut in two ("Tom is in the attic while Mia is in the hall"): if
what follows an "and" or "while", with the first name of the sentence before it or without, has the frame of a sentence
that was told alone, it is read as one; otherwise the sentence stays whole. They also show where a word may stand.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from query_reduction.errors import InputError
from query_reduction.names.symmetries import Symmetries
from query_reduction.names.units import plain
from query_reduction.text.stories import Story

__all__ = ["Frames"]

_CUT = re.compile(r",?\s+(?:and|while|but|whereas|then)\s+", re.IGNORECASE)
_TOLD = 2
"""How often a frame must have been told."""
_LEAST_WORDS = 3
"""Of what stands before a cut: "Mary and Daniel went" is one fact."""
_MOST = 20_000
_SENTENCES_KEPT = 1 << 14


@dataclass(frozen=True)
class Frames:
    """The frames of the sentences and questions of some stories."""

    known: frozenset[str]
    symmetries: Symmetries

    @staticmethod
    def learned(symmetries: Symmetries, stories: Sequence[Story]) -> Frames:
        """Those that occur more than once."""
        none = Frames(frozenset(), symmetries)
        texts = Counter(text for story in stories for text in (*story.sentences, *(q.text for q in story.questions)))
        counts: Counter[str] = Counter()
        for text, count in texts.items():
            counts[none.frame(text)] += count
        return Frames(frozenset(text for text, count in counts.most_common(_MOST) if count >= _TOLD), symmetries)

    def frame(self, text: str) -> str:
        """A text with the numbers of their kinds in place of its names."""
        return "|".join(self._units(text))

    def fits(self, text: str, unknown: Collection[str]) -> bool:
        """Whether a text has a known frame, whatever its unknown words stand for."""
        units = self._units(text)
        return any(
            all(ours == theirs or ours in unknown for ours, theirs in zip(units, frame, strict=True))
            for frame in self._by_length.get(len(units), ())
        )

    def _units(self, text: str) -> list[str]:
        return [self._kind_of.get(unit, plain(unit)) for unit in self.symmetries.units.of_text(text, "sentence")]

    @cached_property
    def _by_length(self) -> dict[int, list[list[str]]]:
        found: dict[int, list[list[str]]] = defaultdict(list)
        for frame in self.known:
            units = frame.split("|")
            found[len(units)].append(units)
        return found

    @cached_property
    def facts(self) -> Callable[[str], tuple[str, ...]]:
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
                if self.frame(rest) in self.known:
                    return (f"{before}.", *self._split(rest))
        return (sentence,)

    def as_json(self) -> list[str]:
        """The frames."""
        return sorted(self.known)

    @staticmethod
    def from_json(data: object, symmetries: Symmetries) -> Frames:
        """The inverse of ``as_json``, for the symmetries it was learned with."""
        if not isinstance(data, list) or len(data) > _MOST or not all(isinstance(one, str) for one in data):
            raise InputError("frames of sentences cannot be read: they must be a list of texts")
        return Frames(frozenset(data), symmetries)

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
