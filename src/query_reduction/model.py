"""A trained network that answers questions about stories in words.

model = load("runs/qa2-2r")
answer = model.answer(["Mary got the milk.", "Mary went to the garden."], "Where is the milk?")
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from query_reduction.data.encoding import encode_stories
from query_reduction.data.stories import Question, Story
from query_reduction.errors import InputError
from query_reduction.explain.trace import Trace, trace_answer
from query_reduction.ready import find_model
from query_reduction.training.checkpoint import SavedModel, load_model

__all__ = ["Answer", "Reader", "load"]

_RUNNERS_UP = 3


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer in words, how sure the model is, and what it did not understand."""

    text: str
    confidence: float
    """The model's probability of the answer, from 0 to 1."""
    runners_up: tuple[tuple[str, float], ...]
    """The next best answers with their probabilities."""
    unknown_words: tuple[str, ...]
    """Words of story and question the model never saw in training; it read them as nothing."""


class Reader:
    """Answers questions with a trained model."""

    def __init__(self, model: SavedModel) -> None:
        self.model = model
        self.network = model.network()

    @property
    def decodes_questions(self) -> bool:
        """Whether the model can say its reduced queries in words."""
        return self.model.config.decode_questions

    def answer(self, sentences: Sequence[str], question: str) -> Answer:
        """Answer one question about a story."""
        return self.answer_many([(sentences, question)])[0]

    @torch.inference_mode()
    def answer_many(self, asked: Sequence[tuple[Sequence[str], str]]) -> list[Answer]:
        """Answer several questions, each about its own story, in one batch."""
        for sentences, question in asked:
            self._check(sentences, question)
        if not asked:
            return []
        vocabulary = self.model.vocabulary
        questions = encode_stories((_story(*pair) for pair in asked), vocabulary, self.model.config.memory)
        scores = self.network(questions.batch(np.arange(len(asked))))[0]
        shown = min(1 + _RUNNERS_UP, len(vocabulary.answers))
        best = torch.softmax(scores, dim=1).topk(shown)
        answers = []
        for (sentences, question), values, indices in zip(
            asked, best.values.tolist(), best.indices.tolist(), strict=True
        ):
            ranked = [(vocabulary.answers[index], value) for value, index in zip(values, indices, strict=True)]
            unknown = tuple(vocabulary.unknown_words([*sentences, question]))
            answers.append(Answer(ranked[0][0], ranked[0][1], tuple(ranked[1:]), unknown))
        return answers

    def trace(self, sentences: Sequence[str], question: str) -> Trace:
        """What the network did at every sentence: gates, reduced queries and contributions."""
        self._check(sentences, question)
        return trace_answer(self.network, self.model.vocabulary, sentences, question)

    def _check(self, sentences: Sequence[str], question: str) -> None:
        if self.model.preparation is not None:
            raise InputError("this model holds conversations: use 'qrn chat'")
        if isinstance(sentences, str):
            raise InputError("a story is a list of sentences, not one text; use text.splitlines()")
        if not sentences:
            raise InputError("the story has no sentences")
        if not question.strip():
            raise InputError("the question is empty")


def load(name: str | Path) -> Reader:
    """Open a model file, the folder of a training run, or a ready model by its name (``task2``)."""
    return Reader(load_model(find_model(name)))


def _story(sentences: Sequence[str], question: str) -> Story:
    return Story(tuple(sentences), (Question(question, "", len(sentences)),))
