"""MemN2N and GMemN2N against their equations, written out with loops."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest
import torch
from examples import VOCABULARY, assert_equals, error_after_training, example_batch, small
from query_reduction_lab.rivals.gmemn2n import GMemN2NConfig
from torch import Tensor

from query_reduction.heads.arrays import HeadConfig
from query_reduction.rivals.memn2n import MemN2NConfig, MemoryNetwork, time_with_blanks
from query_reduction.rivals.registry import build_network
from query_reduction.stacked.network import Seeds
from query_reduction.text.vocabulary import Vocabulary

LENGTHS = torch.tensor([7, 30, 1, 0, 50])


def by_hand(config: MemN2NConfig, *, linear: bool = False) -> Any:
    d, longest = config.dimension, VOCABULARY.longest_sentence + 1
    slots = min(config.slots, VOCABULARY.longest_story)
    adjacent = config.tying == "adjacent"

    def position(j: int) -> Tensor:
        if config.sentences == "bag":
            return torch.ones(d, dtype=torch.float64)
        return torch.tensor(
            [1 + 4 * (k - (d + 1) / 2) * (j - (longest + 1) / 2) / (d * longest) for k in range(1, d + 1)],
            dtype=torch.float64,
        )

    def sentence(table: Tensor, words: Sequence[int]) -> Tensor:
        total = table.new_zeros(d)
        for j, word in enumerate(words, start=1):
            total = total + position(j) * table[word]
        return total

    def scores(w: Mapping[str, Tensor], question: Sequence[int], story: Sequence[Sequence[int]]) -> Tensor:
        u = sentence(w["embedding"][0 if adjacent else 2], question)
        for hop in range(config.hops):
            a, c = (hop, hop + 1) if adjacent else (0, 1)
            match, outputs = [], []
            for t, words in enumerate(story):
                ago = min(len(story) - 1 - t, slots - 1)
                memory = sentence(w["embedding"][a], words) + position(longest) * w["time"][a][ago]
                outputs.append(sentence(w["embedding"][c], words) + position(longest) * w["time"][c][ago])
                match.append(u @ memory)
            empty = max(slots - len(story), 0) if config.empty_memories else 0
            weights = match if linear else [m.exp() / (sum(n.exp() for n in match) + empty) for m in match]
            o = sum((p * output for p, output in zip(weights, outputs, strict=True)), u.new_zeros(d))
            kept = u if adjacent else u @ w["query_map"]
            if isinstance(config, GMemN2NConfig):
                own = hop if config.gates == "hop" else 0
                gate = torch.sigmoid(u @ w["gate_weight"][own] + w["gate_bias"][own])
                u = o * gate + kept * (1 - gate)
            else:
                u = kept + o
            u = u.clamp(min=0) if config.relu else u
        if not adjacent:
            return w["answer_weight"] @ u
        # b and d are words; the others have rows of their own, after all words.
        rows = [3, VOCABULARY.size, 5, VOCABULARY.size + 1]
        return torch.stack([w["embedding"][-1][row] @ u for row in rows])

    return scores


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("memn2n", {}),
        ("memn2n", {"hops": 1}),
        ("memn2n", {"empty_memories": False}),
        ("memn2n", {"tying": "layer-wise"}),
        ("memn2n", {"tying": "layer-wise", "relu": True}),
        ("memn2n", {"sentences": "bag", "slots": 3}),
        ("gmemn2n", {}),
        ("gmemn2n", {"gates": "global", "hops": 2}),
        ("gmemn2n", {"tying": "layer-wise"}),
    ],
)
def test_equals_the_equations(name: str, changes: dict[str, Any]) -> None:
    network: Any = small(name, dimension=5, **changes)
    assert_equals(network.eval(), by_hand(network.config))


def test_starts_linear() -> None:
    network: Any = small("memn2n", dimension=5, time_noise=0.0, linear_epochs=2)
    network.begin_epoch(1)
    assert_equals(network, by_hand(network.config, linear=True))
    network.zero_grad()
    network.begin_epoch(2)
    assert_equals(network, by_hand(network.config))


def test_a_trained_network_does_not_start_linear_again() -> None:
    network: Any = small("memn2n", dimension=5, time_noise=0.0, linear_epochs=2)
    network.go_on()
    network.begin_epoch(1)
    assert_equals(network, by_hand(network.config))


def test_is_never_linear_when_asked() -> None:
    network: Any = small("memn2n", dimension=5)
    network.begin_epoch(0)
    assert_equals(network.eval(), by_hand(network.config))


def test_blanks_move_sentences_into_the_past() -> None:
    noise = torch.Generator().manual_seed(2)
    seen = set()
    for _ in range(50):
        times = time_with_blanks(LENGTHS, 50, 0.1, noise)
        for row, length in zip(times.tolist(), LENGTHS.tolist(), strict=True):
            told = row[:length]
            assert sorted(told, reverse=True) == told and len(set(told)) == length
            assert all(0 <= moment < length + -(-length // 10) for moment in told)
            seen.add(max(told, default=0) - length + 1)
    # Of fifty sentences the oldest seems up to five older; it may also be the first moments that stay empty.
    assert {0, 1, 2, 3, 4, 5} <= seen


def test_no_blanks_no_change() -> None:
    times = time_with_blanks(LENGTHS, 50, 0.0, torch.Generator())
    for row, length in zip(times.tolist(), LENGTHS.tolist(), strict=True):
        assert row[:length] == list(range(length))[::-1]


def test_time_noise_is_for_training_only() -> None:
    network: Any = small("memn2n", dimension=5)
    network.noise = torch.Generator().manual_seed(6)
    batch = example_batch()
    assert not torch.equal(network.train().losses(batch), network.losses(batch))
    assert torch.equal(network.eval().losses(batch), network.losses(batch))


def test_an_answer_has_the_row_of_the_word_it_is_read_as() -> None:
    """Adjacent tying: the last table embeds words and scores answers, also where "Bill" is read as "bill"."""
    folding = Vocabulary(("bill", "milk"), ("Bill", "milk", "milk,bill", "yes"), 2, fold_case=True, longest_story=3)
    network = MemoryNetwork(MemN2NConfig(dimension=4), folding, HeadConfig(), Seeds((0,)))
    assert network.embedding.shape[2] == folding.size + 2  # the two answers that are no words have rows of their own
    rows = network.head_weights().answer_weight[0]
    for answer, word in (("Bill", "bill"), ("milk", "milk")):
        of_word = network.embedding[0, -1, folding.number_of_word[word]]
        assert torch.equal(rows[folding.answers.index(answer)], of_word)
    exact = replace(folding, fold_case=False)
    apart = MemoryNetwork(MemN2NConfig(dimension=4), exact, HeadConfig(), Seeds((0,)))
    assert apart.embedding.shape[2] == exact.size + 3


def test_initial_weights() -> None:
    network: Any = build_network(GMemN2NConfig(dimension=100), VOCABULARY, HeadConfig())
    assert network.embedding[0, :, 2:].std().item() == pytest.approx(0.1, rel=0.1)
    assert network.embedding[0, :, :2].abs().sum() == 0
    assert network.gate_bias.mean().item() == pytest.approx(0.5, rel=0.1)


@pytest.mark.parametrize("name", ["memn2n", "gmemn2n"])
def test_learns_task_1(name: str) -> None:
    quick: dict[str, Any] = {"linear_epochs": 5, "halve_after": 5, "halve_every": 10, "max_epochs": 30}
    assert error_after_training(name, learning_rate=0.01, **quick) <= 5
