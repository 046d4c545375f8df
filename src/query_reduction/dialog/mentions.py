"""Who has mentioned which name, and when: what a dialog says about its names, up to any turn.

A name here is any word of a known kind. Rows of the knowledge base relate names: ``the_place R_cuisine thai``.
``Lexicon`` is what is known beforehand about words.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from query_reduction.heads.slots import API_CALL
from query_reduction.text.formats.dialog import speakers
from query_reduction.text.stories import Question, Story

__all__ = ["NAME_KIND", "Lexicon", "MentionLog", "Mentioned", "follow", "kind_of_relation", "row_of"]

NAME_KIND = "<name>"
"""The kind of a row's subject; the value of a relation has the relation's kind."""


def kind_of_relation(relation: str) -> str:
    """The kind of the values of a relation."""
    return f"<{relation.lower()}>"


def row_of(sentence: str) -> tuple[str, str, str] | None:
    """Subject, relation and value of a knowledge-base row; None if it only says that a call had no result."""
    words = sentence.lower().split()
    return (words[0], words[1], words[2]) if len(words) == 3 and words[0] != API_CALL else None


@dataclass(frozen=True, slots=True)
class Lexicon:
    """What is known about words before a dialog begins."""

    kinds: Mapping[str, str]
    """The kind of each name."""
    aliases: Mapping[str, str] = field(default_factory=dict)
    """Other words for names: ``moderately`` → ``moderate``."""
    facts: Mapping[str, tuple[tuple[str, str], ...]] = field(default_factory=dict)
    """(relation, value) pairs of names in training: for names that come up without their own rows."""

    def read(self, text: str) -> list[str]:
        """The words of a text, aliases replaced."""
        return [self.aliases.get(word, word) for word in text.lower().split()]

    def generalise(self, text: str) -> str:
        """The text with kinds for names."""
        return " ".join(self.kinds.get(word, word) for word in self.read(text))


@dataclass(slots=True)
class Mentioned:
    """What has been said about one name."""

    kind: str
    by_user: int = -1
    """When the user last mentioned it; -1 for never."""
    by_system: int = -1
    times_by_system: int = 0
    block: int = -1
    """The last block of rows it was in."""
    about: dict[str, str] = field(default_factory=dict)
    """Relation → value, of rows about it."""
    subjects: list[str] = field(default_factory=list)
    """The names whose rows have it as a value."""


@dataclass(slots=True)
class MentionLog:
    """The names of a dialog so far, in the order they came up."""

    lexicon: Lexicon
    names: dict[str, Mentioned] = field(default_factory=dict)
    moment: int = 0
    blocks: int = 0

    def utterance(self, text: str, *, by_user: bool) -> None:
        """The next utterance."""
        self.moment += 1
        for word in self.lexicon.read(text):
            if word in self.lexicon.kinds:
                name = self._name(word)
                if not name.about:
                    for relation, value in self.lexicon.facts.get(word, ()):
                        self._relate(word, relation, value)
                if by_user:
                    name.by_user = self.moment
                else:
                    name.by_system = self.moment
                    name.times_by_system += 1

    def row(self, text: str, *, first: bool) -> None:
        """The next row; ``first`` of its block."""
        self.blocks += first
        row = row_of(text)
        if row is None:
            return
        about, told = self._relate(*row)
        about.block = told.block = self.blocks

    def of_kind(self, kind: str) -> list[str]:
        """The names of a kind, in the order they came up."""
        return [name for name, mentioned in self.names.items() if mentioned.kind == kind]

    def _relate(self, subject: str, relation: str, value: str) -> tuple[Mentioned, Mentioned]:
        about = self._name(subject, NAME_KIND)
        told = self._name(value, kind_of_relation(relation))
        about.about[relation] = value
        if subject not in told.subjects:
            told.subjects.append(subject)
        return about, told

    def _name(self, word: str, otherwise: str = "") -> Mentioned:
        return self.names.setdefault(word, Mentioned(self.lexicon.kinds.get(word, otherwise)))


def follow(dialog: Story, known: Sequence[Lexicon]) -> Iterator[tuple[Question, MentionLog]]:
    """Each question of a dialog with what has been mentioned up to it, itself included; all share one growing log.

    ``known`` has what is known about words after each number of sentences of the dialog, from none to all.
    """
    log = MentionLog(known[0])
    questions = {question.after: question for question in dialog.questions}
    before = ""
    for position, (sentence, speaker) in enumerate(zip(dialog.sentences, speakers(dialog), strict=True)):
        log.lexicon = known[position + 1]
        if speaker == "row":
            log.row(sentence, first=before != "row")
        else:
            log.utterance(sentence, by_user=speaker == "user")
            if speaker == "user":
                yield questions[position], log
        before = speaker
    last = questions.get(len(dialog.sentences))
    if last is not None:
        log.utterance(last.text, by_user=True)
        yield last, log
