"""Reading block by block against the network that reads all at once."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from small_networks import in_use, qrn, variant, vocabulary_of

from query_reduction.native import library as native
from query_reduction.qrn import streaming
from query_reduction.qrn.network import QRNConfig, QueryReductionNetwork
from query_reduction.qrn.streaming import Streaming

WORDS = vocabulary_of(30, 4, 6)
QUESTION = [3, 4, 5]


def built(config: QRNConfig, seed: int) -> QueryReductionNetwork:
    network = qrn(config, WORDS, range(1), seed)
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.add_(torch.randn(parameter.shape, generator=generator) / 3)
    return network


def at_once(network: QueryReductionNetwork, sentences: list[list[int]]) -> np.ndarray:
    words = np.zeros((len(sentences) + 1, 6), np.int64)
    for row, numbers in zip(words, [*sentences, QUESTION], strict=True):
        row[: len(numbers)] = numbers
    with torch.no_grad():
        table = network.encode(torch.from_numpy(words))
        count = len(sentences)
        read = network.read(table, table[:, [count]], torch.arange(count)[None], torch.tensor([count]))
    found: np.ndarray = read[0, 0].numpy()
    return found


def in_blocks(network: QueryReductionNetwork, sentences: list[list[int]], size: int) -> np.ndarray:
    blocks = [sentences[start : start + size] for start in range(0, len(sentences), size)]
    return Streaming(in_use(network, WORDS)).read(QUESTION, iter(blocks))


def told(count: int, seed: int) -> list[list[int]]:
    chance = np.random.default_rng(seed)
    return [chance.integers(1, WORDS.size, chance.integers(0, 6)).tolist() for _ in range(count)]


configs = st.builds(
    QRNConfig,
    layers=st.integers(1, 4),
    dimension=st.integers(1, 9),
    reset_gate=st.booleans(),
    vector_gates=st.booleans(),
    tied=st.booleans(),
    gate_stretch=st.sampled_from([1.0, 1.2, 2.0]),
    forget_bias=st.sampled_from([0.0, 2.5]),
    position_length=st.sampled_from(["task", "sentence"]),
)


@settings(max_examples=60, deadline=None)
@given(config=configs, count=st.integers(0, 40), size=st.integers(1, 50), seed=st.integers(0, 1000))
def test_equals_the_network_that_reads_all_at_once(config: QRNConfig, count: int, size: int, seed: int) -> None:
    network, sentences = built(config, seed), told(count, seed)
    expected = at_once(network, sentences) if count else np.zeros(config.dimension)
    np.testing.assert_allclose(in_blocks(network, sentences, size), expected, atol=3e-5)


@pytest.mark.parametrize("name", ["1v", "3rv"])
def test_without_native_code_and_with_everything_on_disk(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    network, sentences = built(replace(variant(name, gate_stretch=1.3), dimension=6), 1), told(30, 2)
    expected = at_once(network, sentences)
    monkeypatch.setattr(native, "available", lambda: False)
    monkeypatch.setattr(streaming, "_IN_MEMORY", 1)
    monkeypatch.setattr(streaming, "_MOST_WORDS", 11)
    np.testing.assert_allclose(in_blocks(network, sentences, 7), expected, atol=1e-5)


def test_sentences_whose_gates_are_shut_are_skipped() -> None:
    network = built(replace(variant("3r", gate_stretch=1.5), dimension=6), 3)
    sentences = told(400, 4)
    reading = Streaming(in_use(network, WORDS))
    opened = []
    plain = reading._opened

    def counted(layer, x, q):  # type: ignore[no-untyped-def]
        found = plain(layer, x, q)
        opened.append(len(found.rows))
        assert len(found.forward) == len(found.rows) < len(x)
        return found

    reading._opened = counted  # type: ignore[method-assign]
    got = reading.read(QUESTION, [sentences])
    assert 0 < sum(opened) < 3 * 400
    np.testing.assert_allclose(got, at_once(network, sentences), atol=1e-5)
