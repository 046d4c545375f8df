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
from query_reduction.explain.trace import Trace, trace_answer
from query_reduction.networks.qrn import QueryReductionNetwork
from query_reduction.tasks.copying import Copying
from query_reduction.tasks.mentions import MentionLog
from query_reduction.tasks.preparation import Preparation

__all__ = ["Responder", "Response", "respond_with"]

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
        return respond_with([self.network], self.vocabulary, self.preparation, dialogs)[0]

    def respond_to_last(self, dialog: Story) -> Response:
        """The response to the last question of a dialog."""
        story = self.preparation.story(dialog)
        questions = encode_stories([story], self.vocabulary, self.network.config.memory)
        with torch.inference_mode():
            scores = self.network(questions.batch(np.array([len(questions) - 1])))[0, 0]
        best = scores.topk(min(_TRIED, len(scores))).indices.numpy()
        copying = self.preparation.copying
        text = self.vocabulary.answers[best[0]]
        if copying is not None:
            *_, (_, log) = copying.follow(dialog)
            text = _in_words(best, self.vocabulary, copying, log)
        last = story.questions[-1]
        return Response(
            text=text,
            confidence=float(torch.softmax(scores, 0)[best[0]]),
            unknown_words=tuple(self.vocabulary.unknown_words([*story.sentences[: last.after], last.text])),
        )

    def trace(self, dialog: Story) -> Trace:
        """What the network did with the dialog as it reads it, at the last question."""
        story = self.preparation.story(dialog)
        last = story.questions[-1]
        sentences = story.sentences[: last.after]
        return trace_answer(self.network, self.vocabulary, sentences, last.text, endings=False)


def respond_with(
    networks: Sequence[QueryReductionNetwork],
    vocabulary: Vocabulary,
    preparation: Preparation,
    dialogs: Sequence[Story],
) -> list[list[str]]:
    """The responses of several networks to all questions of the dialogs; what they share is done once."""
    config = networks[0].config
    questions = encode_stories(preparation.stories(dialogs), vocabulary, config.memory)
    best = np.zeros((len(networks), len(questions), min(_TRIED, len(vocabulary.answers))), np.int64)
    for part, batch in questions.batches(_BATCH):
        with torch.inference_mode():
            for at, network in enumerate(networks):
                best[at, part] = network(batch)[0].topk(best.shape[2]).indices.numpy()
    copying = preparation.copying
    if copying is None:
        return [[vocabulary.answers[row[0]] for row in of_network] for of_network in best]
    responses: list[list[str]] = [[] for _ in networks]
    logs = (log for dialog in dialogs for _, log in copying.follow(dialog))
    for number, log in enumerate(logs):
        in_words: dict[bytes, str] = {}
        for at, given in enumerate(responses):
            row = best[at, number]
            key = row.tobytes()
            if key not in in_words:
                in_words[key] = _in_words(row, vocabulary, copying, log)
            given.append(in_words[key])
    return responses


def _in_words(best: NDArray[np.int64], vocabulary: Vocabulary, copying: Copying, log: MentionLog) -> str:
    """The best of these responses that can be said: one needs the names it is about."""
    texts = [vocabulary.answers[number] for number in best]
    return next((filled for text in texts if (filled := copying.fill(text, log)) is not None), texts[0])
