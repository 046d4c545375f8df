"""Whom a pronoun stands for: the last name of its kind that was told before it.

Which kind that is, the stories show: names of it stand beside the same words as the pronoun ("she was moved to", "Mrs.
Patel was moved to"). So do they show which names are never "she", where there are enough of them. A pronoun in a
sentence that names somebody of that kind is left alone: "Ben took his keys".
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from query_reduction.errors import InputError
from query_reduction.names.renaming import Sentences
from query_reduction.names.symmetries import Symmetries
from query_reduction.names.units import EDGE, Units, plain
from query_reduction.text.stories import Story

__all__ = ["Coreference"]

_PRONOUNS = {"he": "he", "him": "he", "she": "she", "her": "she"}
"""Those that stand for one person, by gender; "it" and "they" often stand for nothing that was named."""
_SAME_PLACES = 0.95
"""The share of its neighbours that a name has in common with others of its kind."""
_SEEN = 3
"""A name is only "he" or only "she" if it was the last before so many of these, and before none of the others."""
_ALIKE = 0.5
"""The share of a pronoun's neighbours that names of its kind must have, too."""
_LEAST_NAMES = 2


@dataclass(frozen=True)
class Coreference:
    """The names that pronouns stand for."""

    names: frozenset[str]
    """Units of one kind."""
    units: Units
    """How sentences are cut into these."""
    written: Mapping[str, str]
    """How the stories write units that are not written in lower case."""
    genders: Mapping[str, str] = field(default_factory=dict)
    """``he`` or ``she`` for the names that are never the other."""

    @staticmethod
    def learned(symmetries: Symmetries, stories: Sequence[Story]) -> Coreference | None:
        """The kind of names whose neighbours are most like those of pronouns; None if there are none such."""
        units = Units(frozenset(phrase for phrase in symmetries.units.phrases if _PRONOUNS.keys().isdisjoint(phrase)))
        beside: dict[str, Counter[str]] = defaultdict(Counter)
        for sentence in {sentence for story in stories for sentence in story.sentences}:
            told = units.of_text(sentence, "sentence")
            for place, unit in enumerate(told):
                beside[unit].update(_neighbours(told, place))
        wanted = sum((beside[word] for word in _PRONOUNS if word in beside), Counter[str]())
        kinds = [tuple(map(plain, kind)) for kind in symmetries.columns]
        kinds = [tuple(unit for unit in kind if _PRONOUNS.keys().isdisjoint(unit.split())) for kind in kinds]
        shares = [
            (_share(wanted, [beside[unit] for unit in kind if unit in beside]), kind)
            for kind in kinds
            if len(kind) >= _LEAST_NAMES
        ]
        share, kind = max(shares, default=(0.0, ()))
        if share < _ALIKE:
            return None
        kind = (*kind, *_more_names(kind, beside, units, stories))
        phrases = frozenset(tuple(name.split()) for name in kind if " " in name)
        plainly = Coreference(frozenset(kind), Units(phrases), symmetries.written)
        seen: dict[str, Counter[str]] = defaultdict(Counter)
        for story in stories:
            for _, pronoun, name in plainly.assumed(story.sentences):
                seen[name][_PRONOUNS[pronoun]] += 1
        only = {name: next(iter(said)) for name, said in seen.items() if len(said) == 1 and said.total() >= _SEEN}
        return replace(plainly, genders=only)

    @cached_property
    def _sentences(self) -> Sentences:
        return Sentences(self.units, written=self.written)

    def assumed(self, sentences: Sequence[str], strangers: Collection[str] = ()) -> list[tuple[int, str, str]]:
        """The pronouns that stand for a name: their sentence, the pronoun, and the unit it stands for.

        ``strangers`` are names lent to others, of whom nothing is known.
        """
        last: dict[str, str] = {}
        found = []
        for number, sentence in enumerate(sentences):
            told = [unit for _, unit in self._sentences.apart(sentence, "sentence").units]
            named = [unit for unit in told if unit in self.names]
            for name in named:
                only = None if name in strangers else self.genders.get(name)
                last |= {said: name for said in ("he", "she") if only in (None, said)}
            if not named:
                spoken = (unit for unit in dict.fromkeys(told) if _PRONOUNS.get(unit) in last)
                found += [(number, unit, last[_PRONOUNS[unit]]) for unit in spoken]
        return found

    def resolved(self, sentences: Sequence[str], strangers: Collection[str] = ()) -> tuple[str, ...]:
        """The sentences with the names that their pronouns stand for; others stay the same."""
        read = list(sentences)
        for number, pronoun, name in self.assumed(sentences, strangers):
            apart = self._sentences.apart(read[number], "sentence")
            pieces = list(apart.pieces)
            for place, unit in apart.units:
                if unit == pronoun:
                    written = self.name(name)
                    pieces[place] = written[0].upper() + written[1:] if pieces[place][0].isupper() else written
            read[number] = "".join(pieces)
        return tuple(read)

    def misled(self, symmetries: Symmetries) -> bool:
        """Whether pronouns misled the search for symmetries: it took them for names of this kind ("then she", "Anna"),
        or tells names apart by them. They should then be discovered again without pronouns."""
        kinds = [kind for kind in symmetries.columns if not self.names.isdisjoint(map(plain, kind))]
        if not self.names <= {plain(unit) for kind in kinds for unit in kind}:
            return True
        return any(not _PRONOUNS.keys().isdisjoint(plain(unit).split()) for kind in kinds for unit in kind)

    def name(self, unit: str) -> str:
        """How a name is written."""
        return self._sentences.written(unit)

    def speaks_of_somebody(self, sentence: str) -> bool:
        """Whether a sentence has a pronoun that may stand for a name."""
        return not _PRONOUNS.keys().isdisjoint(self.units.of_text(sentence, "sentence"))

    def as_json(self) -> dict[str, str]:
        """The names with their genders, empty for those that may be both."""
        return {name: self.genders.get(name, "") for name in sorted(self.names)}

    @staticmethod
    def from_json(data: object, written: Mapping[str, str]) -> Coreference:
        """The inverse of ``as_json``; ``written`` as it was learned with."""
        if not isinstance(data, dict) or not all(said in ("", "he", "she") for said in data.values()):
            raise InputError("names for pronouns cannot be read: each must have he, she or nothing")
        genders = {name: said for name, said in data.items() if said}
        phrases = frozenset(tuple(name.split()) for name in data if " " in name)
        return Coreference(frozenset(data), Units(phrases), written, genders)


def _more_names(
    kind: Sequence[str], beside: Mapping[str, Counter[str]], units: Units, stories: Sequence[Story]
) -> list[str]:
    """What is asked about and has the same neighbours as names of a kind: names of the other gender, where the search
    for symmetries tells them apart by their pronouns."""
    known = set().union(*(beside[unit] for unit in kind if unit in beside))
    questions = [question for story in stories for question in story.questions]
    asked = {unit for question in questions for unit in units.of_text(question.text, "question")}
    asked |= {unit for question in questions for unit in units.of_text(question.answer, "answer")}
    return sorted(
        unit
        for unit in asked - set(kind)
        if _PRONOUNS.keys().isdisjoint(unit.split())
        and (around := beside.get(unit, Counter())).total() >= _SEEN
        and sum(count for near, count in around.items() if near in known) >= _SAME_PLACES * around.total()
    )


def _neighbours(units: Sequence[str], place: int) -> list[str]:
    """The units to the left and right of one, marked by their side; the ends of a sentence tell nothing."""
    left = units[place - 1] if place else EDGE
    right = units[place + 1] if place + 1 < len(units) else EDGE
    return [f"{side}{plain(unit)}" for side, unit in (("<", left), (">", right)) if unit != EDGE]


def _share(wanted: Counter[str], kind: Sequence[Counter[str]]) -> float:
    """Which share of some neighbours those of a kind have as well."""
    known = set().union(*kind)
    return sum(count for unit, count in wanted.items() if unit in known) / max(wanted.total(), 1)
