"""Hard sentences: those of a haystack at which a network opens its gates, although they tell it nothing."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

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
    """Some sentences of the haystack, each with how far it opened gates in all, stretched as in use; most have none.

    All layers count alike: in some of them hardly anything opens, and that disturbs the most.
    """
    weights = {name: parameter.detach().numpy()[0] for name, parameter in network.named_parameters()}
    longest = vocabulary.longest_sentence if network.config.position_length == "task" else 0
    reader = Streaming(network.config, weights, longest)
    found: list[defaultdict[str, float]] = [defaultdict(float) for _ in range(network.config.layers)]
    for story in chance.choices(stories, k=_LOOKS):
        asked = chance.choice(story.questions)
        told = replace(story, sentences=story.sentences[: asked.after], questions=(asked,))
        hidden = split_story(hide(told, passage(haystack, min(_AMONG, len(haystack)), chance), chance))
        question = reader.encode([vocabulary.numbers(asked.text)])[0]
        opened: list[tuple[NDArray[np.int64], Floats]] = []

        def keep(rows: NDArray[np.int64], gates: Floats, opened: list[Any] = opened) -> None:
            opened.append((rows, gates.mean(1)))

        vectors = reader.encode([vocabulary.numbers(text) for text in hidden.sentences])
        reader.read_vectors(question, [vectors], keep)
        own = set(told.sentences)
        for layer, (rows, means) in zip(found, opened, strict=True):
            for row, openness in zip(rows.tolist(), means.tolist(), strict=True):
                if openness and hidden.sentences[row] not in own:
                    layer[hidden.sentences[row]] += openness
    total: defaultdict[str, float] = defaultdict(float)
    for layer in found:
        whole = sum(layer.values())
        for text, openness in layer.items():
            total[text] += openness / whole
    return dict(total)
