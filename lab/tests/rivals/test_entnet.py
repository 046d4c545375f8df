"""EntNet against its equations, written out with loops."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
import torch
from examples import assert_equals, error_after_training, example_batch, small
from query_reduction_lab.rivals.entnet import EntNetConfig
from torch import Tensor

from query_reduction.encoders.position import encode_masked


def by_hand(config: EntNetConfig) -> Any:
    def sentence(w: Mapping[str, Tensor], mask: Tensor, words: Sequence[int]) -> Tensor:
        total = mask.new_zeros(config.dimension)
        for j, word in enumerate(words):
            total = total + mask[j] * w["embedding"][word]
        return total

    def activate(w: Mapping[str, Tensor], x: Tensor) -> Tensor:
        if config.activation == "identity":
            return x
        return torch.stack([value if value > 0 else value * w["slope"][0] for value in x])

    def scores(w: Mapping[str, Tensor], question: Sequence[int], story: Sequence[Sequence[int]]) -> Tensor:
        keys = list(w["keys"])
        h = list(keys)
        for words in story:
            s = sentence(w, w["story_mask"], words)
            for j, key in enumerate(keys):
                gate = torch.sigmoid(s @ h[j] + s @ key + w["gate_bias"][j])
                new = h[j] @ w["memory_weight"] + s @ w["sentence_weight"] + key @ w["key_weight"] + w["candidate_bias"]
                h[j] = h[j] + gate * activate(w, new)
                if config.normalise:
                    h[j] = h[j] / (h[j] @ h[j]).sqrt()
        q = sentence(w, w["question_mask"], question)
        match = [q @ memory for memory in h]
        u = sum((m.exp() * memory for m, memory in zip(match, h, strict=True)), torch.zeros_like(q))
        u = u / sum(m.exp() for m in match)
        return w["answer_weight"] @ activate(w, q + u @ w["output_weight"])

    return scores


@pytest.mark.parametrize("activation", ["prelu", "identity"])
@pytest.mark.parametrize("normalise", [True, False])
def test_equals_the_equations(activation: str, normalise: bool) -> None:
    network: Any = small("entnet", slots=3, dimension=5, activation=activation, normalise=normalise)
    if not normalise:
        for parameter in network.parameters():
            parameter.data.mul_(0.5)
    assert_equals(network, by_hand(network.config))


def test_trace_shows_the_gates_in_the_order_of_the_batch() -> None:
    network: Any = small("entnet", slots=3, dimension=5)
    batch = example_batch()
    w = {name: value[0] for name, value in network.named_parameters()}
    gates = network.trace(batch).layers[0].gates["slots"]
    for question, length in enumerate(batch.lengths.tolist()):
        assert bool((gates[0, question, :length] > 0).all())
        assert gates[0, question, length:].abs().sum() == 0
        if length:
            first = batch.words[batch.stories[question, 0]]
            s = sum(
                (w["story_mask"][j] * w["embedding"][word] for j, word in enumerate(first.tolist()) if word),
                torch.zeros(5, dtype=torch.float64),
            )
            expected = torch.sigmoid(2 * w["keys"] @ s + w["gate_bias"])
            torch.testing.assert_close(gates[0, question, 0], expected)


def test_the_last_mask_serves_words_past_the_longest_sentence() -> None:
    network: Any = small("entnet", slots=3, dimension=5)
    words = torch.full((1, 8), 4)
    masks = network.story_mask[0]
    expected = (masks.sum(0) + 2 * masks[-1]) * network.embedding[0, 4]
    found = encode_masked(network.embedding, network.story_mask, words)
    torch.testing.assert_close(found[0, 0], expected)


@pytest.mark.slow
def test_learns_task_1() -> None:
    quick: dict[str, Any] = {"slots": 5, "dimension": 20, "max_epochs": 40, "halve_every": 15}
    assert error_after_training("entnet", questions=2000, **quick) <= 5
