"""Forms: how a name is written where it stands ("кухню" after "в", "кухня" as an answer), and what agrees with it.

Renaming exchanges names; each is then written in the form that its place demands, and so are the words that agree with
it ("Иван пошёл", but "Мария пошла"). A rule says for one place of one pattern which form each name has there, or which
form it has beside each word of another place. Where no rule is known a text cannot be renamed.
"""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from query_reduction.names.units import TextKind, Units, words_of
from query_reduction.text.stories import Story

__all__ = ["Forms", "Rule", "find_forms", "likeness"]

_CONFIRMED = 3
"""How many texts must follow a rule that others have shown."""
ALONE = -1
"""In place of the position of another word: the form depends on the name itself."""


@dataclass(frozen=True, slots=True)
class Rule:
    """The forms in one place of one pattern."""

    beside: int
    """The position of the word that decides, or ``ALONE``."""
    forms: Mapping[str, str]
    """The form of each name, or of name and deciding word with a tab between them."""

    def form(self, units: Sequence[str], place: int) -> str | None:
        """The form of the unit in this place, if it is known."""
        return self.forms.get(_key(units, place, self.beside))


def _key(units: Sequence[str], place: int, beside: int) -> str:
    return units[place] if beside == ALONE else f"{units[place]}\t{units[beside]}"


@dataclass(frozen=True)
class Forms:
    """The rules of all patterns."""

    rules: Mapping[str, Rule] = field(default_factory=dict)
    """By pattern and place, as ``pattern_of`` writes them."""
    several: frozenset[str] = frozenset()
    """The names that have several forms."""
    kind: Mapping[str, int] = field(default_factory=dict)
    """The number of the kind of each unit that is in one: patterns do not distinguish these."""

    @staticmethod
    def of(rules: Mapping[str, Rule], names: Mapping[str, str], kinds: Sequence[Sequence[str]]) -> Forms:
        """The forms of these names, given the kinds they are of."""
        if not names:
            return Forms()
        kind = {unit: number for number, members in enumerate(kinds) for unit in members}
        return Forms(rules, frozenset(names.values()), kind)

    def written(self, units: Sequence[str], of: TextKind) -> list[str] | None:
        """The units in the forms that their places demand, or None if one of these is not known."""
        found = list(units)
        pattern = ""
        for place, unit in enumerate(units):
            if unit in self.several:
                pattern = pattern or pattern_of(units, self.kind, of)
                rule = self.rules.get(f"{pattern}\t{place}")
                form = rule.form(units, place) if rule else None
                if form is None:
                    return None
                found[place] = form
        return found


def pattern_of(units: Sequence[str], kind: Mapping[str, int], of: TextKind) -> str:
    """A text with the numbers of kinds in place of their units."""
    return "\t".join([of, *(f"@{kind[unit]}" if unit in kind else unit for unit in units)])


def find_forms(stories: Iterable[Story], units: Units, kinds: Sequence[Sequence[str]]) -> Forms:
    """The rules that these stories follow."""
    if not units.names:
        return Forms()
    kind = {unit: number for number, members in enumerate(kinds) for unit in members}
    texts: set[tuple[TextKind, str]] = set()
    for story in stories:
        texts.update(("sentence", sentence) for sentence in story.sentences)
        for question in story.questions:
            texts.add(("question", question.text))
            texts.update(("answer", part) for part in question.answer.split(","))
    several = frozenset(units.names.values())
    seen: dict[str, set[tuple[tuple[str, ...], str]]] = defaultdict(set)
    for of, text in sorted(texts):
        words = words_of(text)
        forms, names = units.forms_of_words(words), tuple(units.of_words(words, of))
        pattern = pattern_of(names, kind, of)
        for place, (name, form) in enumerate(zip(names, forms, strict=True)):
            if name in several:
                seen[f"{pattern}\t{place}"].add((names, form))
    rules = {key: _rule(told, int(key.rpartition("\t")[2])) for key, told in sorted(seen.items())}
    return Forms.of({key: rule for key, rule in rules.items() if rule}, units.names, kinds)


def _rule(told: Iterable[tuple[tuple[str, ...], str]], place: int) -> Rule | None:
    """What decides about the form: the name itself, or together with the word that has decided alike most often."""
    told = list(told)
    length = len(told[0][0])
    near = sorted((other for other in range(length) if other != place), key=lambda other: abs(other - place))
    rules = []
    for beside in (ALONE, *near):
        forms: dict[str, str] = {}
        if all(forms.setdefault(_key(units, place, beside), form) == form for units, form in told):
            if beside == ALONE:
                return Rule(beside, forms)
            rules.append(Rule(beside, forms))
    # In few texts several words may seem to decide: the right one has been seen with the same name several times.
    best = min(rules, key=lambda rule: len(rule.forms), default=None)
    sure = best and (len(rules) == 1 or len(told) - len(best.forms) >= _CONFIRMED)
    return best if sure else None


@lru_cache(maxsize=1 << 18)
def likeness(one: str, other: str) -> float:
    """The longest part that two words have in common, compared with their length: from 0 to 1. Marks do not count.

    Names of as many words are compared word by word: in each form every word of them may be another.
    """
    if not one or not other:
        return float(one == other)
    words, others = one.split(" "), other.split(" ")
    if len(words) == len(others) > 1:
        return sum(map(likeness, words, others)) / len(words)
    if len(words) != len(others) and not set(words).isdisjoint(others):
        return 0.0  # "gave Mary" is not a form of "Mary"
    one, other = _bare(one), _bare(other)
    longest = 0
    lengths = [0] * (len(other) + 1)
    for letter in one:
        before = lengths
        lengths = [0] * (len(other) + 1)
        for place, same in enumerate(other, 1):
            if letter == same:
                lengths[place] = before[place - 1] + 1
                longest = max(longest, lengths[place])
    return 2 * longest / (len(one) + len(other))


@lru_cache(maxsize=1 << 16)
def _bare(word: str) -> str:
    """The word without its marks: "mäuse" is as like "maus" as "mause"."""
    parts = unicodedata.normalize("NFD", word)
    return "".join(letter for letter in parts if not unicodedata.combining(letter)) or word
