"""Renamings: units exchanged throughout a story, its questions and their answers.

``Sentences`` splits every distinct text once; renaming a story is then little more than joining strings, cheap enough
to retell every story in every epoch of training.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from query_reduction.names.units import TextKind, Units, plain
from query_reduction.text.stories import Question, Story
from query_reduction.text.words import WORD

__all__ = ["Renaming", "Sentences"]


@dataclass(frozen=True, slots=True)
class _Apart:
    """A text split into pieces: all of them in order, and which of them are units."""

    pieces: tuple[str, ...]
    units: tuple[tuple[int, str], ...]


class Sentences:
    """Texts split into units, each once, and how each unit is written."""

    def __init__(self, units: Units, stories: Iterable[Story] = (), written: Mapping[str, str] | None = None) -> None:
        self.units = units
        self._apart: dict[tuple[TextKind, str], _Apart] = {}
        self._written = dict(written or {})
        self._first: dict[str, str] = {}
        for story in stories:
            for sentence in story.sentences:
                self.apart(sentence, "sentence")
            for question in story.questions:
                self.apart(question.text, "question")
                self.apart(question.answer, "answer")

    def apart(self, text: str, kind: TextKind) -> _Apart:
        """The pieces of a text."""
        apart = self._apart.get((kind, text))
        if apart is None:
            apart = self._apart[kind, text] = self._take_apart(text, kind)
        return apart

    def renamed(self, text: str, kind: TextKind, mapping: Mapping[str, str]) -> str:
        """The text with units replaced; letters keep their case, everything else stays."""
        apart = self.apart(text, kind)
        pieces: list[str] | None = None
        for place, unit in apart.units:
            other = mapping.get(unit)
            if other is not None:
                if pieces is None:
                    pieces = list(apart.pieces)
                pieces[place] = self._write(other, pieces[place])
        return text if pieces is None else "".join(pieces)

    def written(self, unit: str) -> str:
        """How the texts write a unit that does not begin a sentence, as far as they show it."""
        words = plain(unit)
        return self._written.get(words) or self._first.get(words, words)

    def _take_apart(self, text: str, kind: TextKind) -> _Apart:
        pieces: list[str] = []
        units: list[tuple[int, str]] = []
        done = 0
        # Only an answer is a list: its parts are read one by one, and have no neighbours.
        parts = [0, *(match.end() for match in re.finditer(",", text))] if kind == "answer" else [0]
        for start, end in zip(parts, [*parts[1:], len(text)], strict=True):
            matches = list(WORD.finditer(text, start, end))
            words = [match[0].lower() for match in matches]
            first = 0
            for length, unit in zip(self.units.lengths(words), self.units.of_words(words, kind), strict=True):
                begin, stop = matches[first].start(), matches[first + length - 1].end()
                pieces += [text[done:begin], text[begin:stop]]
                units.append((len(pieces) - 1, unit))
                # The first word of a text may have a capital only because it is the first.
                forms = self._written if begin > start or kind == "answer" else self._first
                forms.setdefault(plain(unit), text[begin:stop])
                done = stop
                first += length
        pieces.append(text[done:])
        return _Apart(tuple(pieces), tuple(units))

    def _write(self, unit: str, instead_of: str) -> str:
        """The unit as it is written in the stories, capitalised if and only if the other is."""
        words = plain(unit)
        written = self.written(words)
        # Capitals within a name ("dock B") belong to it; those of "USA" stand for the one of "Mary".
        if instead_of == instead_of.lower() and (written[1:] == words[1:] or written.isupper()):
            return words
        initial = written[0].upper() if instead_of[0].isupper() else written[0].lower()
        return initial + written[1:]


@dataclass(frozen=True)
class Renaming:
    """One renaming: what each unit is called instead; units not in it keep their names."""

    mapping: Mapping[str, str]
    sentences: Sentences = field(repr=False, compare=False)

    def text(self, text: str, kind: TextKind = "sentence") -> str:
        """A sentence, question or answer, renamed."""
        return self.sentences.renamed(text, kind, self.mapping)

    def story(self, story: Story) -> Story:
        """The whole story, renamed; supporting facts stay where they are."""
        renamed, mapping = self.sentences.renamed, self.mapping
        return Story(
            tuple([renamed(sentence, "sentence", mapping) for sentence in story.sentences]),
            tuple(
                [
                    Question(
                        renamed(asked.text, "question", mapping),
                        renamed(asked.answer, "answer", mapping),
                        asked.after,
                        asked.support,
                    )
                    for asked in story.questions
                ]
            ),
            story.task,
        )

    def inverse(self) -> Renaming:
        """The inverse renaming."""
        return Renaming({new: old for old, new in self.mapping.items()}, self.sentences)
