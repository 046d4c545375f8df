"""GRU and LSTM readers against PyTorch's own layers, in value and gradient."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Literal

import pytest
import torch
from query_reduction_lab.bench.step import workload
from small_networks import vocabulary_of
from torch import Tensor, nn

from query_reduction.encoders.position import encode_sentences
from query_reduction.heads.arrays import HeadConfig
from query_reduction.rivals.gru import GRUConfig, GRUNetwork
from query_reduction.rivals.lstm import LSTMConfig, LSTMNetwork
from query_reduction.rivals.recurrent import RecurrentReader, word_sequence
from query_reduction.stacked.network import Seeds
from query_reduction.stacked.tensors import TensorBatch

WORDS = vocabulary_of(13, 4, 6)
DIMENSION = 5
Reads = Literal["sentences", "words"]


def gru(reads: Reads = "sentences", layers: int = 2) -> RecurrentReader:
    return GRUNetwork(GRUConfig(layers, DIMENSION, reads), WORDS, HeadConfig(), Seeds(range(3)))


def lstm(reads: Reads = "sentences", layers: int = 2, forget_bias: float = 0.0) -> RecurrentReader:
    return LSTMNetwork(
        LSTMConfig(layers, DIMENSION, reads, forget_bias=forget_bias), WORDS, HeadConfig(), Seeds(range(3))
    )


Build = Callable[[Reads], RecurrentReader]
Equal = dict[str, tuple[str, Callable[[Tensor], Tensor]]]
both_cells = pytest.mark.parametrize("build", [gru, lstm])
both_readings = pytest.mark.parametrize("reads", ["sentences", "words"])


def random(network: RecurrentReader) -> RecurrentReader:
    """Double precision, and weights that differ everywhere: a bias that starts at zero would hide its gradient."""
    generator = torch.Generator().manual_seed(3)
    network = network.double()
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.add_(torch.randn(parameter.shape, generator=generator, dtype=torch.float64) / 3)
    return network


@pytest.fixture
def batch() -> TensorBatch:
    generator = torch.Generator().manual_seed(1)
    words = torch.randint(2, WORDS.size, (9, 6), generator=generator)
    words[::2, 4:] = 0
    stories = torch.randint(0, 9, (4, 7), generator=generator)
    return TensorBatch(
        words, stories, torch.tensor([7, 3, 1, 4]), torch.tensor([0, 3, 5, 8]), torch.tensor([0, 1, 2, 3])
    )


def as_torch(network: RecurrentReader, restart: int) -> tuple[nn.GRU | nn.LSTM, Equal]:
    """PyTorch's layers with one restart's weights; and which part of which of ours each of its parameters equals."""
    is_gru = isinstance(network, GRUNetwork)
    layers = network.config.layers
    theirs = (nn.GRU if is_gru else nn.LSTM)(DIMENSION, DIMENSION, layers, batch_first=True).double()
    # Our LSTM has input, forget, output, candidate side by side; PyTorch has the candidate before the output.
    gates = [0, 1, 2] if is_gru else [0, 1, 3, 2]
    columns = torch.arange(len(gates) * DIMENSION).view(len(gates), DIMENSION)[gates].flatten()
    biases = {"bias_ih": "input_bias", "bias_hh": "state_bias"} if is_gru else {"bias_ih": "bias"}

    def part(parameter: Tensor, layer: int) -> Tensor:
        own = parameter[restart, layer][..., columns]
        return own.T if own.dim() == 2 else own

    equal: Equal = {
        f"{name}_l{layer}": (own, partial(part, layer=layer))
        for layer in range(layers)
        for name, own in {"weight_ih": "input_weight", "weight_hh": "state_weight", **biases}.items()
    }
    with torch.no_grad():
        for name, parameter in theirs.named_parameters():
            parameter.zero_()
            if name in equal:
                own, of = equal[name]
                parameter.copy_(of(network.get_parameter(own)))
    return theirs, equal


def inputs_of(network: RecurrentReader, batch: TensorBatch) -> tuple[Tensor, Tensor]:
    """What the first layer reads at each step, and the number of steps."""
    if network.config.reads == "words":
        words, lengths = word_sequence(batch)
        return network.embedding[:, words], lengths
    table = encode_sentences(network.embedding, batch.words, WORDS.longest_sentence)
    return table[:, batch.stories] + table[:, batch.questions].unsqueeze(2), batch.lengths


@both_readings
@both_cells
def test_equals_pytorch(build: Build, reads: Reads, batch: TensorBatch) -> None:
    """Each restart's answer vectors, and the gradients of all weights from a gradient that differs everywhere."""
    network = random(build(reads))
    found = network.read(batch)
    weight = torch.cos(torch.arange(found[0].numel(), dtype=torch.float64)).view(found[0].shape)
    (found * weight).sum().backward()
    inputs, lengths = inputs_of(network, batch)
    for restart in range(3):
        theirs, equal = as_torch(network, restart)
        states, _ = theirs(inputs[restart].detach())
        expected = states[torch.arange(4), lengths - 1]
        torch.testing.assert_close(found[restart], expected, rtol=1e-10, atol=1e-12)
        (expected * weight).sum().backward()
        for name, (own, of) in equal.items():
            gradient = network.get_parameter(own).grad
            assert gradient is not None
            torch.testing.assert_close(of(gradient), theirs.get_parameter(name).grad, rtol=1e-9, atol=1e-12)


@both_cells
def test_equals_pytorch_step_by_step(build: Build) -> None:
    network = random(build("sentences"))
    inputs = torch.randn(3, 2, 9, DIMENSION, dtype=torch.float64)
    for restart in range(3):
        theirs, _ = as_torch(network, restart)
        states = inputs
        for layer in range(2):
            states = network.layer(layer, states)
        torch.testing.assert_close(states[restart], theirs(inputs[restart])[0], rtol=1e-10, atol=1e-12)


def test_the_forget_bias_is_added_inside_the_forget_gate(batch: TensorBatch) -> None:
    network, other = random(lstm()), random(lstm(forget_bias=1.5))
    with torch.no_grad():
        network.get_parameter("bias")[:, :, DIMENSION : 2 * DIMENSION] += 1.5
    torch.testing.assert_close(network.read(batch), other.read(batch))


@both_readings
@both_cells
def test_restarts_do_not_mix(build: Build, reads: Reads, batch: TensorBatch) -> None:
    stack = random(build(reads))
    stack.losses(batch)[1].sum().backward()
    for parameter in stack.parameters():
        assert parameter.grad is not None
        assert parameter.grad[1].abs().sum() > 0
        assert parameter.grad[[0, 2]].abs().sum() == 0


@both_readings
@both_cells
def test_what_lies_past_a_story_is_ignored(build: Build, reads: Reads, batch: TensorBatch) -> None:
    network = random(build(reads))
    before = network.scores(batch)
    batch.stories[1, 3:] = batch.questions[1]
    torch.testing.assert_close(network.scores(batch), before)
    longer = TensorBatch(
        nn.functional.pad(batch.words, (0, 5)),
        torch.cat([batch.stories, batch.stories.flip(1)], dim=1),
        batch.lengths,
        batch.questions,
        batch.answers,
    )
    torch.testing.assert_close(network.scores(longer), before)


@both_cells
def test_a_batch_without_sentences_answers_from_nothing(build: Build) -> None:
    """Sentences: the state is zero. Words: the question is still read."""
    empty = TensorBatch(
        torch.tensor([[2, 3, 4]]),
        torch.zeros(1, 0, dtype=torch.int64),
        torch.tensor([0]),
        torch.tensor([0]),
        torch.tensor([0]),
    )
    assert not random(build("sentences")).read(empty).any()
    assert random(build("words")).read(empty).abs().sum() > 0


def test_words_of_the_story_and_then_of_the_question() -> None:
    words = torch.tensor([[2, 3, 0], [4, 0, 0], [5, 6, 7]])
    batch = TensorBatch(
        words, torch.tensor([[0, 1], [1, 0]]), torch.tensor([2, 1]), torch.tensor([2, 1]), torch.tensor([0, 0])
    )
    sequence, lengths = word_sequence(batch)
    assert sequence.tolist() == [[2, 3, 4, 5, 6, 7], [4, 4, 0, 0, 0, 0]]
    assert lengths.tolist() == [6, 2]


@both_readings
@pytest.mark.parametrize("kind", ["gru", "lstm"])
def test_learns_a_batch_by_heart(kind: str, reads: Reads) -> None:
    work = workload(4, 3, 6)
    batch = TensorBatch.of(work.questions.batch(work.chosen))
    network: RecurrentReader
    if kind == "gru":
        network = GRUNetwork(GRUConfig(2, 8, reads), work.vocabulary, HeadConfig(), Seeds())
    else:
        network = LSTMNetwork(LSTMConfig(2, 8, reads), work.vocabulary, HeadConfig(), Seeds())
    optimiser = torch.optim.Adam(network.parameters(), lr=0.05)
    before = network.losses(batch).mean().item()
    for _ in range(150):
        optimiser.zero_grad()
        network.losses(batch).mean().backward()
        optimiser.step()
    assert network.losses(batch).mean().item() < 0.2 * before


def test_nothing_to_show(batch: TensorBatch) -> None:
    assert gru().trace(batch) is None
