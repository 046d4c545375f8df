"""A training step in one native call against autograd: losses and every gradient, in any stack, on any threads."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from small_networks import qrn, vocabulary_of
from torch import Tensor

from query_reduction.native import library as native
from query_reduction.native import step as native_step
from query_reduction.native import threads
from query_reduction.qrn.fused import FusedNetwork
from query_reduction.qrn.network import QueryReductionNetwork
from query_reduction.qrn.variants import QRNConfig
from query_reduction.stacked.network import StackedNetwork
from query_reduction.stacked.tensors import TensorBatch

pytestmark = pytest.mark.skipif(not native.available(), reason="the native library is not built")

TOLERANCE = {torch.float32: 1e-5, torch.float64: 1e-12}


def build(config: QRNConfig, dtype: torch.dtype, restarts: range = range(2), answers: int = 5) -> QueryReductionNetwork:
    network = qrn(config, vocabulary_of(15, answers, 6), restarts).to(dtype)
    noise = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for parameter in network.parameters():
            # The same for every restart; biases start at zero, where a wrong gradient would go unseen.
            parameter.add_(torch.randn(parameter.shape[1:], generator=noise).to(dtype) / 3)
            parameter.grad = torch.zeros_like(parameter)
    return network.train()


def make_batch(lengths: list[int], sentences: int = 11, answers: int = 5, seed: int = 0) -> TensorBatch:
    random = torch.Generator().manual_seed(seed)

    def numbers(most: int, *shape: int) -> Tensor:
        return torch.randint(0, most, shape, generator=random, dtype=torch.int32)

    return TensorBatch(
        words=numbers(15, sentences, 6).sort(1, descending=True).values,
        stories=numbers(sentences, len(lengths), max(lengths)),
        lengths=torch.tensor(lengths, dtype=torch.int32),
        questions=numbers(sentences, len(lengths)),
        answers=numbers(answers, len(lengths)),
    )


def taken(network: QueryReductionNetwork, batch: TensorBatch, *, fused: bool, scale: float = 0.7) -> dict[str, Tensor]:
    """Losses and gradients, by name."""
    network.zero_grad(set_to_none=False)
    step = network.backpropagate if fused else lambda *given: StackedNetwork.backpropagate(network, *given)
    losses = step(batch, scale)
    gradients = {name: own.grad.clone() for name, own in network.named_parameters() if own.grad is not None}
    return {"losses": losses, **gradients}


def compare(network: QueryReductionNetwork, batch: TensorBatch) -> None:
    got, wanted = taken(network, batch, fused=True), taken(network, batch, fused=False)
    assert got.keys() == wanted.keys()
    for name, want in wanted.items():
        worst = (got[name] - want).abs().max().item()
        assert worst <= TOLERANCE[want.dtype] * max(1.0, want.abs().max().item()), (name, worst)


@settings(max_examples=60, deadline=None)
@given(
    config=st.builds(
        QRNConfig,
        layers=st.integers(1, 4),
        dimension=st.integers(1, 20),
        reset_gate=st.booleans(),
        vector_gates=st.booleans(),
        tied=st.booleans(),
        gate_stretch=st.sampled_from([1.0, 1.2]),
        position_length=st.sampled_from(["task", "sentence"]),
    ),
    restarts=st.integers(1, 3),
    sentences=st.integers(1, 30),
    lengths=st.lists(st.integers(0, 40), min_size=1, max_size=9),
    answers=st.integers(1, 40),
    seed=st.integers(0, 1000),
)
def test_equals_autograd(
    config: QRNConfig, restarts: int, sentences: int, lengths: list[int], answers: int, seed: int
) -> None:
    network = build(config, torch.float64, range(restarts), answers)
    compare(network, make_batch(lengths, sentences, answers, seed))


@pytest.mark.parametrize(("layers", "dimension", "vector"), [(2, 50, False), (3, 100, True), (3, 200, False)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_sizes_of_the_paper(variant: str, layers: int, dimension: int, vector: bool, dtype: torch.dtype) -> None:
    network = build(QRNConfig(layers, dimension, vector_gates=vector, init="paper"), dtype)
    compare(network, make_batch([50, 63, 130, 1, 0, 5, 50, 7, 2], sentences=40))


def test_sentences_are_encoded_in_pieces() -> None:
    compare(build(QRNConfig(2, 9), torch.float64), make_batch([300, 5], sentences=4500))


def test_the_same_bits_on_any_threads_and_in_any_stack(any_threads: None) -> None:
    config, batch = QRNConfig(2, 50), make_batch([50] * 40, sentences=60)
    found = []
    for count in (1, 2, 3):
        threads.use_threads(count)
        found.append(taken(build(config, torch.float32, range(10)), batch, fused=True))
        alone = taken(build(config, torch.float32, range(3, 4)), batch, fused=True)
        assert all(torch.equal(alone[name][0], found[0][name][3]) for name in alone)
    assert all(torch.equal(other[name], found[0][name]) for other in found for name in other)


def test_parameters_may_move() -> None:
    network, batch = build(QRNConfig(2, 9), torch.float64), make_batch([3, 4])
    before = taken(network, batch, fused=True)
    for name, parameter in list(network.named_parameters()):
        moved = torch.nn.Parameter(parameter.detach() * 2)
        moved.grad = torch.zeros_like(moved)
        setattr(network, name, moved)
    compare(network, batch)
    assert not torch.equal(before["losses"], taken(network, batch, fused=True)["losses"])


@pytest.mark.parametrize(
    ("field", "value", "error"),
    [("answers", 5, IndexError), ("answers", -1, IndexError), ("questions", 11, IndexError), ("words", 15, IndexError)],
)
def test_numbers_that_name_nothing_are_refused(field: str, value: int, error: type[Exception]) -> None:
    batch = make_batch([3, 4])
    getattr(batch, field).view(-1)[-1] = value
    with pytest.raises(error):
        build(QRNConfig(2, 9), torch.float64).backpropagate(batch)


def test_parts_that_do_not_fit_are_refused() -> None:
    network, batch = build(QRNConfig(2, 9), torch.float64), make_batch([3, 4])
    assert isinstance(network, FusedNetwork)
    network.backpropagate(batch)
    assert network._step is not None
    parts = (batch.words, batch.stories, batch.lengths, batch.questions[:1], batch.answers)
    with pytest.raises(ValueError, match="do not fit"):
        network._step.take(network._shape_now, 0, parts, 1.0)
    network.embedding.grad = None
    with pytest.raises(ValueError, match="no gradient"):
        native_step.TrainingStep(dict(network.named_parameters()))


def test_an_absurd_loss_is_not_hidden() -> None:
    network = build(QRNConfig(2, 9), torch.float32)
    with torch.no_grad():
        network.answer_weight[1] = torch.nan
    losses = network.backpropagate(make_batch([3, 4]))
    assert losses[0].isfinite() and losses[1].isnan()
