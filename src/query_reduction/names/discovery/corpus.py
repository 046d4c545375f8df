"""Training stories as numbers of units, every distinct text once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from query_reduction.names.units import TextKind, Units
from query_reduction.text.stories import Story

__all__ = ["Asked", "Corpus", "Encoded", "Told", "read_corpus"]

Encoded = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Asked:
    """One question: its units, those of its answer, and how many sentences came before."""

    text: Encoded
    answer: Encoded
    after: int


@dataclass(frozen=True, slots=True)
class Told:
    """One story."""

    sentences: tuple[Encoded, ...]
    questions: tuple[Asked, ...]


@dataclass(frozen=True)
class Corpus:
    """All stories, and the name of each unit's number."""

    names: tuple[str, ...]
    stories: tuple[Told, ...]

    def with_questions_renamed(self, renaming: Mapping[int, int]) -> Corpus:
        """Units renamed in questions and answers only: stories whose answers are often false."""

        def renamed(text: Encoded) -> Encoded:
            return tuple([renaming.get(unit, unit) for unit in text])

        stories = [
            Told(
                story.sentences,
                tuple([Asked(renamed(asked.text), renamed(asked.answer), asked.after) for asked in story.questions]),
            )
            for story in self.stories
        ]
        return Corpus(self.names, tuple(stories))


def read_corpus(stories: Iterable[Story], units: Units) -> Corpus:
    """Cut all texts into units and number these."""
    number_of: dict[str, int] = {}
    texts: dict[tuple[TextKind, str], Encoded] = {}

    def encoded(text: str, kind: TextKind) -> Encoded:
        if (kind, text) not in texts:
            found = units.of_text(text, kind)
            texts[kind, text] = tuple([number_of.setdefault(unit, len(number_of)) for unit in found])
        return texts[kind, text]

    told = [
        Told(
            tuple([encoded(sentence, "sentence") for sentence in story.sentences]),
            tuple(
                [
                    Asked(encoded(asked.text, "question"), encoded(asked.answer, "answer"), asked.after)
                    for asked in story.questions
                ]
            ),
        )
        for story in stories
    ]
    return Corpus(tuple(number_of), tuple(told))
