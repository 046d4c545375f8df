"""Short stories like those people make up, extracted from generated ones.

The worlds tell stories as the published data does: long ones, whose first question comes late. People try "Mary got
the milk. Mary went to the garden." So a question keeps its supporting facts and only some of the other sentences; a
cut that would change the answer, by the solver that reads nothing but text, is not made.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

from query_reduction.text.stories import Question, Story
from query_reduction.worlds.solver import solve

__all__ = ["shortened"]

_LARGEST_SHARE = 0.4
"""At most this share of the irrelevant sentences is kept, on average."""


def shortened(stories: Sequence[Story], seed: int) -> Iterator[Story]:
    """Every question of every story, as a separate short story, where possible."""
    rng = random.Random(seed)
    for story in stories:
        for question in story.questions:
            short = _shorten(story, question, rng)
            if short is not None:
                yield short


def _shorten(story: Story, question: Question, rng: random.Random) -> Story | None:
    share = rng.uniform(0, _LARGEST_SHARE)
    kept = [place for place in range(question.after) if place in question.support or rng.random() < share]
    sentences = tuple(story.sentences[place] for place in kept)
    if not sentences or _answer(int(story.task), sentences, question.text) != question.answer:
        return None
    support = tuple(kept.index(place) for place in question.support)
    return Story(sentences, (Question(question.text, question.answer, len(sentences), support),), story.task)


def _answer(task: int, sentences: Sequence[str], question: str) -> str | None:
    try:
        return solve(task, sentences, question)
    except (LookupError, ValueError):  # too little is left to answer it
        return None
