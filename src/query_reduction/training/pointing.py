"""Training of networks that point at the text: a fixed number of epochs, the average of the last weights kept."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from query_reduction.errors import InputError
from query_reduction.heads.chain import ACTIONS, FIRST, NEXT
from query_reduction.pointing.arrays import Weights
from query_reduction.pointing.batch import Batch
from query_reduction.pointing.collate import collate
from query_reduction.pointing.config import PointerConfig, PointerRecipe, shapes
from query_reduction.pointing.examples import Example, examples_of
from query_reduction.pointing.lexicon import UNKNOWN, Lexicon
from query_reduction.pointing.network import Read, read
from query_reduction.recurrence.scan import scan
from query_reduction.text.stories import Story

__all__ = ["TensorOperations", "losses", "train_pointer"]

Arrays = dict[str, NDArray[np.float32]]


class TensorOperations:
    """See ``pointing.arrays.Operations``: PyTorch, with dropout drawn from a generator of its own."""

    def __init__(self, dropout: float = 0.0, generator: torch.Generator | None = None) -> None:
        self._keep = 1 - dropout
        self._generator = generator

    def join(self, parts: Sequence[Tensor], axis: int = -1) -> Tensor:
        """See ``Operations``."""
        return torch.cat(list(parts), axis)

    def tanh(self, values: Tensor) -> Tensor:
        """See ``Operations``."""
        return torch.tanh(values)

    def sigmoid(self, values: Tensor) -> Tensor:
        """See ``Operations``."""
        return torch.sigmoid(values)

    def softmax(self, scores: Tensor) -> Tensor:
        """See ``Operations``."""
        return torch.softmax(scores, -1)

    def highest(self, values: Tensor, axis: int) -> Tensor:
        """See ``Operations``."""
        return values.amax(axis)

    def zeros(self, shape: tuple[int, ...], like: Tensor) -> Tensor:
        """See ``Operations``."""
        return like.new_zeros(shape)

    def inside(self, counts: Tensor, length: int, like: Tensor) -> Tensor:
        """See ``Operations``."""
        return (torch.arange(length) < counts[:, None]).to(like.dtype)

    def scan(self, gate: Tensor, value: Tensor, lengths: Tensor, *, reverse: bool = False) -> Tensor:
        """See ``Operations``."""
        return scan(gate, value, lengths, reverse=reverse)

    def sum_at(self, values: Tensor, place: Tensor, size: int) -> Tensor:
        """See ``Operations``."""
        return values.new_zeros(size, values.shape[1]).index_add(0, place, values)

    def drop(self, values: Tensor) -> Tensor:
        """See ``Operations``."""
        if self._generator is None or self._keep == 1:
            return values
        # Bytes are drawn four times as fast as numbers.
        drawn = torch.randint(0, 256, values.shape, dtype=torch.uint8, generator=self._generator)
        return values * (drawn < round(256 * self._keep)) / self._keep


def train_pointer(
    stories: Sequence[Story],
    lexicon: Lexicon,
    config: PointerConfig,
    recipe: PointerRecipe,
    table: NDArray[np.float32] | None = None,
    on_epoch: Callable[[int, float], None] | None = None,
) -> Arrays:
    """The weights of a network trained on all questions of some stories; ``on_epoch`` is told each epoch's loss."""
    examples = [example for story in stories for example in examples_of(story, lexicon, taught=True)]
    examples = [example for example in examples if example.right and example.text.sentences]
    if not examples:
        raise InputError("no question has an answer that is a phrase of its story or a class")
    order = np.random.default_rng((recipe.seed, 1))
    generator = torch.Generator().manual_seed(recipe.seed)
    weights = _initial(config, lexicon, table, recipe.seed)
    averaged = {name: weight.detach().clone() for name, weight in weights.items()}
    optimiser = torch.optim.Adam(list(weights.values()), fused=True)
    steps = recipe.max_epochs * math.ceil(len(examples) / recipe.batch)
    vectors = None if table is None else torch.from_numpy(table)
    operations = TensorOperations(recipe.dropout, generator)
    unseen = _unseen_chances(lexicon, examples, recipe.rare)
    step = 0
    for epoch in range(recipe.max_epochs):
        total = 0.0
        places = order.permutation(len(examples))
        for first in range(0, len(places), recipe.batch):
            chosen = [examples[place] for place in places[first : first + recipe.batch]]
            batch = _hidden_words(collate(chosen, lexicon, taught=True), unseen, order).converted(torch.from_numpy)
            for group in optimiser.param_groups:
                group["lr"] = recipe.learning_rate * min(1.0, 2 * (1 - step / steps))
            found = read(operations, config, weights, vectors, batch)
            loss = losses(weights, found, batch).mean()
            optimiser.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(list(weights.values()), 5.0)
            optimiser.step()
            step += 1
            total += loss.item() * len(chosen)
            kept = min(recipe.average, step / (step + 10))
            with torch.no_grad():
                torch._foreach_lerp_(list(averaged.values()), list(weights.values()), 1 - kept)
        if not math.isfinite(total):
            raise InputError("the training diverged: try a smaller --learning-rate")
        if on_epoch is not None:
            on_epoch(epoch + 1, total / len(examples))
    return {name: weight.numpy() for name, weight in averaged.items()}


def losses(weights: Weights, found: Read, batch: Batch[Any]) -> Tensor:
    """(question): minus the log-probability of right answers, at any of their places, and of what happens."""
    targets = batch.targets
    if targets is None:
        raise TypeError("a batch without targets")
    taught = targets.right.sum(2) > 0
    right = torch.where(targets.right > 0, found.points, torch.full_like(found.points, -1e9))
    missed = torch.logsumexp(found.points, 2) - torch.logsumexp(right, 2)
    loss: Tensor = (missed * taught * targets.weight).sum(1)
    if found.actions is not None:
        loss = loss + _chain_loss(weights, found.actions, targets.actions, batch.sentence_counts)
    return loss


def _chain_loss(weights: Weights, scores: Tensor, actions: Tensor, counts: Tensor) -> Tensor:
    """Minus the log-probability of all actions of a story together, among all that are possible."""
    following = weights["act_next"] + torch.from_numpy(NEXT)
    total = weights["act_first"] + torch.from_numpy(FIRST) + scores[:, 0]
    right = total.gather(1, actions[:, :1])[:, 0]
    for place in range(1, scores.shape[1]):
        inside = place < counts
        now = torch.logsumexp(total[:, :, None] + following, 1) + scores[:, place]
        total = torch.where(inside[:, None], now, total)
        step = following[actions[:, place - 1], actions[:, place]]
        right = right + inside * (step + scores[:, place].gather(1, actions[:, place : place + 1])[:, 0])
    loss: Tensor = torch.logsumexp(total, 1) - right
    return loss


def _initial(
    config: PointerConfig, lexicon: Lexicon, table: NDArray[np.float32] | None, seed: int
) -> dict[str, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    wanted = shapes(
        config,
        words=lexicon.size,
        vectors=0 if table is None else table.shape[1],
        classes=len(lexicon.classes),
        actions=len(ACTIONS) if lexicon.chained else 0,
    )
    weights: dict[str, Tensor] = {}
    for name, shape in wanted.items():
        drawn = torch.randn(shape, generator=generator)
        if name in ("word", "mark", "kind"):
            weights[name] = drawn * (0.3 if name == "word" else 0.5)
        elif name.endswith("_bias") or name in ("act_next", "act_first"):
            weights[name] = drawn * 0
        else:
            weights[name] = drawn * (1 / math.sqrt(3 * shape[-1]))
    weights["word"][0] = 0
    return {name: weight.requires_grad_() for name, weight in weights.items()}


def _unseen_chances(lexicon: Lexicon, examples: Sequence[Example], rare: float) -> NDArray[np.float64]:
    """For each word, how often it is read as unknown in training: words met rarely teach what an unknown one is."""
    texts = {id(example.text): example.text for example in examples}.values()
    met = Counter(int(number) for text in texts for words in text.words for number in words)
    return np.array([0.0 if n <= UNKNOWN else rare / (rare + max(met[n], 1)) for n in range(lexicon.size)])


def _hidden_words(batch: Batch[Any], unseen: NDArray[np.float64], chance: np.random.Generator) -> Batch[Any]:
    for numbers in (batch.words, batch.query):
        numbers[chance.random(numbers.shape) < unseen[numbers]] = UNKNOWN
    return batch
