"""What a story is: sentences, with questions asked in between.

A question sees only the sentences before it. Dialogs use the same types: utterances and
knowledge-base rows are sentences, the user's turn is the question, the system's turn the answer.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from query_reduction.checked import check_field
from query_reduction.errors import InputError

__all__ = ["Question", "Story"]


_TEXT = frozenset([str])


@dataclass(frozen=True, slots=True)
class Question:
    """One question of a story, its answer, and the sentences that prove the answer."""

    text: str
    answer: str
    """The whole answer as one string; several words are joined by commas (``football,apple``)."""
    after: int
    """How many sentences of the story come before the question: it sees ``sentences[:after]``."""
    support: tuple[int, ...] = ()
    """Positions (from 0) in ``Story.sentences`` of the supporting facts; empty if unknown."""
    id: str = ""
    """The question's id in the file, or empty."""
    line: int = field(default=0, compare=False, repr=False)
    """The line of the file it begins on, where that is known: for messages, so it makes no difference otherwise."""
    span: tuple[int, int, int] | None = None
    """Where the answer stands, if that is known: the position of its sentence (from 0), and the characters of the
    sentence it begins at and ends before."""

    def __post_init__(self) -> None:
        # Training makes very many: what is right is seen quickly.
        texts = _TEXT.issuperset((type(self.text), type(self.answer), type(self.id)))
        if not (texts and type(self.after) is int and type(self.support) is tuple):
            for name, kind in (
                ("text", str),
                ("answer", str),
                ("after", int),
                ("support", tuple[int, ...]),
                ("id", str),
            ):
                check_field(name, getattr(self, name), kind)
            object.__setattr__(self, "support", tuple(self.support))
        if self.after < 0:
            raise InputError(f"after: it must be a whole number from 0 on, not {self.after}")
        for fact in self.support:
            if type(fact) is not int or fact < 0:
                check_field("support", self.support, tuple[int, ...])
                raise InputError("support: positions are whole numbers from 0 on")


@dataclass(frozen=True, slots=True)
class Story:
    """Sentences in order, and the questions asked between them."""

    sentences: tuple[str, ...]
    questions: tuple[Question, ...]
    task: str = ""
    """The task the story belongs to (``"2"``), or empty."""

    def __post_init__(self) -> None:
        if not (type(self.sentences) is tuple is type(self.questions) and type(self.task) is str):
            check_field("sentences", self.sentences, tuple[str, ...])
            check_field("questions", self.questions, tuple[Question, ...])
            check_field("task", self.task, str)
            object.__setattr__(self, "sentences", tuple(self.sentences))
            object.__setattr__(self, "questions", tuple(self.questions))
        if not _TEXT.issuperset(map(type, self.sentences)):
            check_field("sentences", self.sentences, tuple[str, ...])
        count = len(self.sentences)
        for question in self.questions:
            if type(question) is not Question:
                check_field("questions", self.questions, tuple[Question, ...])
            if question.after > count or (question.support and max(question.support) >= count):
                raise InputError(f"questions: {question.text!r:.60} is about sentences that the story does not have")
