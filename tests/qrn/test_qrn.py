"""The network against the paper's equations, written out by hand."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import pytest
import torch
from small_networks import qrn, variant, vocabulary_of

from query_reduction.encoders.position import position_weights
from query_reduction.qrn.network import LayerGates, QRNConfig, QueryReductionNetwork
from query_reduction.stacked.tensors import TensorBatch

WORDS = vocabulary_of(13, 4, 6)
VARIANTS = ["1r", "2", "2r", "3r", "2rv", "6r7", "2r9", "1v", "3d5"]


@pytest.fixture
def batch() -> TensorBatch:
    generator = torch.Generator().manual_seed(1)
    words = torch.randint(2, WORDS.size, (9, 6), generator=generator)
    words[::2, 4:] = 0
    stories = torch.randint(0, 9, (4, 7), generator=generator)
    return TensorBatch(
        words, stories, torch.tensor([7, 3, 1, 0]), torch.tensor([0, 3, 5, 8]), torch.tensor([0, 1, 2, 3])
    )


def build(name: str, restarts: range = range(1), **changes: object) -> QueryReductionNetwork:
    """A small network: of dimension 6 where the name gives none."""
    config = variant(name, **changes)
    if config.dimension == QRNConfig().dimension:
        config = replace(config, dimension=6)
    return qrn(config, WORDS, restarts).double()


@pytest.mark.parametrize(("name", "dimension"), [("2r", 6), ("3d5", 5), ("6r7", 7)])
def test_small_networks_are_small(name: str, dimension: int) -> None:
    assert build(name).embedding.shape == (1, 13, dimension)


def sigmoid(x: float) -> float:
    return 1 / (1 + math.exp(-x))


def by_hand(network: QueryReductionNetwork, batch: TensorBatch) -> Iterator[list[float]]:
    """Equations 1 to 6 with loops over everything, for restart 0."""
    c = network.config
    d = c.dimension
    w = {name: parameter[0].tolist() for name, parameter in network.named_parameters()}

    def encode(row: int) -> list[float]:
        x = [0.0] * d
        for j, word in enumerate(batch.words[row].tolist(), start=1):
            if word:
                for k in range(1, d + 1):
                    x[k - 1] += ((1 - k / d) + (j / WORDS.longest_sentence) * (2 * k / d - 1)) * w["embedding"][word][
                        k - 1
                    ]
        return x

    def gate(weight: list[list[float]], bias: list[float], x: list[float], q: list[float], shift: float) -> list[float]:
        values = [
            sigmoid(sum(a * b * e for a, b, e in zip(row, x, q, strict=True)) + b0 - shift)
            for row, b0 in zip(weight, bias, strict=True)
        ]
        return values * d if len(values) == 1 else values

    for question, story, length in zip(
        batch.questions.tolist(), batch.stories.tolist(), batch.lengths.tolist(), strict=True
    ):
        xs = [encode(row) for row in story[:length]]
        qs = [encode(question) for _ in xs]
        answer = [0.0] * d
        for layer in range(c.layers):
            own = 0 if c.tied else layer
            last = layer == c.layers - 1
            steps = []
            for x, q in zip(xs, qs, strict=True):
                z = gate(w["update_weight"][own], w["update_bias"][own], x, q, c.forget_bias)
                z = [min(max(c.gate_stretch * (value - 0.5) + 0.5, 0.0), 1.0) for value in z]
                candidate = [
                    math.tanh(
                        sum(
                            q[i] * w["candidate_query"][own][i][e] + x[i] * w["candidate_sentence"][own][i][e]
                            for i in range(d)
                        )
                        + w["candidate_bias"][own][e]
                    )
                    for e in range(d)
                ]
                resets = [[1.0] * d] * 2
                if c.reset_gate and not last:
                    resets = [gate(w["reset_weight"][own][s], w["reset_bias"][own][s], x, q, 0.0) for s in range(2)]
                steps.append((z, candidate, resets))

            def run(order: range, direction: int, steps: list = steps) -> dict[int, list[float]]:  # type: ignore[type-arg]
                h, states = [0.0] * d, {}
                for t in order:
                    z, candidate, resets = steps[t]
                    h = [z[e] * resets[direction][e] * candidate[e] + (1 - z[e]) * h[e] for e in range(d)]
                    states[t] = h
                return states

            forward = run(range(length), 0)
            backward = run(range(length - 1, -1, -1), 1)
            if last:
                answer = forward[length - 1] if length else answer
            else:
                qs = [[a + b for a, b in zip(forward[t], backward[t], strict=True)] for t in range(length)]
        yield [sum(a * b for a, b in zip(row, answer, strict=True)) for row in w["answer_weight"]]


@pytest.mark.parametrize("tied", [True, False])
@pytest.mark.parametrize("name", VARIANTS)
def test_equals_the_equations(name: str, tied: bool, batch: TensorBatch) -> None:
    network = build(name, tied=tied)
    for parameter in network.parameters():
        torch.nn.init.normal_(parameter, generator=torch.Generator().manual_seed(3))
    expected = torch.tensor(list(by_hand(network, batch)), dtype=torch.float64)
    torch.testing.assert_close(network.scores(batch)[0], expected, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("name", ["2r", "3rv"])
def test_stretched_gates_equal_the_equations(name: str, batch: TensorBatch) -> None:
    network = build(name, gate_stretch=1.4)
    for parameter in network.parameters():
        torch.nn.init.normal_(parameter, generator=torch.Generator().manual_seed(3))
    expected = torch.tensor(list(by_hand(network, batch)), dtype=torch.float64)
    torch.testing.assert_close(network.scores(batch)[0], expected, rtol=1e-9, atol=1e-10)


def test_gates_are_stretched_step_by_step_in_training_and_fully_in_evaluation() -> None:
    network = build("2r", gate_stretch=1.4, plain_epochs=2, stretch_epochs=3)
    seen = []
    for epoch in range(8):
        network.train()
        network.begin_epoch(epoch)
        seen.append(round(network.gate_stretch, 6))
        assert network.eval().gate_stretch == 1.4
    assert seen == [1.0, 1.0, 1.1, 1.2, 1.3, 1.4, 1.4, 1.4]


@pytest.mark.parametrize("name", ["2r", "2rv"])
def test_restarts_do_not_mix(name: str, batch: TensorBatch) -> None:
    stack = build(name, range(3))
    stack.scores(batch)[1].sum().backward()
    for parameter in stack.parameters():
        assert parameter.grad is not None
        assert parameter.grad[1].abs().sum() > 0
        assert parameter.grad[[0, 2]].abs().sum() == 0


def test_a_restart_is_the_same_in_any_stack(batch: TensorBatch) -> None:
    stack = build("2r", range(4))
    alone = build("2r", range(2, 3))
    for name, parameter in alone.named_parameters():
        assert torch.equal(parameter[0], stack.get_parameter(name)[2])
    torch.testing.assert_close(stack.scores(batch)[2], alone.scores(batch)[0])


def test_padding_changes_nothing(batch: TensorBatch) -> None:
    network = build("3r")
    stories = torch.cat([batch.stories, batch.stories.flip(1)], dim=1)
    padded = TensorBatch(
        torch.nn.functional.pad(batch.words, (0, 5)), stories, batch.lengths, batch.questions, batch.answers
    )
    torch.testing.assert_close(network.scores(padded), network.scores(batch))


def test_one_layer_has_no_reset_gate() -> None:
    assert "reset_weight" not in dict(build("1r").named_parameters())


def test_original_initial_weights() -> None:
    network = qrn(QRNConfig(init="original"), vocabulary_of(500, 200, 6))
    assert network.embedding[0, 2:].std().item() == pytest.approx(1, abs=0.02)
    assert network.embedding.abs().max().item() <= math.sqrt(3)
    assert network.candidate_query.std().item() == pytest.approx(0.1, abs=0.01)
    assert network.answer_weight.std().item() == pytest.approx(1 / math.sqrt(50), abs=0.01)
    assert network.embedding[0, :2].abs().sum() == 0


def test_open_initial_weights_leave_the_gates_of_a_wide_network_undecided() -> None:
    network = qrn(QRNConfig(init="open", dimension=200), vocabulary_of(40, 9, 6), [0, 1])
    for weight in (network.update_weight, network.reset_weight):
        assert weight.std().item() == pytest.approx(200**-0.5, rel=0.1)
    assert network.embedding[:, 2:].std().item() == pytest.approx(0.5, rel=0.05)
    assert network.candidate_query.std().item() == pytest.approx(2 * 200**-0.5, rel=0.05)
    assert network.candidate_sentence.std().item() == pytest.approx(400**-0.5, rel=0.05)


def test_paper_initial_weights() -> None:
    network = qrn(QRNConfig(init="paper"), vocabulary_of(500, 200, 6))
    assert network.embedding[0, 2:].std().item() == pytest.approx(1 / math.sqrt(50), abs=0.01)
    assert network.candidate_query.abs().max().item() <= math.sqrt(6 / 150)
    assert network.update_weight.abs().max().item() <= math.sqrt(6 / 51)


def test_position_encoder_lengths() -> None:
    words = torch.tensor([[5, 6, 7, 0], [5, 0, 0, 0]])
    own = position_weights(words, 4, 0, torch.float64)
    # The last word of a sentence has j/J = 1, so its weights are k/d.
    torch.testing.assert_close(own[0, 2], torch.tensor([0.25, 0.5, 0.75, 1.0], dtype=torch.float64))
    torch.testing.assert_close(own[1, 0], own[0, 2])
    assert own[1, 1:].abs().sum() == 0
    task = position_weights(words, 4, 4, torch.float64)
    assert not torch.equal(task[1, 0], own[1, 0])


def test_what_happened_is_recorded(batch: TensorBatch) -> None:
    network = build("3r", range(2))
    layers: list[LayerGates] = []
    table = network.encode(batch.words)
    reduced = network.read(table, table[:, batch.questions], batch.stories, batch.lengths, layers)
    torch.testing.assert_close(network.head.scores(network, reduced, batch), network.scores(batch))
    assert [layer.reset_forward is None for layer in layers] == [False, False, True]
    torch.testing.assert_close(layers[-1].reduced[:, 0, 6], reduced[:, 0])
