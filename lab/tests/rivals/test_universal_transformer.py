"""The Universal Transformer against its equations, one position and one head after the other."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise
from typing import Literal

import network_checks as checks
import pytest
import torch
from examples import example_batch, small
from query_reduction_lab.rivals.universal_transformer import RECIPE, UniversalTransformer, UTConfig
from torch import Tensor

from query_reduction.errors import InputError
from query_reduction.stacked.tensors import TensorBatch

CONFIG = UTConfig(
    answer_from="mean", steps=3, dimension=6, heads=2, inner=7, signal=1.0, count_from="start", normalise="after"
)
HALTING = replace(CONFIG, halting=True, steps=5, threshold=0.8)
either = pytest.mark.parametrize("config", [CONFIG, HALTING], ids=["fixed", "halting"])


def signal(place: int, d: int) -> Tensor:
    waves = [place / 10000 ** (pair / (d // 2)) for pair in range(d // 2)]
    return torch.tensor([*map(math.sin, waves), *map(math.cos, waves)], dtype=torch.float64)


def norm(w: dict[str, Tensor], name: str, x: Tensor) -> Tensor:
    centred = x - x.mean()
    return centred / (centred.square().mean() + 1e-5).sqrt() * w[f"{name}.scale"] + w[f"{name}.shift"]


def step(
    w: dict[str, Tensor], config: UTConfig, states: list[Tensor], recorded: list[Tensor] | None = None
) -> list[Tensor]:
    """One step of all positions, signals added; the attention of the last one, the question, may be recorded."""
    size, before = config.dimension // config.heads, config.normalise == "before"
    parts = [
        ((norm(w, "attention_norm", state) if before else state) @ w["query_key_value.weight"]).chunk(3)
        for state in states
    ]
    new = []
    for state, (query, _, _) in zip(states, parts, strict=True):
        heads, attentions = [], []
        for head in range(config.heads):
            own = slice(head * size, (head + 1) * size)
            attention = torch.stack([query[own] @ key[own] / math.sqrt(size) for _, key, _ in parts]).softmax(0)
            attentions.append(attention)
            heads.append(sum(weight * value[own] for weight, (_, _, value) in zip(attention, parts, strict=True)))
        if recorded is not None and state is states[-1]:
            recorded.append(torch.stack(attentions).mean(0))
        a = state + torch.cat(heads) @ w["heads_out.weight"]
        a = a if before else norm(w, "attention_norm", a)
        entering = norm(w, "transition_norm", a) if before else a
        hidden = torch.relu(entering @ w["transition_in.weight"] + w["transition_in.bias"])
        transition = hidden @ w["transition_out.weight"] + w["transition_out.bias"]
        new.append(a + transition if before else norm(w, "transition_norm", a + transition))
    return new


def positions(w: dict[str, Tensor], batch: TensorBatch, number: int) -> list[Tensor]:
    rows = [*batch.stories[number, : batch.lengths[number]].tolist(), int(batch.questions[number])]
    found = []
    for place, row in enumerate(rows):
        mask = w["question_mask" if place == len(rows) - 1 else "story_mask"]
        total = torch.zeros(mask.shape[1], dtype=torch.float64)
        for j, word in enumerate(batch.words[row].tolist()):
            if word:
                total = total + mask[j] * w["embedding"][word]
        found.append(total)
    return found


def marked(config: UTConfig, states: list[Tensor], turn: int) -> list[Tensor]:
    d = len(states[0])
    backward = config.count_from == "question"
    places = reversed(range(len(states))) if backward else range(len(states))
    return [
        state + config.signal * (signal(place, d) + signal(turn, d))
        for place, state in zip(places, states, strict=True)
    ]


def fixed(
    config: UTConfig, w: dict[str, Tensor], batch: TensorBatch, number: int, recorded: list[Tensor] | None = None
) -> list[Tensor]:
    states = positions(w, batch, number)
    for turn in range(config.steps):
        states = step(w, config, marked(config, states, turn), recorded)
    return [norm(w, "last_norm", state) for state in states] if config.normalise == "before" else states


def halting(w: dict[str, Tensor], batch: TensorBatch, number: int) -> tuple[list[Tensor], list[Tensor]]:
    """The final outputs, and updates plus remainder of every position."""
    states = positions(w, batch, number)
    outputs = [torch.zeros_like(state) for state in states]
    sums = [torch.zeros((), dtype=torch.float64) for _ in states]
    pondered = [torch.zeros((), dtype=torch.float64) for _ in states]
    resting = [False for _ in states]
    for turn in range(HALTING.steps):
        before = marked(HALTING, states, turn)
        states = step(w, HALTING, before)
        for place, state in enumerate(states):
            if resting[place]:
                continue
            p = torch.sigmoid(before[place] @ w["halting_weight"][:, 0] + w["halting_bias"][0])
            pondered[place] = pondered[place] + 1
            if sums[place] + p > HALTING.threshold:
                resting[place] = True
                p = 1 - sums[place]
                pondered[place] = pondered[place] + p
            else:
                sums[place] = sums[place] + p
            outputs[place] = p * state + (1 - p) * outputs[place]
    return outputs, pondered


@pytest.mark.parametrize("normalise", ["after", "before"])
def test_the_trace_is_the_attention_of_the_question(normalise: Literal["after", "before"]) -> None:
    config = replace(CONFIG, normalise=normalise, answer_from="question")
    network, batch = checks.build(config).requires_grad_(False), checks.small_batch()
    checks.scramble(network)
    trace = network.trace(batch)
    assert trace is not None
    weights = {name: value[0] for name, value in network.named_parameters()}
    for number, length in enumerate(batch.lengths.tolist()):
        recorded: list[Tensor] = []
        fixed(config, weights, batch, number, recorded)
        for layer, attention in zip(trace.layers, recorded, strict=True):
            torch.testing.assert_close(layer.weights[0, number, :length], attention[:-1])


@pytest.mark.parametrize("normalise", ["after", "before"])
def test_equals_the_equations(normalise: Literal["after", "before"]) -> None:
    config = replace(CONFIG, normalise=normalise)
    checks.equals_the_equations(
        config, lambda w, batch, number: w["answer_weight"] @ torch.stack(fixed(config, w, batch, number)).mean(0)
    )


def test_equals_the_equations_seen_from_the_question() -> None:
    config = replace(CONFIG, answer_from="question", count_from="question", signal=0.3)
    checks.equals_the_equations(
        config, lambda w, batch, number: w["answer_weight"] @ fixed(config, w, batch, number)[-1]
    )


def test_equals_the_equations_with_halting() -> None:
    checks.equals_the_equations(
        HALTING, lambda w, batch, number: w["answer_weight"] @ torch.stack(halting(w, batch, number)[0]).mean(0)
    )


def test_steps_cost_what_was_pondered() -> None:
    network, batch = checks.build(HALTING), checks.small_batch()
    checks.scramble(network)
    assert isinstance(network, UniversalTransformer)
    weights = {name: value[0].detach() for name, value in network.named_parameters()}
    pondered = network.ponder(batch)[1]
    assert pondered is not None
    for number in range(4):
        expected = torch.stack(halting(weights, batch, number)[1])
        torch.testing.assert_close(pondered[0, number], expected.mean())
    free = replace(HALTING, ponder=0.0)
    without = checks.build(free)
    without.load_state_dict(network.state_dict())
    torch.testing.assert_close(network.losses(batch) - without.losses(batch), HALTING.ponder * pondered)


@either
def test_keeps_to_the_protocol(config: UTConfig) -> None:
    checks.restarts_do_not_mix(config)
    checks.is_the_same_in_any_stack(config)
    checks.ignores_padding(config)
    checks.reads_empty_stories(config)
    checks.works_with_any_head(config)
    checks.shows_how_it_reads(config, layers=None if config.halting else config.steps)


def test_heads_divide_the_dimension() -> None:
    with pytest.raises(InputError, match="multiple of heads"):
        UTConfig(dimension=50, heads=4)


@either
def test_learns_task_1(config: UTConfig) -> None:
    config = UTConfig(steps=3, dimension=32, inner=64, halting=config.halting, dropout=0.0)
    changes = {"learning_rate": 0.003, "max_epochs": 10, "evaluate_every": 1, "solved_epochs": 1, "restarts": 1}
    assert checks.error_after_training(config, {**RECIPE, **changes}, questions=4000, short=True) <= 5


def test_the_trace_shows_how_far_each_sentence_has_halted() -> None:
    network = small("ut", halting=True, steps=4).eval().requires_grad_(False)
    batch = example_batch()
    trace = network.trace(batch)
    assert trace is not None
    halting = [layer.gates["halting"].squeeze(3) for layer in trace.layers]
    inside = torch.arange(batch.stories.shape[1]) < batch.lengths.unsqueeze(1)
    for before, after in pairwise(halting):
        assert (after >= before).all()
    assert ((halting[0] > 0) == inside).all()
    assert max(float(step.max()) for step in halting) == 1
    torch.testing.assert_close(trace.scores, network.scores(batch))
    # The answer is read from the question: what it attends to once it has halted has no weight.
    heard = torch.stack([layer.weights.sum(2) > 0 for layer in trace.layers])[:, :, batch.lengths > 0]
    assert heard[0].all()
    assert not heard.all()
    assert (heard[1:] <= heard[:-1]).all()
    assert all((layer.gates["attention"].sum((2, 3)) > 0)[:, batch.lengths > 0].all() for layer in trace.layers)
    plain = small("ut", halting=False, steps=2).eval().trace(batch)
    assert plain is not None
    assert [set(layer.gates) for layer in plain.layers] == [{"attention"}] * 2
