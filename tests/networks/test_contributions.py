"""The weights that explain an answer reproduce it exactly."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from small_networks import qrn, variant, vocabulary_of
from torch import Tensor

from query_reduction.networks.contributions import (
    LayerGates,
    contributions,
    forward_states,
    read_weights,
    unit_weights,
)
from query_reduction.networks.qrn import QRNConfig

SENTENCES = 12


def _read(config: QRNConfig, lengths: list[int], seed: int = 0) -> tuple[list[LayerGates], Tensor, Tensor]:
    """Traces, answer vectors and lengths of random stories read by a network with random weights."""
    network = qrn(config, vocabulary_of(5, 3, 4), (0, 1), seed)
    generator = torch.Generator().manual_seed(seed)
    table = torch.randn(2, SENTENCES, config.dimension, generator=generator)
    query = torch.randn(2, len(lengths), config.dimension, generator=generator)
    stories = torch.randint(SENTENCES, (len(lengths), max(lengths)), generator=generator)
    layers: list[LayerGates] = []
    with torch.no_grad():
        reduced = network.read(table, query, stories, torch.tensor(lengths), layers)
    return layers, reduced, torch.tensor(lengths)


def _matrix(layer: LayerGates, restart: int, row: int, length: int, *, is_last: bool) -> np.ndarray:
    """F + B of one story written out: entry (t, i, unit) is the weight of candidate i in the state at t."""
    z = layer.update[restart, row].double().numpy()
    forward, backward = (
        np.ones_like(z) if reset is None else reset[restart, row].double().numpy()
        for reset in (layer.reset_forward, layer.reset_backward)
    )
    matrix = np.zeros((length, length, z.shape[1]))
    for t in range(length):
        for i in range(length):
            if i <= t:
                matrix[t, i] += z[i] * forward[i] * np.prod(1 - z[i + 1 : t + 1], axis=0)
            if i >= t and not is_last:
                matrix[t, i] += z[i] * backward[i] * np.prod(1 - z[t:i], axis=0)
    return matrix


@settings(max_examples=30, deadline=None)
@given(
    name=st.sampled_from(["1r", "2", "2r", "3r", "2rv", "3v"]),
    lengths=st.lists(st.integers(1, 9), min_size=1, max_size=3),
    seed=st.integers(0, 1000),
)
def test_weights_are_the_products_of_the_layers_matrices(name: str, lengths: list[int], seed: int) -> None:
    config = variant(name, dimension=6)
    layers, _, batch_lengths = _read(config, lengths, seed)
    found = read_weights(layers, batch_lengths)
    for row, length in enumerate(lengths):
        above = np.zeros(length)
        above[-1] = 1
        for number in reversed(range(config.layers)):
            is_last = number == config.layers - 1
            matrix = _matrix(layers[number], 1, row, length, is_last=is_last).mean(2)
            above = above @ matrix / (1 if is_last else 2)
            np.testing.assert_allclose(found[number][1, row, :length].numpy(), above, atol=1e-5)
            assert not found[number][1, row, length:].any()


@pytest.mark.parametrize("name", ["2r", "3r", "2rv", "4v20"])
def test_weighted_candidates_give_the_state(name: str) -> None:
    layers, reduced, lengths = _read(variant(name), [7, 11, 1])
    above = torch.zeros(2, 3, 11)
    for row, length in enumerate(lengths.tolist()):
        above[:, row, length - 1] = 1
    last = unit_weights(layers[-1], above, lengths, is_last=True)
    torch.testing.assert_close((last * layers[-1].candidate).sum(2), reduced, atol=1e-5, rtol=0)
    for number in reversed(range(len(layers) - 1)):
        above = unit_weights(layers[number + 1], above, lengths, is_last=number == len(layers) - 2).mean(-1)
        weights = unit_weights(layers[number], above, lengths, is_last=False)
        mean_query = (above.unsqueeze(-1) * layers[number].reduced).sum(2)
        torch.testing.assert_close(2 * (weights * layers[number].candidate).sum(2), mean_query, atol=1e-5, rtol=0)


@settings(max_examples=20, deadline=None)
@given(lengths=st.lists(st.integers(0, 8), min_size=1, max_size=4).filter(any), seed=st.integers(0, 1000))
def test_contributions_are_shares(lengths: list[int], seed: int) -> None:
    layers, _, batch_lengths = _read(variant("3r10"), lengths, seed)
    shares = contributions(layers, batch_lengths)
    assert (shares >= 0).all()
    assert (shares.sum(2) <= 1 + 1e-5).all()
    for row, length in enumerate(lengths):
        assert not shares[:, row, length:].any()


def test_a_sentence_no_gate_opens_for_contributes_nothing() -> None:
    layers, _, lengths = _read(variant("2r"), [6])
    for layer in layers:
        layer.update[:, :, 2] = 0
    shares = contributions(layers, lengths)
    assert not shares[:, :, 2].any()
    assert (shares[:, :, [0, 1, 3, 4, 5]] > 0).all()


def test_a_sentence_that_closes_the_story_takes_all() -> None:
    layers, _, lengths = _read(variant("1r"), [6])
    layers[0].update[:, :, 4] = 1
    weights = contributions(layers, lengths)
    assert not weights[:, :, :4].any()
    torch.testing.assert_close(weights[:, :, 4], 1 - layers[0].update[:, :, 5, 0])


@pytest.mark.parametrize("name", ["2", "3r", "2rv"])
def test_forward_states_are_what_the_rows_of_f_give(name: str) -> None:
    layers, _, lengths = _read(variant(name), [6])
    states, read = forward_states(layers[0], lengths)
    matrix = np.tril(np.ones((6, 6)))[:, :, None] * _matrix(
        replace(layers[0], reset_backward=None), 0, 0, 6, is_last=True
    )
    candidates = layers[0].candidate[0, 0].double().numpy()
    np.testing.assert_allclose(states[0, 0].numpy(), (matrix * candidates).sum(1), atol=1e-5)
    np.testing.assert_allclose(read[0, 0].numpy(), matrix.mean(2).sum(1), atol=1e-5)
