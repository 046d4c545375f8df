"""Models in use compute what the networks in PyTorch do."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Literal
from unittest.mock import patch

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from small_networks import in_use, qrn, vocabulary_of, weights_of

from query_reduction.errors import InputError
from query_reduction.heads.arrays import HeadConfig
from query_reduction.heads.softmax import best, log_sum_exp, softmax
from query_reduction.model import Model, StoryModel, load
from query_reduction.models import ready_models
from query_reduction.native import library
from query_reduction.qrn import decoder_training as decoder
from query_reduction.qrn.decoder import scores as decoder_scores
from query_reduction.qrn.network import LayerGates, QueryReductionNetwork
from query_reduction.qrn.reader import QueryReduction
from query_reduction.qrn.variants import QRNConfig
from query_reduction.rivals.trained import restore_network
from query_reduction.sources.dialogs import generated_dialogs
from query_reduction.stacked.tensors import TensorBatch
from query_reduction.text.batch import Batch
from query_reduction.worlds import generate

WORDS = vocabulary_of(30, 6, 7)

configs = st.builds(
    QRNConfig,
    layers=st.integers(1, 4),
    dimension=st.integers(1, 12),
    reset_gate=st.booleans(),
    vector_gates=st.booleans(),
    tied=st.booleans(),
    forget_bias=st.floats(-1, 3),
    gate_stretch=st.sampled_from([1.0, 1.2, 2.0]),
    init=st.sampled_from(["original", "open"]),
    position_length=st.sampled_from(["task", "sentence"]),
    decode_questions=st.booleans(),
    encoder=st.sampled_from(["position", "order"]),
)


@st.composite
def batches(draw: st.DrawFn) -> Batch:
    chance = np.random.default_rng(draw(st.integers(0, 2**32)))
    sentences, words = draw(st.integers(1, 9)), draw(st.integers(1, 9))
    lengths = np.array(draw(st.lists(st.integers(0, 8), min_size=1, max_size=5)))
    told = chance.integers(1, WORDS.size, (sentences, words))
    told[np.arange(words) >= chance.integers(1, words + 1, sentences)[:, None]] = 0
    count = len(lengths)
    return Batch(
        told,
        chance.integers(sentences, size=(count, lengths.max(initial=0))),
        lengths,
        chance.integers(sentences, size=count),
        chance.integers(6, size=count),
    )


@contextmanager
def native_code(allowed: bool) -> Iterator[None]:
    """Arrays are computed with native code, or without."""
    with patch.object(library, "available", lambda: allowed and library._load() is not None):
        yield


def recorded(network: QueryReductionNetwork, batch: TensorBatch) -> list[LayerGates]:
    gates: list[LayerGates] = []
    table = network.encode(batch.words)
    network.read(table, table[:, batch.questions.long()], batch.stories, batch.lengths, gates)
    return gates


def close(found: Any, expected: Any, precision: float = 1e-9) -> None:
    np.testing.assert_allclose(found, expected, rtol=precision, atol=precision)


def compare(network: QueryReductionNetwork, model: QueryReduction, batch: Batch, precision: float) -> None:
    """Probabilities, and everything a trace shows."""
    tensors = TensorBatch.of(batch)
    with torch.inference_mode():
        network.eval().use_native(False)
        expected = network.scores(tensors)[0]
        gates = recorded(network, tensors)
    close(softmax(model.scores(batch)), expected.softmax(-1).numpy(), precision)
    trace = model.trace(batch)
    close(softmax(trace.scores), expected.softmax(-1).numpy(), precision)
    for shown, layer in itertools.zip_longest(trace.layers, gates):
        for name in ("update", "reset_forward", "reset_backward"):
            gate = getattr(layer, name)
            assert (gate is None) == (name not in shown.gates)
            if gate is not None:
                close(shown.gates[name], gate[0].numpy(), precision)
        close(shown.candidate, layer.candidate[0].numpy(), precision)
        close(shown.reduced, layer.reduced[0].numpy(), precision)
    assert (trace.so_far is None) == (not gates)
    if trace.so_far is not None:
        states = gates[-1].reduced.flatten(1, 2)
        with torch.inference_mode():
            so_far = network.head.scores(network, states, None)[0].unflatten(0, batch.stories.shape).softmax(-1)
        close(softmax(trace.so_far()), so_far.numpy(), precision)


@settings(max_examples=150)
@given(configs, batches(), st.integers(0, 1000), st.booleans())
def test_any_network_is_that_of_pytorch(config: QRNConfig, batch: Batch, seed: int, native: bool) -> None:
    network = qrn(config, WORDS, (0,), seed).double()
    with torch.no_grad():
        for name, parameter in network.named_parameters():
            if "bias" in name or "decoder" in name or "order" in name:
                parameter.normal_(generator=torch.Generator().manual_seed(seed))
    with native_code(native):
        model = in_use(network, WORDS)
        compare(network, model, batch, 1e-9)
        if config.decode_questions:
            query = model.encode(batch.words)
            with torch.inference_mode():
                expected = decoder.scores(network, torch.from_numpy(query)[None])[0].numpy()
            close(decoder_scores(model.weights, query), expected, 1e-9)


_MATCHES: tuple[Literal["none", "paper", "original"], ...] = ("none", "paper", "original")


@pytest.mark.parametrize(
    "head",
    [HeadConfig("responses", match) for match in _MATCHES],
    ids=lambda head: f"{head.kind}-{head.match}",
)
@pytest.mark.parametrize("native", [True, False], ids=["native", "plain"])
def test_dialog_heads_are_those_of_pytorch(head: HeadConfig, native: bool) -> None:
    parts = generated_dialogs([5], 12, 0)
    task = parts.learn(parts.options_type(), parts.train)
    questions = task.encode(parts.train)
    network = qrn(QRNConfig(dimension=9), task.vocabulary, head=head).double()
    with native_code(native):
        model = in_use(network, task.vocabulary, head)
        for _, batch in questions.batches(16):
            compare(network, model, batch, 1e-9)


@pytest.mark.parametrize("name", [model.name for model in ready_models()])
@pytest.mark.parametrize("native", [True, False], ids=["native", "plain"])
def test_ready_models_answer_as_in_pytorch(name: str, native: bool) -> None:
    with native_code(native):
        model = load(name)
        assert isinstance(model, Model)
        saved, task = model.saved, model.task
        stack = restore_network(saved.config, task.vocabulary, task.head, saved.weights)
        assert isinstance(stack, QueryReductionNetwork)
        stack.use_native(False)
        double = copy.deepcopy(stack).double()
        if isinstance(model, StoryModel):
            tasks = [int(found) for found in saved.card["test_errors"]["answer"] if str(found).isdecimal()]
            stories = [story for number in tasks for story in generate(number, 12, split="test")]
        else:
            stories = generated_dialogs([5], 8, 1).train
        for _, batch in task.encode(stories).batches(32):
            with torch.inference_mode():
                expected = stack.scores(TensorBatch.of(batch))[0].softmax(-1).numpy()
            close(softmax(model.network.scores(batch)), expected, 1e-6)
            # Of what lies between question and answer, single precision rounds more than that.
            compare(double, in_use(double, task.vocabulary, task.head), batch, 1e-9)


def test_every_variant_has_the_weights_of_pytorch() -> None:
    for layers, *switches in itertools.product((1, 3), *[(False, True)] * 4):
        reset, vector, tied, decode = map(bool, switches)
        config = QRNConfig(layers, 4, reset, vector, tied, decode_questions=decode)
        in_use(qrn(config, WORDS), WORDS)  # their names and shapes are compared


def test_weights_that_do_not_fit_are_refused() -> None:
    weights = weights_of(qrn(QRNConfig(dimension=4), WORDS))
    with pytest.raises(InputError, match=r"weight update_bias is \(1, 1, 2\) but the settings require \(1, 1, 1\)"):
        QueryReduction(QRNConfig(dimension=4), WORDS, HeadConfig(), weights | {"update_bias": np.zeros((1, 1, 2))})


def test_half_precision_is_for_files() -> None:
    network = qrn(QRNConfig(dimension=4), WORDS)
    half = {name: weight.astype(np.float16) for name, weight in weights_of(network).items()}
    model = QueryReduction(network.config, WORDS, HeadConfig(), half)
    assert model.scores(_one()).dtype == np.float32


def _one() -> Batch:
    return Batch(np.array([[3, 4], [5, 0]]), np.array([[0, 0]]), np.array([2]), np.array([1]), np.array([0]))


scored = st.lists(st.lists(st.sampled_from([-2.0, 0.0, 0.5, 3.0]), min_size=9, max_size=9), min_size=1, max_size=4)


@given(scored, st.integers(1, 12))
def test_the_best_are_in_order_and_the_first_of_equals(rows: list[list[float]], count: int) -> None:
    found = best(np.array(rows), count).tolist()
    assert found == [sorted(range(9), key=lambda place: (-row[place], place))[:count] for row in rows]


@given(scored)
def test_softmax(rows: list[list[float]]) -> None:
    scores = torch.tensor(rows, dtype=torch.float64)
    close(softmax(scores.numpy()), scores.softmax(1).numpy())
    close(log_sum_exp(scores.numpy(), 1), scores.logsumexp(1).numpy())
