"""What a trained network's probabilities are worth, measured on development questions.

The questions are asked three times: as they are; with one sentence of the story taken away, which shows how many
sentences an answer rests on; and with one word of the question hidden.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from query_reduction.heads.softmax import softmax
from query_reduction.network import Network
from query_reduction.reading.calibration import Calibration, Numbers
from query_reduction.reading.question import ReadQuestion
from query_reduction.reading.stories import StoryTask
from query_reduction.text.encoding import EncodedQuestions, encode_read
from query_reduction.text.sentences import split_story
from query_reduction.text.stories import Story
from query_reduction.text.vocabulary import UNKNOWN_WORD, Sentence
from query_reduction.training.split import Examples

__all__ = ["calibrate_on_questions", "calibrate_on_stories"]

_MOST_QUESTIONS = 3000
_BATCH = 256
_MOST_IGNORED = 0.6
"""A word that people add to a question says more than one drawn from it, of which many are "the" and "is"."""


def calibrate_on_questions(network: Network, questions: Examples) -> Calibration:
    """From questions as numbers: nothing can be taken away from them."""
    chosen = questions.chosen[:_MOST_QUESTIONS]
    return Calibration.learned(*_answers(network, questions.questions, chosen))


def calibrate_on_stories(network: Network, task: StoryTask, stories: Sequence[Story]) -> Calibration:
    """From whole stories that training has not seen."""
    told = [split_story(story) for story in stories] if task.options.writing == "any" else stories
    asked = [(story.sentences[: question.after], question) for story in told for question in story.questions]
    asked = asked[:: max(1, len(asked) // _MOST_QUESTIONS)]
    read = [task.reader.read(sentences, question.text) for sentences, question in asked]
    answers = [
        task.vocabulary.answer_number(one.in_known_names(question.answer))
        for one, (_, question) in zip(read, asked, strict=True)
    ]

    def ask(parts: Sequence[tuple[Sequence[Sentence], Sentence]]) -> tuple[Numbers, NDArray[np.bool_]]:
        encoded = encode_read(parts, answers)
        return _answers(network, encoded, np.arange(len(encoded)))

    probabilities, right = ask([(one.within_memory, one.asked) for one in read])
    # What is taken away is a matter of chance, the same for every network.
    rng = np.random.default_rng(0)
    shorter = ask([(_without_one(one.within_memory, rng), one.asked) for one in read])[1]
    hidden = ask([(one.within_memory, _with_a_word_hidden(one, rng)) for one in read])[1]
    lengths = np.array([len(one.within_memory) for one in read])
    longer = right & (lengths > 1)
    # An answer that rests on k of n sentences is lost with a chance of k / n when one of them goes.
    matters = float((lengths * (right & ~shorter))[longer].mean()) if longer.any() else 1.0
    ignored = float(hidden[right].mean()) if right.any() else 0.5
    return Calibration.learned(probabilities, right, matters=max(matters, 1.0), ignored=min(ignored, _MOST_IGNORED))


def _answers(
    network: Network, questions: EncodedQuestions, chosen: NDArray[np.integer]
) -> tuple[Numbers, NDArray[np.bool_]]:
    """The probability of the best answer to each question, and whether it is right."""
    place = np.full(len(questions), -1)
    place[chosen] = np.arange(len(chosen))
    probabilities, right = np.zeros(len(chosen)), np.zeros(len(chosen), bool)
    for part, batch in questions.batches(_BATCH, chosen):
        shares = softmax(network.scores(batch))
        probabilities[place[part]] = shares.max(1)
        right[place[part]] = shares.argmax(1) == batch.answers
    return probabilities, right


def _without_one(sentences: tuple[Sentence, ...], rng: np.random.Generator) -> tuple[Sentence, ...]:
    if len(sentences) < 2:
        return sentences
    gone = int(rng.integers(len(sentences)))
    return sentences[:gone] + sentences[gone + 1 :]


def _with_a_word_hidden(read: ReadQuestion, rng: np.random.Generator) -> Sentence:
    asked = read.asked
    if not asked.ids:
        return asked
    hidden = int(rng.integers(len(asked.ids)))
    ids = (*asked.ids[:hidden], UNKNOWN_WORD, *asked.ids[hidden + 1 :])
    # Texts are told apart by what is written.
    return replace(asked, text=f"{asked.text} ({hidden} hidden)", ids=ids)
