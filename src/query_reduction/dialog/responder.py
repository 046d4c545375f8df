"""Responses in words: network, vocabulary and preparation together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from query_reduction.data.encoding import encode_stories
from query_reduction.data.stories import Story
from query_reduction.data.vocabulary import Vocabulary
from query_reduction.dialog.preparation import Preparation
from query_reduction.model import QueryReductionNetwork

__all__ = ["Responder", "Response"]

_BATCH = 256


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

    @torch.inference_mode()
    def respond(self, dialogs: Sequence[Story]) -> list[str]:
        """The responses to all questions of the dialogs, each after what was really said before it."""
        stories = self.preparation.stories(dialogs)
        questions = encode_stories(stories, self.vocabulary, self.network.config.memory)
        best = np.zeros(len(questions), np.int64)
        for part, batch in questions.batches(_BATCH):
            best[part] = self.network(batch)[0].argmax(1).numpy()
        said = [self.vocabulary.answers[number] for number in best]
        copying = self.preparation.copying
        if copying is None:
            return said
        responses = []
        for dialog in dialogs:
            for _, log in copying.follow(dialog):
                responses.append(copying.fill(said[len(responses)], log))
        return responses

    @torch.inference_mode()
    def respond_to_last(self, dialog: Story) -> Response:
        """The response to the last question of a dialog."""
        story = self.preparation.story(dialog)
        questions = encode_stories([story], self.vocabulary, self.network.config.memory)
        scores = self.network(questions.batch(np.array([len(questions) - 1])))[0, 0]
        number = int(scores.argmax())
        text = self.vocabulary.answers[number]
        if self.preparation.copying is not None:
            log = None
            for _, log in self.preparation.copying.follow(dialog):
                pass
            text = self.preparation.copying.fill(text, log) if log is not None else text
        last = story.questions[-1]
        unknown = self.vocabulary.unknown_words([*story.sentences[: last.after], last.text])
        return Response(text, float(torch.softmax(scores, 0)[number]), tuple(unknown))
