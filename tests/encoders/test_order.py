"""The encoder that knows which word stands where, against loops; and how every encoder behaves."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from query_reduction.encoders import arrays
from query_reduction.encoders.arrays import EncoderConfig, EncoderName
from query_reduction.encoders.position import position_weights
from query_reduction.encoders.stacked import build_encoder
from query_reduction.stacked.network import Seeds, StackedModule, normal

_NAMES: tuple[EncoderName, ...] = ("position", "order")
_PLAIN = EncoderConfig("order", words=20, dimension=6, longest=0)

configs = st.builds(
    EncoderConfig,
    st.sampled_from(_NAMES),
    words=st.just(20),
    dimension=st.integers(1, 7),
    longest=st.integers(0, 9),
    vectors=st.integers(0, 4),
    marks=st.integers(0, 3),
)


def built(config: EncoderConfig, restarts: int, seed: int) -> tuple[Any, Any]:
    """An encoder and a module with its weights, all of them random."""
    fixed = torch.randn(1, config.words, config.vectors, generator=torch.Generator().manual_seed(seed))
    weights = StackedModule(Seeds(range(restarts), seed, fixed={"vectors": fixed}))
    encoder = build_encoder(config, weights, normal(1.0))
    with torch.no_grad():
        for parameter in weights.parameters():
            parameter.normal_(generator=torch.Generator().manual_seed(seed))
    return encoder, weights.double()


def rows(seed: int, marks: int = 0) -> tuple[Tensor, Tensor | None]:
    """Rows of words, some of them empty, and their marks."""
    generator = torch.Generator().manual_seed(seed)
    words = torch.randint(1, 20, (5, 7), generator=generator)
    words[torch.arange(7) >= torch.randint(0, 8, (5, 1), generator=generator)] = 0
    return words, torch.randint(0, marks, words.shape, generator=generator) if marks else None


def by_hand(config: EncoderConfig, weights: Any, row: list[int], marks: list[int] | None, restart: int) -> list[Tensor]:
    """The words of one row, one at a time."""
    own = {name: values[min(restart, len(values) - 1)] for name, values in weights.state_dict().items()}

    def vector(place: int) -> Tensor:
        if not 0 <= place < len(row) or row[place] == 0:
            return torch.zeros(config.dimension, dtype=torch.float64)
        x: Tensor = own["embedding"][row[place]].clone()
        if config.vectors:
            x += own["vectors"][row[place]] @ own["vector_projection"]
        return x if marks is None else x + own["mark_embedding"][marks[place]]

    read = []
    for place, word in enumerate(row):
        x = vector(place)
        if config.name == "order" and word:
            window = sum(vector(place + step) @ own["order_in"][1 + step] for step in (-1, 0, 1)) + own["order_bias"]
            x = x + window.clamp(min=0) @ own["order_out"] / config.dimension
        read.append(x)
    return read


@given(configs, st.integers(0, 2**31))
def test_words_and_rows_are_those_of_a_loop(config: EncoderConfig, seed: int) -> None:
    encoder, weights = built(config, 2, seed)
    words, marks = rows(seed, config.marks)
    found, summed = encoder.encode_words(weights, words, marks), encoder.encode(weights, words, marks)
    scale = position_weights(words, config.dimension, config.longest, torch.float64)
    for restart in range(2):
        for row in range(len(words)):
            marked = None if marks is None else marks[row].tolist()
            expected = torch.stack(by_hand(config, weights, words[row].tolist(), marked, restart))
            torch.testing.assert_close(found[restart, row], expected)
            torch.testing.assert_close(summed[restart, row], (expected * scale[row]).sum(0))


@given(configs, st.integers(0, 2**31))
def test_arrays_and_tensors_agree(config: EncoderConfig, seed: int) -> None:
    encoder, weights = built(config, 1, seed)
    words, marks = rows(seed, config.marks)
    own = {name: values[0].numpy() for name, values in weights.state_dict().items()}
    assert {name: values.shape for name, values in own.items()} == arrays.encoder_shapes(config)
    table, told = arrays.word_table(config, own), None if marks is None else marks.numpy()
    for ours, theirs in (
        (arrays.encode(config, own, table, words.numpy(), told), encoder.encode(weights, words, marks)),
        (arrays.encode_words(config, own, table, words.numpy(), told), encoder.encode_words(weights, words, marks)),
    ):
        np.testing.assert_allclose(ours, theirs[0].detach().numpy(), rtol=1e-9, atol=1e-9)


def test_order_starts_as_position() -> None:
    words, _ = rows(3)
    encoded = []
    for name in _NAMES:
        weights = StackedModule(Seeds((0, 1), 5))
        encoder = build_encoder(replace(_PLAIN, name=name), weights, normal(1.0))
        encoded.append(encoder.encode(weights, words))  # type: ignore[arg-type]
    torch.testing.assert_close(*encoded)


def test_neighbours_change_a_word() -> None:
    encoder, weights = built(_PLAIN, 1, 1)
    alone, beside = encoder.encode_words(weights, torch.tensor([[0, 2, 0], [3, 2, 4]]))[0, :, 1]
    assert (alone - beside).abs().max() > 0.01


@pytest.mark.parametrize("name", _NAMES)
def test_restarts_do_not_mix(name: EncoderName) -> None:
    encoder, weights = built(replace(_PLAIN, name=name), 3, 2)
    words, _ = rows(2)
    encoder.encode(weights, words)[1].square().sum().backward()
    for parameter in weights.parameters():
        assert parameter.grad[1].abs().sum() > 0
        assert parameter.grad[[0, 2]].abs().sum() == 0


@pytest.mark.parametrize("name", _NAMES)
def test_padding_changes_nothing(name: EncoderName) -> None:
    encoder, weights = built(replace(_PLAIN, name=name), 1, 4)
    words, _ = rows(4)
    padded = torch.nn.functional.pad(words, (0, 3))
    torch.testing.assert_close(encoder.encode(weights, padded), encoder.encode(weights, words))
