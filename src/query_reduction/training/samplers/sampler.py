"""What each epoch trains on: the same questions every time, or stories retold, drawn by errors or hidden in other text.

Everything drawn is a function of the seed, the epoch and the network's weights at its start, so that a resumed training
draws the same.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from query_reduction.errors import InputError
from query_reduction.qrn.variants import QRNConfig
from query_reduction.reading.protocol import Parts, Task
from query_reduction.reading.stories import StoryParts
from query_reduction.stacked.network import StackedNetwork
from query_reduction.text.stories import Story
from query_reduction.training.recipes import Recipe
from query_reduction.training.samplers.error_sampling import Focus
from query_reduction.training.samplers.hiding import Hiding
from query_reduction.training.setup import Setup
from query_reduction.training.split import Examples, Split, hold_out

__all__ = ["Sampler", "check_sampling", "make_sampler"]


class Sampler:
    """Gives the training questions of each epoch."""

    def __init__(
        self,
        train: Examples,
        dev: Examples,
        rarity: NDArray[np.floating],
        draw: Callable[[int, StackedNetwork], Examples] | None = None,
        cost: Callable[[StackedNetwork, int], Tensor | None] | None = None,
    ) -> None:
        """``draw`` gives the questions of an epoch where they are not always the same; for ``cost`` see below."""
        self.train = train
        """The training questions as they are in the data."""
        self.dev = dev
        """The development questions; they stay the same."""
        self.rarity = rarity
        """How rare each word of the vocabulary is in the training questions, from 0 to 1."""
        self._draw = draw
        self._cost = cost

    def epoch(self, number: int, network: StackedNetwork) -> Examples:
        """The training questions of an epoch; they may depend on what the network has learned so far."""
        return self.train if self._draw is None else self._draw(number, network)

    def cost(self, network: StackedNetwork, step: int) -> Tensor | None:
        """What is added to the loss of each restart in a step of the last epoch drawn."""
        return None if self._cost is None else self._cost(network, step)


def check_sampling(setup: Setup, restarts: int) -> None:
    """Refuse what cannot work, before minutes are spent on reading the stories."""
    recipe = setup.recipe
    if recipe.hard and (restarts > 1 or not isinstance(setup.network, QRNConfig)):
        raise InputError(
            "hard sentences are those at which the gates of one Query-Reduction Network open: use --restarts 1, "
            "and another --seed for another try"
        )
    if recipe.focus and (restarts > 1 or not recipe.copies):
        raise InputError(
            "focus draws the stories that one network needs, to retell them: use --restarts 1 and --copies"
        )
    if (recipe.copies or recipe.hidden) and recipe.split != "story":
        raise InputError("copies and hidden need split=story: training would contain held-out questions")


def make_sampler(parts: Parts, task: Task, split: Split, recipe: Recipe) -> Sampler:
    """The sampler that a recipe asks for."""
    hiding = _hiding(parts, split.train, task, recipe)
    if hiding:
        split = Split(split.train, hiding.development(split.dev))
    train, dev = hold_out(task, split, recipe, parts.name)
    rarity = train.questions.rarity(train.chosen, task.vocabulary.size)
    if hiding:
        rarity[hiding.foreign_words()] = 0
    if not recipe.copies and not hiding:
        return Sampler(train, dev, rarity)
    draw = _drawing(task, split.train, recipe, hiding)
    return Sampler(train, dev, rarity, draw, hiding.cost if hiding else None)


def _drawing(
    task: Task, stories: Sequence[Story], recipe: Recipe, hiding: Hiding | None
) -> Callable[[int, StackedNetwork], Examples]:
    """Draws stories for an epoch, then retells them, then hides them, as far as the recipe wants."""
    retell = task.retell(stories) if recipe.copies else lambda chance: stories
    focus = Focus(stories, recipe.focus, task.encode) if recipe.focus else None

    def draw(epoch: int, network: StackedNetwork) -> Examples:
        chance = random.Random(f"{recipe.seed}/{epoch}")
        if focus:
            count = recipe.focus_questions or recipe.copies * focus.total
            retold = list(task.retell(focus.draw(count, network, chance))(chance))
        else:
            retold = [story for _ in range(max(recipe.copies, 1)) for story in retell(chance)]
        return Examples.all_of(task.encode(hiding.training(retold, epoch, chance, network) if hiding else retold))

    return draw


def _hiding(parts: Parts, train: Sequence[Story], task: Task, recipe: Recipe) -> Hiding | None:
    haystack = parts.haystack if isinstance(parts, StoryParts) else ()
    for name in ("hard", "shut"):
        if getattr(recipe, name) and not recipe.hidden and not haystack:
            raise InputError(f"{name} has no effect unless stories are hidden in a haystack: use --hidden")
    return Hiding(haystack, train, task.vocabulary, recipe) if haystack or recipe.hidden else None
