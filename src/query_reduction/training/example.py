"""A story of a model's own data, kept in its card: what pages open with."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from query_reduction.text.stories import Question, Story

__all__ = ["example_in", "example_of"]

_MOST_SENTENCES = 30
_MOST_CHARACTERS = 300
"""Of a sentence, a question or an answer."""


def example_of(stories: Iterable[Story]) -> dict[str, Any] | None:
    """The last question of the first story that fits on a screen, with what it sees; None if no story does."""
    for story in stories:
        for question in reversed(story.questions):
            sentences = story.sentences[: question.after]
            texts = (*sentences, question.text, question.answer)
            if 0 < len(sentences) <= _MOST_SENTENCES and max(map(len, texts)) <= _MOST_CHARACTERS:
                return {
                    "sentences": list(sentences),
                    "question": question.text,
                    "answer": question.answer,
                    "support": list(question.support),
                }
    return None


def example_in(card: Mapping[str, Any]) -> Story | None:
    """The story in a model's card; a card may hold anything, also what is no story."""
    match card.get("example"):
        case {"sentences": list(sentences), "question": str(question), "answer": str(answer), "support": list(support)}:
            if all(isinstance(text, str) for text in sentences) and all(type(fact) is int for fact in support):
                return Story(tuple(sentences), (Question(question, answer, len(sentences), tuple(support)),))
    return None
