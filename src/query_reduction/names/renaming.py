"""Renamings: units exchanged throughout a story, its questions and their answers.

``Sentences`` splits every distinct text once; renaming a story is then little more than joining strings, cheap enough
to retell every story in every epoch of training.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from query_reduction.names.forms import Forms
from query_reduction.names.units import TextKind, Units, plain
from query_reduction.text.stories import Question, Story
from query_reduction.text.words import WORD

__all__ = ["Renaming", "Sentences"]


@dataclass(frozen=True, slots=True)
class _Apart:
    """A text split into pieces: all of them in order, and which of them are units."""

    pieces: tuple[str, ...]
    units: tuple[tuple[int, str], ...]
    forms: tuple[str, ...]
    """The units in the forms that the text has them in."""
    parts: tuple[int, ...]
    """How many units each part has: an answer may have several, any other text has one."""


class Sentences:
    """Texts split into units, each once, and how each unit is written."""

    def __init__(
        self,
        units: Units,
        stories: Iterable[Story] = (),
        written: Mapping[str, str] | None = None,
        forms: Forms | None = None,
    ) -> None:
        self.units = units
        self._forms = forms or Forms()
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

    def renamed(self, text: str, kind: TextKind, mapping: Mapping[str, str]) -> str | None:
        """The text with units replaced; letters keep their case, everything else stays.

        None if names would have to be written in forms that are not known.
        """
        apart = self.apart(text, kind)
        if not any(unit in mapping for _, unit in apart.units):
            return text
        names = [mapping.get(unit, unit) for _, unit in apart.units]
        return self._with_units(apart, names, kind) if not self._forms.several else self._in_forms(apart, names, kind)

    def in_forms(self, text: str, kind: TextKind) -> str:
        """The text with all names in the forms that their places demand, if these are known."""
        if not self._forms.several:
            return text
        apart = self.apart(text, kind)
        return self._in_forms(apart, [unit for _, unit in apart.units], kind) or text

    def _in_forms(self, apart: _Apart, names: Sequence[str], kind: TextKind) -> str | None:
        forms: list[str] = []
        start = 0
        for length in apart.parts:
            written = self._forms.written(names[start : start + length], kind)
            if written is None:
                return None
            forms += written
            start += length
        return self._with_units(apart, forms, kind)

    def _with_units(self, apart: _Apart, units: Sequence[str], kind: TextKind) -> str:
        pieces = list(apart.pieces)
        for (place, _), form, unit in zip(apart.units, apart.forms, units, strict=True):
            if plain(unit) != form:
                # Where "gelbe Stern" is written as usual, so is "Dreieck": its capital is its own.
                usual = self._written.get(plain(unit)) if self._written.get(form) == pieces[place] else None
                pieces[place] = usual or self._write(unit, pieces[place])
        return "".join(pieces)

    def written(self, unit: str) -> str:
        """How the texts write a unit that does not begin a sentence, as far as they show it."""
        words = plain(unit)
        return self._written.get(words) or self._first.get(words, words)

    def _take_apart(self, text: str, kind: TextKind) -> _Apart:
        pieces: list[str] = []
        units: list[tuple[int, str]] = []
        forms: list[str] = []
        lengths: list[int] = []
        done = 0
        # Only an answer is a list: its parts are read one by one, and have no neighbours.
        parts = [0, *(match.end() for match in re.finditer(",", text))] if kind == "answer" else [0]
        for start, end in zip(parts, [*parts[1:], len(text)], strict=True):
            matches = list(WORD.finditer(text, start, end))
            words = [match[0].lower() for match in matches]
            first = 0
            counted = len(units)
            for length, unit in zip(self.units.lengths(words), self.units.of_words(words, kind), strict=True):
                begin, stop = matches[first].start(), matches[first + length - 1].end()
                pieces += [text[done:begin], text[begin:stop]]
                units.append((len(pieces) - 1, unit))
                # The first word of a text may have a capital only because it is the first.
                spelling = self._written if begin > start or kind == "answer" else self._first
                forms.append(" ".join(words[first : first + length]))
                spelling.setdefault(forms[-1], text[begin:stop])
                done = stop
                first += length
            lengths.append(len(units) - counted)
        pieces.append(text[done:])
        return _Apart(tuple(pieces), tuple(units), tuple(forms), tuple(lengths))

    def _write(self, unit: str, instead_of: str) -> str:
        """The unit as it is written in the stories, capitalised if and only if the other is."""
        words = plain(unit)
        written = self.written(words)
        if " " in words and " " not in written:
            return written  # a script without spaces
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
        """A sentence, question or answer, renamed; as it is, if names would need forms that are not known."""
        renamed = self.sentences.renamed(text, kind, self.mapping)
        return text if renamed is None else renamed

    def story(self, story: Story) -> Story:
        """The whole story, renamed; supporting facts stay where they are.

        If one of its texts cannot be renamed, none is: a name must be the same throughout a story.
        """
        renamed, mapping = self.sentences.renamed, self.mapping
        sentences: list[str] = []
        for sentence in story.sentences:
            text = renamed(sentence, "sentence", mapping)
            if text is None:
                return story
            sentences.append(text)
        questions: list[Question] = []
        for asked in story.questions:
            text, answer = renamed(asked.text, "question", mapping), renamed(asked.answer, "answer", mapping)
            if text is None or answer is None:
                return story
            questions.append(Question(text, answer, asked.after, asked.support))
        return Story(tuple(sentences), tuple(questions), story.task)

    def inverse(self) -> Renaming:
        """The inverse renaming."""
        return Renaming({new: old for old, new in self.mapping.items()}, self.sentences)
