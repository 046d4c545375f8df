"""What a story is: sentences, with questions asked in between.

A question sees only the sentences before it. Dialogs use the same types: utterances and
knowledge-base rows are sentences, the user's turn is the question, the system's turn the answer.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Question", "Story"]


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
    span: tuple[int, int, int] | None = None
    """Where the answer stands, if that is known: the position of its sentence (from 0), and the characters of the
    sentence it begins at and ends before."""


@dataclass(frozen=True, slots=True)
class Story:
    """Sentences in order, and the questions asked between them."""

    sentences: tuple[str, ...]
    questions: tuple[Question, ...]
    task: str = ""
    """The task the story belongs to (``"2"``), or empty."""
