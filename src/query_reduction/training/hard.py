"""Hard sentences: those of a haystack at which a network opens its gates, although they tell it nothing."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from query_reduction.data.haystack import hide, passage
from query_reduction.data.sentences import split_story
from query_reduction.data.stories import Story
from query_reduction.data.vocabulary import Vocabulary
from query_reduction.networks.qrn import QueryReductionNetwork
from query_reduction.networks.streaming import Floats, Streaming

__all__ = ["hard_sentences"]

_LOOKS = 40
"""Questions that are asked."""
_AMONG = 1000
"""Sentences that each of their stories is hidden among."""


def hard_sentences(
    network: QueryReductionNetwork,
    vocabulary: Vocabulary,
    stories: Sequence[Story],
    haystack: Sequence[str],
    chance: random.Random,
) -> dict[str, float]:
    """Some sentences of the haystack, each with how far it opened gates in all, stretched as in use; most have none."""
    weights = {name: parameter.detach().numpy()[0] for name, parameter in network.named_parameters()}
    longest = vocabulary.longest_sentence if network.config.position_length == "task" else 0
    reader = Streaming(network.config, weights, longest)
    found: defaultdict[str, float] = defaultdict(float)
    for story in chance.choices(stories, k=_LOOKS):
        asked = chance.choice(story.questions)
        told = replace(story, sentences=story.sentences[: asked.after], questions=(asked,))
        hidden = split_story(hide(told, passage(haystack, min(_AMONG, len(haystack)), chance), chance))
        texts = hidden.sentences
        openness = np.zeros(len(texts), np.float32)

        def add(rows: NDArray[np.int64], gates: Floats, openness: Floats = openness) -> None:
            openness[rows] += gates.mean(1)

        question = reader.encode([vocabulary.numbers(asked.text)])[0]
        reader.read_vectors(question, [reader.encode([vocabulary.numbers(text) for text in texts])], add)
        own = set(told.sentences)
        for row in np.flatnonzero(openness):
            if texts[row] not in own:
                found[texts[row]] += float(openness[row])
    return dict(found)
