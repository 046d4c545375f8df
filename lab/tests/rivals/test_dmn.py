"""DMN+ against the equations of its paper, one fact after the other."""

from __future__ import annotations

import network_checks as checks
import torch
from query_reduction_lab.rivals.dmn import RECIPE, DMNConfig
from torch import Tensor

from query_reduction.stacked.tensors import TensorBatch

CONFIG = DMNConfig(passes=2, dimension=5)


def gru(x: Tensor, h: Tensor, w: Tensor, u: Tensor, b: Tensor, c: Tensor) -> Tensor:
    rx, zx, nx = (x @ w + b).chunk(3)
    rh, zh, nh = (h @ u + c).chunk(3)
    z = torch.sigmoid(zx + zh)
    return (1 - z) * torch.tanh(nx + torch.sigmoid(rx + rh) * nh) + z * h


def by_hand(w: dict[str, Tensor], batch: TensorBatch, number: int) -> Tensor:
    d = CONFIG.dimension
    zero = torch.zeros(d, dtype=torch.float64)

    def fact(row: int) -> Tensor:
        words = [word for word in batch.words[row].tolist() if word]
        total = zero
        for j, word in enumerate(words, start=1):
            weight = [(1 - j / len(words)) - (k / d) * (1 - 2 * j / len(words)) for k in range(1, d + 1)]
            total = total + torch.tensor(weight, dtype=torch.float64) * w["embedding"][word]
        return total

    xs = [fact(row) for row in batch.stories[number, : batch.lengths[number]].tolist()]
    directions = []
    for direction, sequence in enumerate((xs, xs[::-1])):
        h, states = zero, []
        for x in sequence:
            weights = (w[name][direction] for name in ("fusion_input", "fusion_state"))
            h = gru(x, h, *weights, *w["fusion_bias"][direction])
            states.append(h)
        directions.append(states)
    facts = [a + b for a, b in zip(directions[0], directions[1][::-1], strict=True)]

    q = zero
    for word in batch.words[batch.questions[number]].tolist():
        if word:
            reader = [
                w[f"question_reader.{name}"] for name in ("input_weight", "state_weight", "input_bias", "state_bias")
            ]
            q = gru(w["embedding"][word], q, *reader)

    m = q
    for turn in range(CONFIG.passes):
        importance = []
        for f in facts:
            z = torch.cat((f * q, f * m, (f - q).abs(), (f - m).abs()))
            first = w["attention_first"].reshape(4 * d, d)
            importance.append(torch.tanh(z @ first + w["attention_bias"]) @ w["attention_second"][:, 0])
        h = zero
        if facts:
            attention = torch.softmax(torch.stack(importance), 0)
            for f, g in zip(facts, attention, strict=True):
                reset_f, new_f = (f @ w["episode_input"] + w["episode_bias"]).chunk(2)
                reset_h, new_h = (h @ w["episode_state"]).chunk(2)
                h = g * torch.tanh(new_f + torch.sigmoid(reset_f + reset_h) * new_h) + (1 - g) * h
        m = torch.relu(torch.cat((m, h, q)) @ w[f"updates.{turn}.weight"] + w[f"updates.{turn}.bias"])
    return w["answer_weight"] @ torch.cat((m, q))


def test_equals_the_equations() -> None:
    checks.equals_the_equations(CONFIG, by_hand)


def test_keeps_to_the_protocol() -> None:
    checks.restarts_do_not_mix(CONFIG)
    checks.is_the_same_in_any_stack(CONFIG)
    checks.ignores_padding(CONFIG)
    checks.reads_empty_stories(CONFIG)
    checks.works_with_any_head(CONFIG)
    checks.shows_how_it_reads(CONFIG, layers=2)


def test_attention_is_over_the_facts_of_one_story() -> None:
    trace = checks.build(CONFIG).trace(checks.small_batch())
    assert trace is not None
    for layer in trace.layers:
        sums = layer.gates["attention"].sum((2, 3))[0]
        torch.testing.assert_close(sums, torch.tensor([1.0, 1.0, 1.0, 0.0], dtype=torch.float64))


def test_learns_task_1() -> None:
    config = DMNConfig(passes=2, dimension=30)
    changes = {"batch": 32, "learning_rate": 0.005, "max_epochs": 20, "solved_epochs": 1}
    assert checks.error_after_training(config, {**RECIPE, **changes}) <= 5
