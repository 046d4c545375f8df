"""Stories as numbers: every distinct sentence once in a table, a story is a run of table rows.

Nothing here is padded, so a sentence of ten thousand words or a story of a hundred thousand sentences takes
no more memory than its content. ``batch`` pads, one batch at a time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from query_reduction.text.batch import Batch
from query_reduction.text.stories import Story
from query_reduction.text.vocabulary import Sentence, Vocabulary

__all__ = ["EncodedQuestions", "encode_read", "encode_stories"]

_Ints = NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class _Runs:
    """Many runs of numbers of different lengths, concatenated."""

    numbers: _Ints
    first: NDArray[np.int64]
    length: _Ints

    def padded(self, rows: NDArray[np.integer], filler: int | _Ints) -> tuple[_Ints, _Ints]:
        """The chosen runs as a rectangle, padded with ``filler`` (a single value, or a column); and their lengths."""
        length = self.length[rows]
        steps = np.arange(max(length.max(initial=0), 0))
        inside = steps < length[:, None]
        if not len(self.numbers):
            return np.zeros((len(rows), 0), np.int32), length
        # Positions past a run's end point anywhere valid; np.where overwrites the values they select.
        found = self.numbers.take(self.first[rows][:, None] + steps, mode="clip")
        return np.where(inside, found, np.asarray(filler, np.int32)), length


@dataclass(frozen=True, slots=True)
class EncodedQuestions:
    """Questions ready for the network."""

    sentences: _Runs
    """Row by row, the words of each distinct sentence or question."""
    stories: _Runs
    """Question by question, the sentences it sees, as rows of ``sentences``; stories share their numbers."""
    questions: _Ints
    answers: _Ints
    tasks: tuple[str, ...]
    """The task of each question."""

    def __len__(self) -> int:
        return len(self.questions)

    def batch(self, chosen: NDArray[np.integer]) -> Batch:
        """The chosen questions as arrays, with only the sentences they need."""
        questions = self.questions[chosen]
        # Padding repeats the question's row: a row that is needed anyway.
        stories, lengths = self.stories.padded(chosen, questions[:, None])
        # Number the sentences that occur from 0: mark, count, look up. Faster than sorting them.
        needed = np.zeros(len(self.sentences.first), bool)
        needed[stories] = True
        needed[questions] = True
        rows = np.flatnonzero(needed)
        new_number = np.zeros(len(needed), np.int32)
        new_number[rows] = np.arange(len(rows), dtype=np.int32)
        words, _ = self.sentences.padded(rows, 0)
        return Batch(
            words=words,
            stories=new_number[stories],
            lengths=lengths,
            questions=new_number[questions],
            answers=self.answers[chosen],
        )

    def rarity(self, chosen: NDArray[np.integer], vocabulary_size: int) -> NDArray[np.float64]:
        """How rare each word is: min(1, log10(N / n)), where n of the chosen N sentences and questions have it.

        Each question counts the whole of its story; a word that does not occur has the maximum rarity. Of several
        tasks the one counts in which the word is most common: "is" says nothing in its own task, however seldom other
        tasks have it.
        """
        tasks = np.array(self.tasks)[chosen]
        by_task = np.array([self._rarity(chosen[tasks == task], vocabulary_size) for task in np.unique(tasks)])
        least: NDArray[np.float64] = by_task.min(axis=0)
        return least

    def _rarity(self, chosen: NDArray[np.integer], vocabulary_size: int) -> NDArray[np.float64]:
        stories, lengths = self.stories.padded(chosen, 0)
        rows = np.concatenate((stories[np.arange(stories.shape[1]) < lengths[:, None]], self.questions[chosen]))
        told = np.bincount(rows, minlength=len(self.sentences.first))
        row_of_word = np.repeat(np.arange(len(told)), self.sentences.length)
        pairs = np.unique(row_of_word * vocabulary_size + self.sentences.numbers)
        found = np.bincount(pairs % vocabulary_size, told[pairs // vocabulary_size], vocabulary_size)
        return np.minimum(1.0, np.log10(len(rows) / np.maximum(found, 1)))

    def batches(
        self, size: int, chosen: NDArray[np.integer] | None = None, *, most_sentences: int = 0
    ) -> Iterator[tuple[NDArray[np.integer], Batch]]:
        """All (or the chosen) questions in batches, those with stories of similar length together.

        With ``most_sentences`` batches of long stories are smaller, so that padded they have no more than that many
        sentences (unless a single story does).
        """
        order = np.arange(len(self)) if chosen is None else chosen
        order = order[np.argsort(self.stories.length[order], kind="stable")]
        start = 0
        while start < len(order):
            end = min(start + size, len(order))
            while most_sentences and end - start > 1 and self._padded(order[start:end]) > most_sentences:
                end = start + (end - start) // 2
            part = order[start:end]
            yield part, self.batch(part)
            start = end

    def _padded(self, sorted_part: NDArray[np.integer]) -> int:
        return len(sorted_part) * int(self.stories.length[sorted_part[-1]])


class _Texts:
    """Distinct texts as rows of word numbers."""

    def __init__(self) -> None:
        self.row_of_text: dict[str, int] = {}
        self._words: list[int] = []
        self._lengths: list[int] = []

    def add(self, text: str, ids: Sequence[int]) -> int:
        """A new row."""
        row = self.row_of_text[text] = len(self.row_of_text)
        self._words.extend(ids)
        self._lengths.append(len(ids))
        return row

    def as_runs(self) -> _Runs:
        """All of them."""
        length = np.array(self._lengths, np.int32)
        return _Runs(np.array(self._words, np.int32), np.cumsum(length, dtype=np.int64) - length, length)


def encode_stories(stories: Iterable[Story], vocabulary: Vocabulary, memory: int) -> EncodedQuestions:
    """Turn stories into numbers; each question sees its last ``memory`` sentences (0: all)."""
    texts = _Texts()
    row_of_text = texts.row_of_text

    def row(text: str) -> int:
        found = row_of_text.get(text)
        return texts.add(text, vocabulary.numbers(text)) if found is None else found

    number_of_answer: dict[str, int] = {}
    told: list[int] = []
    first, length, questions, answers, tasks = [], [], [], [], []
    for story in stories:
        start = len(told)
        try:
            told.extend([row_of_text[sentence] for sentence in story.sentences])  # mostly seen before
        except KeyError:
            told.extend(map(row, story.sentences))
        for question in story.questions:
            skipped = max(0, question.after - memory) if memory else 0
            first.append(start + skipped)
            length.append(question.after - skipped)
            questions.append(row(question.text))
            if (answer := number_of_answer.get(question.answer)) is None:
                answer = number_of_answer[question.answer] = vocabulary.answer_number(question.answer)
            answers.append(answer)
            tasks.append(story.task)
    return EncodedQuestions(
        sentences=texts.as_runs(),
        stories=_Runs(np.array(told, np.int32), np.array(first, np.int64), np.array(length, np.int32)),
        questions=np.array(questions, np.int32),
        answers=np.array(answers, np.int32),
        tasks=tuple(tasks),
    )


def encode_read(asked: Sequence[tuple[Sequence[Sentence], Sentence]], answers: Sequence[int] = ()) -> EncodedQuestions:
    """Questions after sentences that were cut into words and numbered before; the answers by number, where known."""
    texts = _Texts()

    def row(sentence: Sentence) -> int:
        found = texts.row_of_text.get(sentence.text)
        return texts.add(sentence.text, sentence.ids) if found is None else found

    stories = [[row(sentence) for sentence in sentences] for sentences, _ in asked]
    questions = [row(question) for _, question in asked]
    length = np.array([len(story) for story in stories], np.int32)
    return EncodedQuestions(
        sentences=texts.as_runs(),
        stories=_Runs(
            np.fromiter((number for story in stories for number in story), np.int32),
            np.cumsum(length, dtype=np.int64) - length,
            length,
        ),
        questions=np.array(questions, np.int32),
        answers=np.array(answers or [-1] * len(asked), np.int32),
        tasks=("",) * len(asked),
    )
