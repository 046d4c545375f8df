"""Answers about a text of any length, read sentence by sentence as it comes."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice

import numpy as np

from query_reduction.errors import InputError
from query_reduction.network import Network
from query_reduction.qrn.streaming import BLOCK, Streaming
from query_reduction.reading.question import ReadQuestion
from query_reduction.reading.stories import Answer, StoryTask, answer_of, rank
from query_reduction.text.sentences import sentences_of_lines

__all__ = ["answer_recent", "answer_streaming"]


class _Counted:
    """The sentences of some lines that are read; counts all of them."""

    def __init__(
        self, reads: Callable[[str], bool], lines: Iterable[str], progress: Callable[[int], None] | None
    ) -> None:
        self._reads, self._lines, self._progress = reads, lines, progress
        self.told = self.read = 0

    def __iter__(self) -> Iterator[str]:
        for sentence in sentences_of_lines(self._lines):
            self.told += 1
            if self._progress is not None and self.told % BLOCK == 0:
                self._progress(self.told)
            if self._reads(sentence):
                self.read += 1
                yield sentence


def answer_streaming(
    network: Streaming,
    answer_weight: np.typing.NDArray[np.float32],
    task: StoryTask,
    lines: Iterable[str],
    question: str,
    progress: Callable[[int], None] | None = None,
) -> Answer:
    """Answer a question about a text; ``progress`` is told from time to time how many sentences were read."""
    sentences = _Counted(task.reader.reads, lines, progress)
    state = network.read(task.vocabulary.numbers(question), _blocks(task, sentences))
    if not sentences.told:
        raise InputError("story: it has no sentences")
    asked = task.reader.sentence(question)
    read = ReadQuestion(
        question=question,
        sentence_count=sentences.told,
        asked=asked,
        unknown_words=asked.unknown,
        is_guess=not sentences.read,
    )
    return answer_of(rank((answer_weight @ state)[None], task.vocabulary.answers)[0], read, task.calibration)


def _blocks(task: StoryTask, sentences: Iterable[str]) -> Iterator[Sequence[Sequence[int]]]:
    numbers = task.vocabulary.numbers
    left = iter(sentences)
    while block := [numbers(sentence) for sentence in islice(left, BLOCK)]:
        yield block


def answer_recent(
    network: Network,
    task: StoryTask,
    lines: Iterable[str],
    question: str,
    progress: Callable[[int], None] | None = None,
) -> Answer:
    """The same for a model that reads only the last sentences: only those are kept."""
    reader = task.reader

    def reads(sentence: str) -> bool:
        names = reader.names
        return (
            reader.reads(sentence)
            or (reader.coreference is not None and reader.coreference.speaks_of_somebody(sentence))
            or (names is not None and reader.reads(*names.read([sentence], "").sentences))  # in known names
        )

    sentences = _Counted(reads, lines, progress)
    last = deque(sentences, maxlen=task.options.memory or None)
    if not sentences.told:
        raise InputError("story: it has no sentences")
    read = reader.read(list(last) or ["."], question)
    answer = task.answer(network, [read])[0]
    about = replace(
        read,
        story=(),
        sentences=(),
        kept=(),
        omitted=(),
        sentence_count=sentences.told,
        beyond_memory=sentences.read - len(last),
        is_guess=not last,
    )
    return replace(answer, read=about)
