"""Facts hidden in other text: the sentences of a story, in their order, spread among those of a book."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

from query_reduction.errors import InputError
from query_reduction.text.formats.lines import Problem, text_lines
from query_reduction.text.stories import Story

__all__ = ["halves", "hide", "passage", "read_haystack"]


def read_haystack(path: Path) -> list[str]:
    """The lines of a text, each one sentence or several."""
    problems: list[Problem] = []
    found = [line.strip() for line in text_lines(path, problems) if line.strip()]
    if problems:
        raise InputError(str(problems[0]))
    if len(found) < 2:
        raise InputError(f"{path}: a haystack needs at least two lines of text")
    return found


def halves(haystack: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
    """The first half of a text, to train on, and the second, to test on: they share no line."""
    middle = len(haystack) // 2
    return haystack[:middle], haystack[middle:]


def passage(haystack: Sequence[str], count: int, chance: random.Random) -> Sequence[str]:
    """``count`` sentences that follow each other, from a random place on."""
    if count > len(haystack):
        raise InputError(f"the haystack has {len(haystack)} sentences, and {count} are needed")
    start = chance.randrange(len(haystack) - count + 1)
    return haystack[start : start + count]


def hide(story: Story, among: Sequence[str], chance: random.Random) -> Story:
    """The story with its sentences at random places among others; both keep their order.

    A question sees everything up to the next sentence of its story, so the last one sees all.
    """
    told, total = len(story.sentences), len(story.sentences) + len(among)
    places = sorted(chance.sample(range(total), told))
    own, other = iter(story.sentences), iter(among)
    sentences: list[str] = []
    for place in places:
        sentences += islice(other, place - len(sentences))
        sentences.append(next(own))
    sentences += other
    ends = [*places, total]
    questions = tuple(
        replace(asked, after=ends[asked.after], support=tuple(places[fact] for fact in asked.support))
        for asked in story.questions
    )
    return replace(story, sentences=tuple(sentences), questions=questions)
