"""The weights of a ranking of names (see ``ranking``), learned from training dialogs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

__all__ = ["most_probable_weights"]

_STEPS = 400
_BATCH = 256
_LEARNING_RATE = 0.1
_L2 = 1e-4
_SURE = 0.1
"""If the loss of every single choice is below this, there is nothing left to learn."""


def most_probable_weights(choices: Sequence[tuple[Sequence[Sequence[str]], int]]) -> dict[str, float]:
    """The most probable weights of features, given for each choice the features of each name, and which was right."""
    number: dict[str, int] = {}
    rows = [
        [[number.setdefault(feature, len(number)) for feature in features] for features in names]
        for names, _ in choices
    ]
    weights = torch.zeros(len(number), requires_grad=True)
    optimiser = torch.optim.Adam([weights], lr=_LEARNING_RATE)
    order = np.random.default_rng(0)
    sure = 0
    for _ in range(_STEPS):
        batch = order.permutation(len(rows))[:_BATCH]
        optimiser.zero_grad()
        losses = _surprise(weights, [rows[at] for at in batch], [choices[at][1] for at in batch])
        sure = sure + len(batch) if losses.max() < _SURE else 0
        if sure >= len(rows):
            break
        loss = losses.mean() + _L2 * weights.square().sum()
        loss.backward()
        optimiser.step()
    learned = weights.tolist()
    return {feature: round(learned[at], 4) for feature, at in number.items()}


def _surprise(weights: torch.Tensor, choices: list[list[list[int]]], right: list[int]) -> torch.Tensor:
    """Cross-entropy of each choice; a name's score is the sum of its features' weights."""
    names = [name for choice in choices for name in choice]
    features = torch.tensor([feature for name in names for feature in name])
    name_of_feature = torch.from_numpy(np.repeat(np.arange(len(names)), [len(name) for name in names]))
    scores = torch.zeros(len(names)).index_add(0, name_of_feature, weights[features])
    padded = torch.nn.utils.rnn.pad_sequence(
        list(torch.split(scores, [len(choice) for choice in choices])), batch_first=True, padding_value=-torch.inf
    )
    return torch.nn.functional.cross_entropy(padded, torch.tensor(right), reduction="none")
