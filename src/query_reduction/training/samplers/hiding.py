"""Stories hidden in other text, drawn anew in every epoch, so that a network learns to ignore irrelevant sentences."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from query_reduction.errors import InputError
from query_reduction.qrn.network import QueryReductionNetwork
from query_reduction.stacked.network import StackedNetwork
from query_reduction.text.haystack import hide, passage
from query_reduction.text.sentences import split_sentences
from query_reduction.text.stories import Story
from query_reduction.text.vocabulary import UNKNOWN_WORD, Vocabulary
from query_reduction.training.recipes import Recipe
from query_reduction.training.samplers.open_gate_cost import Shutting, hard_sentences

__all__ = ["Hiding"]

_DEV_SHARE = 0.1
"""The share of the haystack, at its end, that only development stories are hidden in."""
_DEV_TIMES = 40
"""Development stories are hidden among this many times as many sentences as training stories."""
_MORE_DECOYS = (1.0, 0.6, 0.4)
"""The probability that a decoy gets a word of the stories, that it then gets a second one, and then a third."""


_SHORT_DECOYS = 0.3
"""This share of the decoys is a piece of the sentence, or as many words that are not known."""
_SHORT = 5
"""The most words of such a piece."""


class Hiding:
    """Hides stories among the sentences of a haystack."""

    def __init__(
        self, haystack: Sequence[str], stories: Iterable[Story], vocabulary: Vocabulary, recipe: Recipe
    ) -> None:
        if not haystack:
            raise InputError("hidden has no effect without a haystack")
        if not recipe.hidden:
            raise InputError("a haystack has no effect unless stories are hidden in it: use --recipe long, or --hidden")
        kept = len(haystack) - round(_DEV_SHARE * len(haystack))
        self._haystack, self._dev = haystack[:kept], haystack[kept:]
        self._most_dev = _DEV_TIMES * recipe.hidden
        if recipe.hidden > len(self._haystack) or self._most_dev > len(self._dev):
            raise InputError(
                f"the haystack is too short to hide stories among {recipe.hidden} of its sentences: nine tenths of it "
                f"are for training, and development stories are hidden among {self._most_dev} of the rest"
            )
        self._recipe = recipe
        texts = {text for story in stories for text in (*story.sentences, *(asked.text for asked in story.questions))}
        self._words = sorted({word for text in texts for word in text.strip(" .?!").split()})
        self._known = {number for text in texts for number in vocabulary.numbers(text)}
        self._vocabulary = vocabulary
        every = sorted({word for text in self._haystack for word in text.split()})
        self._shutting: Shutting | None = None
        self._rare = [word for word in every if vocabulary.numbers(word) == [UNKNOWN_WORD]]

    def foreign_words(self) -> NDArray[np.bool_]:
        """Which words of the vocabulary no story has.

        Their vectors must start at zero: random ones would open gates at random, which would have to be unlearned.
        """
        foreign = np.ones(self._vocabulary.size, np.bool_)
        foreign[list(self._known)] = False
        return foreign

    def training(
        self, stories: Sequence[Story], epoch: int, chance: random.Random, network: StackedNetwork
    ) -> list[Story]:
        """Training stories, each among as many sentences as the epoch allows, or fewer; hard ones are those for
        ``network``."""
        recipe = self._recipe
        since = max(epoch + 1 - recipe.hidden_after, 0)
        most = round(recipe.hidden * min(since / (recipe.hidden_growth + 1), 1.0))
        if not most:
            return list(stories)
        haystack = [self._decoy(text, chance) if chance.random() < recipe.decoys else text for text in self._haystack]
        sentences = [sentence for text in haystack for sentence in split_sentences(text)]
        hard: Mapping[str, float] = {}
        if isinstance(network, QueryReductionNetwork):
            if recipe.hard:
                hard = hard_sentences(network, self._vocabulary, recipe, stories, sentences, chance)
            if recipe.shut:
                self._shutting = Shutting(self._vocabulary, recipe, stories, sentences, hard, epoch)
        texts, shares = list(hard), list(accumulate(hard.values()))
        result = []
        for story in stories:
            count = chance.randint(0, most)
            drawn = round(recipe.hard * count) if hard else 0
            among = list(passage(haystack, count - drawn, chance))
            for text in chance.choices(texts, cum_weights=shares, k=drawn) if drawn else ():
                among.insert(chance.randint(0, len(among)), text)
            result.append(hide(story, among, chance))
        return result

    def cost(self, network: StackedNetwork, step: int) -> Tensor | None:
        """What to add to the loss of a step in the epoch of ``training``: a cost of gates that are open."""
        if self._shutting is None or not isinstance(network, QueryReductionNetwork):
            return None
        return self._shutting.cost(network, step)

    def development(self, stories: Iterable[Story]) -> list[Story]:
        """Development stories, each among many sentences that training does not have."""
        chance = random.Random(self._recipe.seed)
        return [hide(story, passage(self._dev, self._most_dev, chance), chance) for story in stories]

    def _decoy(self, text: str, chance: random.Random) -> str:
        """The sentence with words of the stories in the place of some of its own; or a short one.

        A few words alone have a large part in the sentence's meaning, and a network that meets them, or words that it
        does not know, only among many others may well take them for a fact.
        """
        words = text.split()
        if chance.random() < _SHORT_DECOYS:
            start = chance.randrange(len(words))
            words = words[start : start + chance.randint(1, _SHORT)]
            if self._rare and chance.random() < 0.5:
                words = chance.choices(self._rare, k=len(words))
            if chance.random() < 0.5:
                return " ".join(words)
        for share in _MORE_DECOYS[: len(words)]:
            if chance.random() >= share:
                break
            words[chance.randrange(len(words))] = chance.choice(self._words)
        return " ".join(words)
