"""Answers to many questions at once, each with the sentences it was read from; responses to many turns of dialogs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from query_reduction.heads.softmax import best
from query_reduction.network import Floats, Network, TracedBatch
from query_reduction.reading.question import ReadQuestion
from query_reduction.reading.stories import Answer, StoryTask, answer_of, rank
from query_reduction.text.encoding import encode_read
from query_reduction.text.sentences import split_texts
from query_reduction.text.stories import Question, Story

if TYPE_CHECKING:
    from query_reduction.dialog.dialogs import DialogTask

__all__ = ["AT_ONCE", "Asked", "Prediction", "in_chunks", "predict_answers", "predict_responses", "questions_of"]

Asked = tuple[tuple[str, ...], Question]
"""The sentences that a question sees, and the question."""

AT_ONCE = 2048
"""So many questions, with those of the last story, are read, answered and written together. Which of them share a batch
decides the last bits of an answer, so it is the same for every run."""
_BATCH = 512
_MOST_SENTENCES = 1 << 16
"""Sentences of a padded batch: memory grows with them, whatever the length of stories."""
_LEAST_SHARE = 0.2
_MOST_SUPPORT = 5


@dataclass(frozen=True, slots=True)
class Prediction(Answer):
    """An answer, and where it was read."""

    support: tuple[int, ...] = ()
    """Positions (from 0) of the sentences that each contributed at least a fifth, those that contributed most first;
    empty if the reading was spread over many, or the network does not show its reading."""


def in_chunks(stories: Iterable[Story]) -> Iterator[list[Story]]:
    """Stories or dialogs, as many at a time as are answered together; those without questions are left out."""
    chunk: list[Story] = []
    questions = 0
    for story in stories:
        if story.questions:
            chunk.append(story)
            questions += len(story.questions)
        if questions >= AT_ONCE:
            yield chunk
            chunk, questions = [], 0
    if chunk:
        yield chunk


def questions_of(stories: Iterable[Story]) -> list[Asked]:
    """The questions of some stories."""
    return [(story.sentences[: question.after], question) for story in stories for question in story.questions]


def predict_responses(network: Network, task: DialogTask, dialogs: Sequence[Story]) -> list[Prediction]:
    """The responses to all turns of some dialogs, in order, each after the turns before it as they are there."""
    responses = task.respond_to_all(network, dialogs)
    return [
        Prediction(
            response.text,
            response.confidence,
            (),
            ReadQuestion(question=question.text, unknown_words=response.unknown_words),
        )
        for response, (_, question) in zip(responses, questions_of(dialogs), strict=True)
    ]


def predict_answers(network: Network, task: StoryTask, stories: Sequence[Story]) -> list[Prediction]:
    """The answers to all questions of some stories, in order."""
    asked = questions_of(stories)
    split = [_facts(task, *split_texts(sentences)) for sentences, _ in asked]
    questions = [
        task.reader.read(sentences, question.text) for (sentences, _), (_, question) in zip(split, asked, strict=True)
    ]
    encoded = encode_read([(read.within_memory, read.asked) for read in questions])
    predictions: list[Prediction | None] = [None] * len(asked)
    for part, batch in encoded.batches(_BATCH, most_sentences=_MOST_SENTENCES):
        chosen: list[int] = part.tolist()
        record = network.trace(batch)
        ranked = rank(network.scores(batch) if record is None else record.scores, task.vocabulary.answers)
        for number, best_answers, support in zip(chosen, ranked, _supports(record, len(chosen)), strict=True):
            read, origin = questions[number], split[number][1]
            positions = read.positions
            # Two sentences of one text are one position of the story as it was given.
            places = tuple(dict.fromkeys([origin[positions[place]] for place in support]))
            answer = answer_of(best_answers, read, task.calibration)
            predictions[number] = Prediction(
                answer.text, answer.confidence, answer.runners_up, read, answer.doubts, places
            )
    return [prediction for prediction in predictions if prediction is not None]


def _facts(task: StoryTask, sentences: Sequence[str], origin: Sequence[int]) -> tuple[list[str], list[int]]:
    """Sentences that tell two facts as two, each with the text it comes from."""
    facts = [(fact, place) for text, place in zip(sentences, origin, strict=True) for fact in task.facts([text])]
    return [fact for fact, _ in facts], [place for _, place in facts]


def _supports(read: TracedBatch | None, questions: int) -> list[list[int]]:
    """For each question the sentences that contributed most, as places among those that were read."""
    if read is None or not read.layers:
        return [[]] * questions
    shares = _shares(np.mean([layer.weights for layer in read.layers], axis=0))
    most = best(shares, _MOST_SUPPORT)
    values = np.take_along_axis(shares, most, axis=1)
    return [
        [place for place, share in zip(*row, strict=True) if share >= _LEAST_SHARE]
        for row in zip(most.tolist(), values.tolist(), strict=True)
    ]


def _shares(contributions: Floats) -> Floats:
    total = contributions.sum(1, keepdims=True)
    return contributions / np.where(total > 0, total, 1)
