"""Gates that are to stay shut at sentences of a haystack: a cost on those that do not, and which sentences open most.

A sentence whose gates are all shut changes no state, so a story hidden among a million of them reads like the story
alone. It is enough, then, to try sentences at single places of a story, and to compute no more than their gates there:
a training step tries thousands of pairs of sentence and place, and no text need be long.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import accumulate

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from query_reduction.qrn.network import LayerGates, QueryReductionNetwork
from query_reduction.stacked.tensors import TensorBatch
from query_reduction.text.encoding import encode_stories
from query_reduction.text.haystack import hide
from query_reduction.text.stories import Question, Story
from query_reduction.text.vocabulary import Vocabulary
from query_reduction.training.recipes import Recipe

__all__ = ["Shutting", "hard_sentences"]

_STORIES = 16
"""Stories whose queries are tried in a step."""
_PLACES = 4
"""Places in each of them."""
_SENTENCES = 48
"""Sentences that are tried at all these places."""
_EVERY = 2
"""Only every second step has the cost, twice: half the time, and the same sum."""
_LOOKS = 64
"""Places at which all sentences of a haystack are tried, to find the hard ones."""
_TOGETHER = 1024
"""Sentences that are encoded together."""


class Shutting:
    """The cost of open gates in one epoch."""

    def __init__(
        self,
        vocabulary: Vocabulary,
        recipe: Recipe,
        stories: Sequence[Story],
        sentences: Sequence[str],
        hard: Mapping[str, float],
        epoch: int,
    ) -> None:
        """``hard`` are those of the sentences to try more often, with their shares: half of the tries, if there are
        any."""
        self._vocabulary, self._recipe, self._epoch = vocabulary, recipe, epoch
        self._stories, self._sentences = stories, sentences
        self._hard, self._shares = list(hard), list(accumulate(hard.values()))

    def cost(self, network: QueryReductionNetwork, step: int) -> Float[Tensor, " restart"] | None:
        """What the gates of all layers cost at some sentences and places; nothing in a step without a try."""
        if step % _EVERY:
            return None
        recipe = self._recipe
        chance = random.Random(f"{recipe.seed}/{self._epoch}/{step}")
        drawn = chance.choices(self._sentences, k=_SENTENCES)
        if self._hard:
            drawn[::2] = chance.choices(self._hard, cum_weights=self._shares, k=len(drawn[::2]))
        places = _queries(network, self._vocabulary, chance.choices(self._stories, k=_STORIES), drawn, chance)
        vectors = network.encode(_words(self._vocabulary, drawn))
        costs = [
            _excess(network, layer, vectors[:, None], queries[:, :, None], recipe.shut_below).mean((1, 2, 3))
            for layer, queries in enumerate(places)
        ]
        return _EVERY * recipe.shut * torch.stack(costs).sum(0)


def hard_sentences(
    network: QueryReductionNetwork,
    vocabulary: Vocabulary,
    recipe: Recipe,
    stories: Sequence[Story],
    sentences: Sequence[str],
    chance: random.Random,
) -> dict[str, float]:
    """Those of the sentences at which gates are not as shut as they should be, each with how much it costs.

    All layers count alike: in some of them hardly anything opens, and that disturbs the most.
    """
    costs = np.zeros(len(sentences))
    with torch.no_grad():
        parts = [sentences[start : start + _TOGETHER] for start in range(0, len(sentences), _TOGETHER)]
        vectors = torch.cat([network.encode(_words(vocabulary, part)) for part in parts], 1)
        looks = _queries(network, vocabulary, chance.choices(stories, k=_LOOKS), sentences, chance)
        for layer, queries in enumerate(looks):
            total = torch.zeros(len(sentences))
            for place in chance.sample(range(queries.shape[1]), _LOOKS):
                query = queries[:, None, place, None]
                total += _excess(network, layer, vectors[:, None], query, recipe.shut_below).mean((0, 1, 3))
            if whole := float(total.sum()):
                costs += total.numpy() / whole
    return {sentences[row]: float(costs[row]) for row in np.flatnonzero(costs).tolist()}


def _queries(
    network: QueryReductionNetwork,
    vocabulary: Vocabulary,
    stories: Sequence[Story],
    others: Sequence[str],
    chance: random.Random,
) -> list[Float[Tensor, "restart place dim"]]:
    """What each layer asks at some places of the stories: those at which some other sentences stand for now."""
    hidden, theirs = [], []
    for story in stories:
        asked = chance.choice(story.questions)
        seen = replace(story, sentences=story.sentences[: asked.after], questions=(asked,))
        among = hide(seen, chance.choices(others, k=_PLACES), chance)
        hidden.append(among)
        theirs.append([sentence not in seen.sentences for sentence in among.sentences])
    batch = TensorBatch.of(encode_stories(hidden, vocabulary, 0).batch(np.arange(len(hidden))))
    at = torch.zeros(batch.stories.shape, dtype=torch.bool)
    for row, marks in zip(at, theirs, strict=True):
        row[: len(marks)] = torch.tensor(marks)
    table = network.encode(batch.words)
    asked_first = table[:, batch.questions.long()]
    recorded: list[LayerGates] = []
    network.read(table, asked_first, batch.stories, batch.lengths, recorded)
    return [asked_first[:, at.nonzero()[:, 0]], *(layer.reduced[:, at] for layer in recorded[:-1])]


def _excess(network: QueryReductionNetwork, layer: int, x: Tensor, q: Tensor, bound: float) -> Tensor:
    """By how much each gate's score exceeds the bound."""
    return (network.update_scores(layer, x * q) - bound).relu()


def _words(vocabulary: Vocabulary, sentences: Sequence[str]) -> Tensor:
    """The words of sentences as a rectangle, filled up with no word."""
    encoded = encode_stories([Story((), tuple(Question(text, "", 0) for text in sentences))], vocabulary, 0)
    words, _ = encoded.sentences.padded(encoded.questions, 0)
    return torch.from_numpy(words)
