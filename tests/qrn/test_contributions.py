"""The weights that explain an answer reproduce it exactly."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_networks import in_use, qrn, variant, vocabulary_of

from query_reduction.network import Floats
from query_reduction.qrn.contributions import (
    LayerGates,
    contributions,
    forward_states,
    read_weights,
    unit_weights,
)
from query_reduction.qrn.variants import QRNConfig
from query_reduction.text.batch import Ints

SENTENCES = 12


def _read(config: QRNConfig, lengths: list[int], seed: int = 0) -> tuple[tuple[LayerGates, ...], Floats, Ints]:
    """Gates, answer vectors and lengths of random stories read by a network with random weights."""
    words = vocabulary_of(5, 3, 4)
    network = in_use(qrn(config, words, (1,), seed), words)
    chance = np.random.default_rng(seed)
    table = chance.normal(size=(SENTENCES, config.dimension)).astype(np.float32)
    query = chance.normal(size=(len(lengths), config.dimension)).astype(np.float32)
    stories = chance.integers(SENTENCES, size=(len(lengths), max(lengths)))
    layers = network.gates(table, query, stories, np.array(lengths))
    return layers, network.read(table, query, stories, np.array(lengths)), np.array(lengths)


def _matrix(layer: LayerGates, row: int, length: int, *, is_last: bool) -> Floats:
    """F + B of one story written out: entry (t, i, unit) is the weight of candidate i in the state at t."""
    z = layer.update[row].astype(np.float64)
    forward, backward = (
        np.ones_like(z) if reset is None else reset[row].astype(np.float64)
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
            matrix = _matrix(layers[number], row, length, is_last=is_last).mean(2)
            above = above @ matrix / (1 if is_last else 2)
            np.testing.assert_allclose(found[number][row, :length], above, atol=1e-5)
            assert not found[number][row, length:].any()


@pytest.mark.parametrize("name", ["2r", "3r", "2rv", "4v20"])
def test_weighted_candidates_give_the_state(name: str) -> None:
    layers, reduced, lengths = _read(variant(name), [7, 11, 1])
    above: Floats = np.zeros((3, 11), np.float32)
    above[np.arange(3), lengths - 1] = 1
    last = unit_weights(layers[-1], above, lengths, is_last=True)
    np.testing.assert_allclose((last * layers[-1].candidate).sum(1), reduced, atol=1e-5)
    for number in reversed(range(len(layers) - 1)):
        above = unit_weights(layers[number + 1], above, lengths, is_last=number == len(layers) - 2).mean(-1)
        weights = unit_weights(layers[number], above, lengths, is_last=False)
        mean_query = (above[:, :, None] * layers[number].reduced).sum(1)
        np.testing.assert_allclose(2 * (weights * layers[number].candidate).sum(1), mean_query, atol=1e-5)


@settings(max_examples=20, deadline=None)
@given(lengths=st.lists(st.integers(0, 8), min_size=1, max_size=4).filter(any), seed=st.integers(0, 1000))
def test_contributions_are_shares(lengths: list[int], seed: int) -> None:
    layers, _, batch_lengths = _read(variant("3r10"), lengths, seed)
    shares = contributions(layers, batch_lengths)
    assert (shares >= 0).all()
    assert (shares.sum(1) <= 1 + 1e-5).all()
    for row, length in enumerate(lengths):
        assert not shares[row, length:].any()


def test_a_sentence_no_gate_opens_for_contributes_nothing() -> None:
    layers, _, lengths = _read(variant("2r"), [6])
    for layer in layers:
        layer.update[:, 2] = 0
    shares = contributions(layers, lengths)
    assert not shares[:, 2].any()
    assert (shares[:, [0, 1, 3, 4, 5]] > 0).all()


def test_a_sentence_that_closes_the_story_takes_all() -> None:
    layers, _, lengths = _read(variant("1r"), [6])
    layers[0].update[:, 4] = 1
    weights = contributions(layers, lengths)
    assert not weights[:, :4].any()
    np.testing.assert_allclose(weights[:, 4], 1 - layers[0].update[:, 5, 0], rtol=1e-6)


@pytest.mark.parametrize("name", ["2", "3r", "2rv"])
def test_forward_states_are_what_the_rows_of_f_give(name: str) -> None:
    layers, _, lengths = _read(variant(name), [6])
    states, read = forward_states(layers[0], lengths)
    matrix = np.tril(np.ones((6, 6)))[:, :, None] * _matrix(replace(layers[0], reset_backward=None), 0, 6, is_last=True)
    candidates = layers[0].candidate[0].astype(np.float64)
    np.testing.assert_allclose(states[0], (matrix * candidates).sum(1), atol=1e-5)
    np.testing.assert_allclose(read[0], matrix.mean(2).sum(1), atol=1e-5)
