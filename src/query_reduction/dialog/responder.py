"""Responses in words: network, vocabulary and preparation together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from query_reduction.data.encoding import encode_stories
from query_reduction.data.stories import Story
from query_reduction.data.vocabulary import Vocabulary
from query_reduction.dialog.mentions import MentionLog
from query_reduction.dialog.preparation import Preparation
from query_reduction.interpret.trace import Trace, trace_answer
from query_reduction.model import QueryReductionNetwork

__all__ = ["Responder", "Response"]

_BATCH = 256
_TRIED = 5
"""How many of the best responses are tried, until one can be said."""


@dataclass(frozen=True, slots=True)
class Response:
    """A response, how sure the model is, and what it did not understand."""

    text: str
    confidence: float
    """The network's probability of what is said; which names are meant is not part of it."""
    unknown_words: tuple[str, ...]
    """Words of the dialog the network reads as nothing."""


class Responder:
    """Gives the system's side of dialogs."""

    def __init__(self, network: QueryReductionNetwork, vocabulary: Vocabulary, preparation: Preparation) -> None:
        self.network = network
        self.vocabulary = vocabulary
        self.preparation = preparation

    def respond(self, dialogs: Sequence[Story]) -> list[str]:
        """The responses to all questions of the dialogs, each after what was really said before it."""
        questions = encode_stories(self.preparation.stories(dialogs), self.vocabulary, self.network.config.memory)
        best = np.zeros((len(questions), min(_TRIED, len(self.vocabulary.answers))), np.int64)
        for part, batch in questions.batches(_BATCH):
            with torch.inference_mode():
                best[part] = self.network(batch)[0].topk(best.shape[1]).indices.numpy()
        copying = self.preparation.copying
        if copying is None:
            return [self.vocabulary.answers[row[0]] for row in best]
        logs = (log for dialog in dialogs for _, log in copying.follow(dialog))
        return [self._in_words(row, log) for row, log in zip(best, logs, strict=True)]

    def respond_to_last(self, dialog: Story) -> Response:
        """The response to the last question of a dialog."""
        story = self.preparation.story(dialog)
        questions = encode_stories([story], self.vocabulary, self.network.config.memory)
        with torch.inference_mode():
            scores = self.network(questions.batch(np.array([len(questions) - 1])))[0, 0]
        best = scores.topk(min(_TRIED, len(scores))).indices.numpy()
        copying = self.preparation.copying
        log = list(copying.follow(dialog))[-1][1] if copying else None
        last = story.questions[-1]
        return Response(
            text=self._in_words(best, log),
            confidence=float(torch.softmax(scores, 0)[best[0]]),
            unknown_words=tuple(self.vocabulary.unknown_words([*story.sentences[: last.after], last.text])),
        )

    def trace(self, dialog: Story) -> Trace:
        """What the network did with the dialog as it reads it, at the last question."""
        story = self.preparation.story(dialog)
        last = story.questions[-1]
        sentences = story.sentences[: last.after]
        return trace_answer(self.network, self.vocabulary, sentences, last.text, endings=False)

    def _in_words(self, best: NDArray[np.int64], log: MentionLog | None) -> str:
        """The best of these responses that can be said: one needs the names it is about."""
        texts = [self.vocabulary.answers[number] for number in best]
        copying = self.preparation.copying
        if copying is None or log is None:
            return texts[0]
        return next((filled for text in texts if (filled := copying.fill(text, log)) is not None), texts[0])
