"""What a story is: sentences, and questions asked along the way.

A question sees only the sentences told before it. Dialogs use the same types: utterances and
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
    """Positions (from 0) in ``Story.sentences`` of the supporting facts; empty where not known."""
    id: str = ""
    """What the file calls the question, or empty."""


@dataclass(frozen=True, slots=True)
class Story:
    """Sentences in the order told, and the questions asked between them."""

    sentences: tuple[str, ...]
    questions: tuple[Question, ...]
    task: str = ""
    """The task the story belongs to (``"2"``), or empty."""
