"""The attention GRU against its equations, written out with loops."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
import torch
from examples import VOCABULARY, assert_equals, error_after_training, example_batch, position_encoding, small
from query_reduction_lab.rivals.agru import AGRUConfig
from torch import Tensor


def gru(w: Mapping[str, Tensor], cell: str, x: Tensor, h: Tensor) -> tuple[Tensor, Tensor | None]:
    """The candidate and, if the cell has one, the update gate."""
    entering = (x @ w[f"{cell}_input"] + w[f"{cell}_bias"][0]).split(len(h))
    carried = (h @ w[f"{cell}_state"] + w[f"{cell}_bias"][1]).split(len(h))
    new = torch.tanh(entering[-1] + torch.sigmoid(entering[0] + carried[0]) * carried[-1])
    return new, torch.sigmoid(entering[1] + carried[1]) if len(entering) == 3 else None


def by_hand(config: AGRUConfig, recorded: list[Tensor] | None = None) -> Any:
    """The scores; how much of each fact is left in the last state of every pass may be recorded."""

    def attention(w: Mapping[str, Tensor], f: Tensor, q: Tensor, m: Tensor) -> Tensor:
        products = [f @ w["attention_bilinear"] @ asked for asked in (q, m)]
        z = torch.cat([f, m, q, f * q, f * m, (f - q).abs(), (f - m).abs(), torch.stack(products)])
        first = torch.cat([*w["attention_plain"], w["attention_compared"], w["attention_products"]])
        hidden = torch.tanh(z @ first + w["attention_bias"])
        return torch.sigmoid(hidden @ w["attention_output"] + w["attention_output_bias"])

    def scores(w: Mapping[str, Tensor], question: Sequence[int], story: Sequence[Sequence[int]]) -> Tensor:
        facts = [position_encoding(w["embedding"], words, VOCABULARY.longest_sentence) for words in story]
        q = m = position_encoding(w["embedding"], question, VOCABULARY.longest_sentence)
        for _ in range(config.passes):
            h = torch.zeros_like(q)
            left: list[Tensor] = []
            for f in facts:
                g = attention(w, f, q, m)
                new, update = gru(w, "episode", f, h)
                moved = g * (torch.ones_like(h) if update is None else 1 - update)
                left = [*((1 - moved) * before for before in left), moved]
                h = g * (new if update is None else (1 - update) * new + update * h) + (1 - g) * h
            if recorded is not None and left:
                recorded.append(torch.stack(left).mean(1))
            new, update = gru(w, "memory", h, m)
            assert update is not None
            m = (1 - update) * new + update * m
        return w["answer_weight"] @ m

    return scores


@pytest.mark.parametrize("gate", ["update", "step"])
@pytest.mark.parametrize("passes", [1, 3])
def test_equals_the_equations(passes: int, gate: str) -> None:
    network: Any = small("agru", passes=passes, dimension=4, gate=gate)
    assert_equals(network, by_hand(network.config))


@pytest.mark.parametrize("gate", ["update", "step"])
def test_the_trace_has_what_is_left_of_each_fact(gate: str) -> None:
    network: Any = small("agru", passes=2, dimension=4, gate=gate).requires_grad_(False)
    batch = example_batch()
    weights = {name: value[0] for name, value in network.named_parameters()}
    words = [[word for word in row if word] for row in batch.words.tolist()]
    layers = network.trace(batch).layers
    for number, length in enumerate(batch.lengths.tolist()):
        recorded: list[Tensor] = []
        story = [words[row] for row in batch.stories[number, :length].tolist()]
        by_hand(network.config, recorded)(weights, words[batch.questions[number]], story)
        for layer, left in zip(layers, recorded, strict=length > 0):
            torch.testing.assert_close(layer.weights[0, number, :length], left)


def test_learns_task_1() -> None:
    assert error_after_training("agru", passes=1, dimension=20, max_epochs=15, learning_rate=0.01, halve_every=8) <= 5
