"""Accuracy against length: published test questions hidden in the half of the book that no training saw.

For the longest test it is the whole book. Which questions are asked, and where their facts are hidden, follows from the
task and the length alone, so all networks read the same texts.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from query_reduction.model import StoryModel
from query_reduction.qrn.streaming import BLOCK
from query_reduction.text.haystack import halves, hide
from query_reduction.text.sentences import split_sentences
from query_reduction.text.stories import Story

__all__ = ["LENGTHS", "MOST_QUESTIONS", "WHOLE", "BookReader", "count_right", "hidden", "sampled"]

WHOLE = -1
LENGTHS = (0, 1_000, 10_000, 100_000, WHOLE)
"""Words of the book around a story's facts; ``WHOLE`` is all of it."""
MOST_QUESTIONS = 200
"""Questions of each task in the sample; some networks are asked only the first of them."""


def sampled(stories: Sequence[Story], task: str) -> list[Story]:
    """The questions that are asked, each as the story before it; always the same ones."""
    asked = [
        replace(story, sentences=story.sentences[: question.after], questions=(question,))
        for story in stories
        for question in story.questions
    ]
    return random.Random(f"long/{task}").sample(asked, min(MOST_QUESTIONS, len(asked)))


def hidden(stories: Sequence[Story], book: Sequence[str], words: int, task: str) -> Iterator[Story]:
    """The stories at random places among so many words of the second half of the book, or among all of it."""
    second = halves(book)[1]
    ends = list(accumulate(len(line.split()) for line in second))
    for number, story in enumerate(stories):
        chance = random.Random(f"long/{task}/{words}/{number}")
        yield hide(story, book if words == WHOLE else _passage(second, ends, words, chance), chance)


def _passage(lines: Sequence[str], ends: Sequence[int], words: int, chance: random.Random) -> Sequence[str]:
    """Lines that follow each other, as many as have ``words`` words; all of them if they have fewer."""
    if not words:
        return ()
    last = next((place for place, end in enumerate(ends) if ends[-1] - end < words), 0)
    start = chance.randint(0, last)
    before = ends[start - 1] if start else 0
    stop = next((place for place in range(start, len(ends)) if ends[place] - before >= words), len(ends) - 1)
    return lines[start : stop + 1]


class BookReader:
    """A model that is asked many questions about the same texts: each of their sentences is encoded only once."""

    def __init__(self, model: StoryModel, texts: Iterable[str], *, reads_all: bool) -> None:
        """With ``reads_all`` it reads every sentence, even if it would leave it out of a story."""
        self._network, self._answers = model.streaming
        self._vocabulary = model.task.vocabulary
        rows: list[list[int]] = []
        self._rows: dict[str, NDArray[np.int64]] = {}
        for text in texts:
            if text not in self._rows:
                read = [each for each in split_sentences(text) if reads_all or model.task.reader.reads(each)]
                self._rows[text] = np.arange(len(rows), len(rows) + len(read))
                rows += map(self._vocabulary.numbers, read)
        blocks = [self._network.encode(rows[start : start + BLOCK]) for start in range(0, len(rows), BLOCK)]
        self._vectors = np.concatenate(blocks)

    def answer(self, texts: Sequence[str], question: str) -> str:
        """The answer to a question about some of the texts, in this order."""
        rows = np.concatenate([self._rows[text] for text in texts])
        blocks = (self._vectors[rows[start : start + BLOCK]] for start in range(0, len(rows), BLOCK))
        asked = self._network.encode([self._vocabulary.numbers(question)])[0]
        scores = self._answers @ self._network.read_vectors(asked, blocks)
        return self._vocabulary.answers[int(scores.argmax())]


def count_right(reader: BookReader, stories: Iterable[Story], step: Callable[[], bool]) -> tuple[int, int] | None:
    """How many questions are asked about hidden stories, and how many are answered correctly.

    ``step`` is called after each question; None if it says that there is no time for more.
    """
    asked = right = 0
    for story in stories:
        question = story.questions[0]
        right += reader.answer(story.sentences, question.text) == question.answer
        asked += 1
        if step():
            return None
    return asked, right
