"""The words of the worlds, as ``word_table`` reads them.

A teller asks for entities (``words.people.take("house", options.people)``) and for lines
(``words.lines("move", who=people, place=places)``), and from then on works with numbers only.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from query_reduction.errors import InputError
from query_reduction.worlds.grammar import Grammar, parts_of
from query_reduction.worlds.options import WorldOptions

__all__ = ["Lexicon", "Lines", "Motive", "Words"]

# What other splits never mention when the test's names must be unseen; colours stay.
_NAMES = ("people", "places", "things", "containers", "animals", "shapes")


@dataclass(frozen=True, slots=True, eq=False)
class Lexicon:
    """The words of one kind: the published ones in groups, and more for larger worlds and unseen names."""

    kind: str
    groups: Mapping[str, tuple[str, ...]]
    more: tuple[str, ...]
    source: str
    unseen_from: int | None = None
    """Take words of ``more`` from this position on, and none of the groups'; ``None`` takes the groups' first."""

    def take(self, group: str, count: int | None = None, *, at_least: int = 1) -> tuple[str, ...]:
        """``count`` different words, the group's own first; without a count, as many as the group has."""
        own = self.groups[group]
        wanted = len(own) if count is None else count
        if wanted < at_least:
            raise InputError(f"{self.kind}: {wanted} is too few for this task, which needs at least {at_least}")
        words = own + self.more if self.unseen_from is None else self.more[self.unseen_from :]
        if wanted > len(words):
            raise InputError(
                f"{self.kind}: {wanted} are needed but {self.source} has {len(words)} "
                f"{'left ' if self.unseen_from is not None else ''}for {group!r}; add words to {self.kind}.more"
            )
        return words[:wanted]


@dataclass(frozen=True, slots=True)
class Motive:
    """A feeling, where it leads, and what is taken there."""

    feeling: str
    place: str
    thing: str


class Lines(dict[tuple[int, ...], str]):
    """Sentences by numbers, each written once: ``lines[way, who, place]``, slots in the order they were given."""

    def __init__(self, ways: Sequence[str], slots: Mapping[str, Sequence[str]], grammar: Grammar) -> None:
        super().__init__()
        self.ways = len(ways)
        """The number of phrasings; the first number of a key chooses one."""
        self._templates = [parts_of(way) for way in ways]
        self._slots = dict(slots)
        self._grammar = grammar

    def __missing__(self, key: tuple[int, ...]) -> str:
        word_of = {name: words[number] for (name, words), number in zip(self._slots.items(), key[1:], strict=True)}
        line = "".join([self._grammar.written(part, word_of) for part in self._templates[key[0]]])
        self[key] = line
        return line

    def say(self, rng: random.Random, *numbers: int) -> str:
        """The line for these numbers, in a random phrasing."""
        return self[(int(rng.random() * self.ways), *numbers)]


@dataclass(frozen=True, slots=True, eq=False)
class Words:
    """A whole table. Compared and hashed by identity, so that tellers may keep what they prepare for it."""

    source: str
    """The file's name, for messages."""
    people: Lexicon
    places: Lexicon
    things: Lexicon
    containers: Lexicon
    animals: Lexicon
    colours: Lexicon
    shapes: Lexicon
    pronouns: Mapping[str, str]
    """Pronoun of each name."""
    plurals: Mapping[str, str]
    """Plurals that do not just take an s."""
    directions: Mapping[str, str]
    """North, south, east, west, and the letter each has in answers."""
    times: tuple[str, ...]
    """Parts of two days, earliest first."""
    motives: tuple[Motive, ...]
    sentences: Mapping[str, tuple[str, ...]]
    """All phrasings, with verbs filled in."""
    questions: Mapping[str, tuple[str, ...]]
    answers: Mapping[str, str]
    numbers: tuple[str, ...]
    """Number words from zero."""
    grammar: Grammar = field(default_factory=Grammar)

    def lines(self, sentence: str, **slots: Sequence[str]) -> Lines:
        """The sentence's lines by numbers; ``slots`` are the words to choose from, in the order of the keys."""
        return Lines(self.sentences[sentence], slots, self.grammar)

    def asked(self, question: str, **slots: Sequence[str]) -> Lines:
        """The question's lines by numbers, as ``lines`` has the sentences'."""
        return Lines(self.questions[question], slots, self.grammar)

    def plural(self, animal: str) -> str:
        """The plural of an animal."""
        return self.plurals.get(animal, animal + "s")

    def unseen(self, options: WorldOptions) -> Words:
        """The same table with none of the names that stories with these options would use."""
        taken = {"people": options.people, "places": options.places}
        return replace(
            self,
            **{kind: replace(getattr(self, kind), unseen_from=taken.get(kind, options.things) or 0) for kind in _NAMES},
        )
