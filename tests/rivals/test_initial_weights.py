"""Initial weights are those that stored results were trained from.

Every restart draws all its weights from one generator, one parameter after the other, so another order of declaration
gives other weights, and other results.
"""

from __future__ import annotations

import numpy as np
import pytest
import torch
from examples import VOCABULARY

from query_reduction.heads.arrays import HeadConfig
from query_reduction.rivals.registry import build_network, resolve
from query_reduction.stacked.network import Seeds

EXPECTED = {
    "1r": 41.016448,
    "2r": 50.455957,
    "3rv100": 196.840097,
    "gru": -3.455579,
    "lstm": -2.265712,
    "memn2n": 3.218201,
    "question-only": -12.019646,
    "story-only": -12.019646,
    "bag-of-words": 4.169187,
}
"""Computed with version 0.2.0; only words that were never learned had vectors there, which count as zero."""


def projection(network: str) -> float:
    """All weights of two restarts, multiplied by fixed numbers and added up."""
    seeds = Seeds((0, 3), 7, torch.linspace(0, 1, VOCABULARY.size))
    drawn = build_network(resolve(network), VOCABULARY, HeadConfig(), seeds)
    weights = np.concatenate([weight.detach().double().numpy().ravel() for weight in drawn.parameters()])
    return float(np.cos(np.arange(len(weights))) @ weights)


@pytest.mark.parametrize("network", EXPECTED)
def test_initial_weights_are_those_of_stored_results(network: str) -> None:
    assert projection(network) == pytest.approx(EXPECTED[network], abs=1e-4)
