"""The Neural Reasoner against its equations, one fact after the other."""

from __future__ import annotations

from dataclasses import replace

import network_checks as checks
import pytest
import torch
from query_reduction_lab.rivals.neural_reasoner import RECIPE, NeuralReasonerConfig
from torch import Tensor
from torch.nn import functional

from query_reduction.stacked.tensors import TensorBatch

CONFIG = NeuralReasonerConfig(layers=2, depth=2, dimension=5)
LARGEST = replace(CONFIG, pooling="max")
either = pytest.mark.parametrize("config", [CONFIG, LARGEST], ids=["mean", "max"])


def gru(w: dict[str, Tensor], name: str, x: Tensor, h: Tensor) -> Tensor:
    rx, zx, nx = (x @ w[f"{name}.input_weight"] + w[f"{name}.input_bias"]).chunk(3)
    rh, zh, nh = (h @ w[f"{name}.state_weight"] + w[f"{name}.state_bias"]).chunk(3)
    z = torch.sigmoid(zx + zh)
    return (1 - z) * torch.tanh(nx + torch.sigmoid(rx + rh) * nh) + z * h


def words_of(batch: TensorBatch, row: int) -> list[int]:
    return [word for word in batch.words[row].tolist() if word]


def encode(w: dict[str, Tensor], batch: TensorBatch, row: int) -> Tensor:
    h = torch.zeros(CONFIG.dimension, dtype=torch.float64)
    for word in words_of(batch, row):
        h = gru(w, "encoder", w["embedding"][word], h)
    return h


def scores(config: NeuralReasonerConfig, w: dict[str, Tensor], batch: TensorBatch, number: int) -> Tensor:
    d = config.dimension
    q = encode(w, batch, int(batch.questions[number]))
    facts = [encode(w, batch, row) for row in batch.stories[number, : batch.lengths[number]].tolist()]
    for layer in range(config.layers):
        met = []
        for fact in facts:
            x = torch.cat((q, fact))
            for depth in range(config.depth):
                name = f"meetings.{layer}.{depth}"
                x = torch.tanh(x @ w[f"{name}.weight"] + w[f"{name}.bias"])
            met.append(x)
        facts = [x[d:] for x in met]
        questions = torch.stack([x[:d] for x in met]) if met else torch.zeros(1, d, dtype=torch.float64)
        q = questions.amax(0) if config.pooling == "max" else questions.mean(0)
    return w["answer_weight"] @ q


def retelling(w: dict[str, Tensor], batch: TensorBatch, row: int) -> Tensor:
    """Minus the log-probability of a sentence and its end, given its vector."""
    h = encode(w, batch, row)
    words = words_of(batch, row)
    total = torch.zeros((), dtype=torch.float64)
    for before, after in zip([0, *words], [*words, 0], strict=True):
        h = gru(w, "decoder", w["embedding"][before], h)
        total = total - torch.log_softmax(h @ w["teller.weight"] + w["teller.bias"], 0)[after]
    return total


@either
def test_equals_the_equations(config: NeuralReasonerConfig) -> None:
    checks.equals_the_equations(config, lambda w, batch, number: scores(config, w, batch, number))


def test_loss_is_of_the_answer_and_of_what_was_told() -> None:
    network, batch = checks.build(CONFIG), checks.small_batch()
    checks.scramble(network)
    weights = {name: value[0].detach().requires_grad_() for name, value in network.named_parameters()}
    expected = []
    for number in range(4):
        answer = functional.cross_entropy(scores(CONFIG, weights, batch, number), batch.answers[number])
        rows = [*batch.stories[number, : batch.lengths[number]].tolist(), int(batch.questions[number])]
        told = torch.stack([retelling(weights, batch, row) for row in rows]).mean()
        expected.append((1 - CONFIG.retelling) * answer + CONFIG.retelling * told)
    losses = network.losses(batch)[0]
    torch.testing.assert_close(losses, torch.stack(expected))
    losses.sum().backward()
    torch.stack(expected).sum().backward()
    for name, parameter in network.named_parameters():
        assert parameter.grad is not None
        torch.testing.assert_close(parameter.grad[0], weights[name].grad)


@either
def test_keeps_to_the_protocol(config: NeuralReasonerConfig) -> None:
    checks.restarts_do_not_mix(config)
    checks.is_the_same_in_any_stack(config)
    checks.ignores_padding(config)
    checks.reads_empty_stories(config)
    checks.works_with_any_head(config)
    if config.pooling == "max":
        checks.shows_how_it_reads(config, layers=2)


def test_a_mean_shows_nothing() -> None:
    """It takes as much from every fact, whatever the story."""
    network = checks.build(CONFIG)
    assert not network.shows_reading
    assert network.trace(checks.small_batch()) is None
    assert checks.build(LARGEST).shows_reading


def test_the_order_of_facts_does_not_matter() -> None:
    network, batch = checks.build(CONFIG), checks.small_batch()
    turned = replace(batch, stories=batch.stories.flip(1), lengths=torch.tensor([7, 7, 7, 7]))
    plain = replace(turned, stories=batch.stories)
    torch.testing.assert_close(network.scores(turned), network.scores(plain))


def test_learns_task_4() -> None:
    """Not task 1, which asks for the latest of several facts: a network without order cannot tell."""
    config = NeuralReasonerConfig(layers=1, dimension=30)
    changes = {"learning_rate": 0.005, "max_epochs": 30, "solved_epochs": 1}
    assert checks.error_after_training(config, {**RECIPE, **changes}, task=4) <= 5
