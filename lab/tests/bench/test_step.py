"""The peers of the training step: the same losses and gradients where they are the same network."""

from __future__ import annotations

import importlib.util
from typing import Any

import numpy as np
import pytest
import torch
from query_reduction_lab.bench import step
from query_reduction_lab.bench.limits import measure_limits, step_products
from query_reduction_lab.bench.scaling import measure_scaling
from query_reduction_lab.bench.step import OURS, build_qrn, prepare_step, workload
from query_reduction_lab.bench.step_peers import build_peer, scan_unbound
from query_reduction_lab.bench.timing import Effort
from torch import Tensor, nn

from query_reduction.heads.arrays import HeadConfig
from query_reduction.native import library as native
from query_reduction.recurrence.scan import scan
from query_reduction.rivals.gru import GRUConfig
from query_reduction.rivals.lstm import LSTMConfig
from query_reduction.rivals.recurrent import RecurrentReader
from query_reduction.rivals.registry import build_network, resolve
from query_reduction.stacked.tensors import TensorBatch


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("gates", [1, 4])
def test_the_fast_loop_is_the_reference_loop(reverse: bool, gates: int) -> None:
    torch.manual_seed(0)
    z = torch.rand(3, 6, gates, dtype=torch.float64, requires_grad=True)
    v = torch.randn(3, 6, 4, dtype=torch.float64, requires_grad=True)
    initial = torch.randn(3, 4, dtype=torch.float64, requires_grad=True)
    lengths, gradient = torch.tensor([6, 3, 1]), torch.randn(3, 6, 4, dtype=torch.float64)
    right = scan(z, v, lengths, initial, reverse=reverse, backend="loop")
    found = scan_unbound(z, v, lengths, initial, reverse=reverse)
    torch.testing.assert_close(found, right)
    for mine, its in zip(
        torch.autograd.grad(found, (z, v, initial), gradient),
        torch.autograd.grad(right, (z, v, initial), gradient),
        strict=True,
    ):
        torch.testing.assert_close(mine, its)


@pytest.mark.parametrize("variant", ["2r", "3r8"])
def test_composed_networks_have_our_losses_and_gradients(variant: str) -> None:
    work = workload(4, 6, 8)
    batch = TensorBatch.of(work.questions.batch(work.chosen))
    found: list[list[Tensor]] = []
    for backend in (None, "unbound loop", "matrix"):
        network = build_qrn(resolve(variant), work, 2, backend)
        losses = network.losses(batch)
        losses.sum().backward()
        found.append([losses.detach(), *(p.grad for p in network.parameters() if p.grad is not None)])
    for other in found[1:]:
        for mine, ours in zip(other, found[0], strict=True):
            torch.testing.assert_close(mine, ours, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("variant", ["2r", "3r8", "2v8"])
def test_the_network_in_jax_has_our_losses_and_gradients(variant: str) -> None:
    jax = pytest.importorskip("jax", reason="pip install './lab[bench]'")
    from query_reduction_lab.bench import step_jax

    work = workload(4, 6, 8)
    batch, longest = work.questions.batch(work.chosen), work.vocabulary.longest_sentence
    batch.lengths[1] = 2
    config = resolve(variant)
    network = build_qrn(config, work, 2, None)
    plain = step_jax.plain_batch(batch)
    weights = step_jax.weights_of(network)

    def losses(weights: Any) -> Any:
        return jax.vmap(lambda own: step_jax.jax_losses(config, longest, own, plain))(weights)

    ours = network.losses(TensorBatch.of(batch))
    ours.sum().backward()
    torch.testing.assert_close(torch.tensor(np.asarray(losses(weights))), ours.detach(), rtol=1e-4, atol=1e-5)
    gradients = jax.grad(lambda weights: losses(weights).sum())(weights)
    for name, parameter in network.named_parameters():
        found = torch.tensor(np.asarray(gradients[name]))
        torch.testing.assert_close(found, parameter.grad, rtol=1e-3, atol=1e-4, msg=name)


@pytest.mark.parametrize("kind", [nn.GRU, nn.LSTM])
def test_plain_readers_are_the_stacked_ones(kind: type[nn.GRU | nn.LSTM]) -> None:
    """The same weights give the same loss and the same gradient of the embedding."""
    work = workload(4, 6, 8)
    batch = TensorBatch.of(work.questions.batch(work.chosen))
    plain = build_peer(kind, 2, 5, work.vocabulary)
    config = GRUConfig(2, 5) if kind is nn.GRU else LSTMConfig(2, 5, forget_bias=0.0)
    stacked = build_network(config, work.vocabulary, HeadConfig())
    assert isinstance(stacked, RecurrentReader)
    weights = dict(plain.layers.named_parameters())
    with torch.no_grad():
        stacked.embedding.copy_(plain.embedding)
        stacked.answer_weight.copy_(plain.answer.weight.unsqueeze(0))
        for layer in range(2):
            for source, letters in (("input", "ih"), ("state", "hh")):
                weight, bias = weights[f"weight_{letters}_l{layer}"], weights[f"bias_{letters}_l{layer}"]
                getattr(stacked, f"{source}_weight")[0, layer] = _reordered(kind, weight).T
                if kind is nn.GRU:
                    getattr(stacked, f"{source}_bias")[0, layer] = bias
                else:
                    dict(stacked.named_parameters())["bias"][0, layer] += _reordered(kind, bias)
    losses = [plain.loss(batch), stacked.losses(batch).mean()]
    embeddings: list[Tensor] = [plain.embedding, stacked.embedding]
    gradients = [torch.autograd.grad(loss, own)[0] for loss, own in zip(losses, embeddings, strict=True)]
    torch.testing.assert_close(losses[0], losses[1])
    torch.testing.assert_close(gradients[0], gradients[1])


def _reordered(kind: type[nn.GRU | nn.LSTM], weight: Tensor) -> Tensor:
    """PyTorch's LSTM has the candidate before the output gate; ours after it."""
    if kind is nn.GRU:
        return weight
    first, second, candidate, output = weight.chunk(4)
    return torch.cat((first, second, output, candidate))


@pytest.mark.parametrize("restarts", [1, 2])
def test_every_contender_takes_a_step(restarts: int) -> None:
    for name in step._CONTENDERS:
        if restarts > 1 and name in step._SINGLE_ONLY:
            continue
        if "JAX" in name and importlib.util.find_spec("jax") is None:
            continue
        request = {"variant": "2r4", "restarts": restarts, "batch": 2, "sentences": 3}
        prepare_step(name, 1, request)["step"]()
    assert next(iter(step._CONTENDERS)) == OURS


def test_products_are_counted_by_the_formula() -> None:
    work = workload(batch=4, sentences=5, distinct=1)
    assert step_products(resolve("3r10"), work) == 3 * 2 * 10**2 * (1 + 4 + 2 * 4 * 5)


def test_the_workload_is_as_large_as_asked() -> None:
    work = workload()
    batch = work.questions.batch(work.chosen)
    assert batch.stories.shape == (32, 50) and bool((batch.lengths == 50).all()) and work.sentences == 50
    assert 180 <= len(np.unique(batch.stories)) <= 200
    assert len(work.vocabulary.words) == 40 and len(work.vocabulary.answers) == 6
    assert work.vocabulary.longest_sentence == 8


def test_scaling_and_limits_have_a_row_for_every_case(tiny: Effort) -> None:
    scaling = measure_scaling(tiny, ("2r4",))
    assert (len(scaling.threads), len(scaling.restarts), len(scaling.overhead)) == (2, 1, 2)
    limits = measure_limits(tiny, gemm=16, stream=64, scan_steps=8, variants=("2r4",))
    assert len(limits.steps) == 3 and limits.scan_share > 0
    names = [row.name for row in limits.bandwidth]
    assert names[:2] == ["copy", "triad"] and names[-1].startswith("scan, forward and backward")
    assert ("triad, written past the cache" in names[2:-1]) == native.available()
