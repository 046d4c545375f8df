"""The weights of a ranking of names (see ``ranking``), learned from training dialogs."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

import numpy as np
from numpy.typing import NDArray

__all__ = ["most_probable_weights"]

_STEPS = 400
_BATCH = 256
_L2 = 1e-4
_SURE = 0.1
"""If the loss of every single choice is below this, there is nothing left to learn."""
# Adam's settings.
_LEARNING_RATE = 0.1
_BETAS = (0.9, 0.999)
_EPSILON = 1e-8

Floats = NDArray[np.float32]


def most_probable_weights(choices: Sequence[tuple[Sequence[Sequence[str]], int]]) -> dict[str, float]:
    """The most probable weights of features, given for each choice the features of each name, and which was right."""
    number: dict[str, int] = {}
    rows = [
        [[number.setdefault(feature, len(number)) for feature in features] for features in names]
        for names, _ in choices
    ]
    weights, average, square = (np.zeros(len(number), np.float32) for _ in range(3))
    order = np.random.default_rng(0)
    sure = 0
    for step in range(1, _STEPS + 1):
        batch = order.permutation(len(rows))[:_BATCH]
        losses, gradient = _cross_entropy(weights, [rows[at] for at in batch], [choices[at][1] for at in batch])
        sure = sure + len(batch) if losses.max() < _SURE else 0
        if sure >= len(rows):
            break
        gradient += 2 * _L2 * weights
        average += (gradient - average) * (1 - _BETAS[0])
        square = square * _BETAS[1] + gradient * gradient * (1 - _BETAS[1])
        scale = np.sqrt(square) / (1 - _BETAS[1] ** step) ** 0.5 + _EPSILON
        weights -= _LEARNING_RATE / (1 - _BETAS[0] ** step) * average / scale
    return {feature: round(float(weights[at]), 4) for feature, at in number.items()}


def _cross_entropy(weights: Floats, choices: list[list[list[int]]], right: list[int]) -> tuple[Floats, Floats]:
    """The loss of each choice, and the gradient of their mean; a name's score is the sum of its features' weights."""
    names = list(chain.from_iterable(choices))
    features = np.fromiter(chain.from_iterable(names), np.int64)
    name_of_feature = np.repeat(np.arange(len(names)), [len(name) for name in names])
    scores = np.zeros(len(names), np.float32)
    np.add.at(scores, name_of_feature, weights[features])
    counts = np.array([len(choice) for choice in choices])
    first = np.cumsum(counts) - counts
    choice_of_name = np.repeat(np.arange(len(choices)), counts)
    scores -= np.maximum.reduceat(scores, first)[choice_of_name]
    totals = np.log(np.add.reduceat(np.exp(scores), first))
    errors = np.exp(scores - totals[choice_of_name])
    chosen = first + np.array(right)
    losses = totals - scores[chosen]
    errors[chosen] -= 1
    gradient = np.zeros_like(weights)
    np.add.at(gradient, features, errors[name_of_feature] / np.float32(len(choices)))
    return losses, gradient
