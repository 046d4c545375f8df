"""The native reader against the composed network: value and every gradient, any shape, any gates, any threads."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from places import ROOT
from small_networks import qrn, vocabulary_of
from torch import Tensor

from query_reduction.native import library as native
from query_reduction.native import reader as fused_reader
from query_reduction.native import threads
from query_reduction.qrn.fused import FusedNetwork
from query_reduction.qrn.network import LayerGates, QRNConfig

pytestmark = pytest.mark.skipif(not native.available(), reason="the native library is not built")

TOLERANCE = {torch.float32: 2e-4, torch.float64: 1e-10}
WORDS = vocabulary_of(15, 5, 6)


class Case:
    """A stack of networks with weights of every size, and a batch for it."""

    def __init__(
        self,
        config: QRNConfig,
        dtype: torch.dtype = torch.float64,
        *,
        restarts: int = 2,
        sentences: int = 11,
        lengths: tuple[int, ...] = (4, 0, 1, 7),
        seed: int = 0,
        scale: float = 1.0,
    ) -> None:
        generator = torch.Generator().manual_seed(seed)
        self.network = qrn(config, WORDS, range(restarts), seed).to(dtype)
        with torch.no_grad():
            for name, parameter in self.network.named_parameters():
                # Biases start at zero: a wrong gradient would go unseen.
                parameter.add_(torch.randn(parameter.shape, generator=generator).to(dtype) / 3)
                if name.startswith(("update", "reset")):
                    parameter.mul_(scale)
        self.words = torch.randint(0, WORDS.size, (sentences, 6), generator=generator).sort(1, descending=True).values
        self.lengths = torch.tensor(lengths, dtype=torch.int64)
        time = max(1, *lengths) if lengths else 0
        self.stories = torch.randint(0, sentences, (len(lengths), time), generator=generator)
        # What lies past a story's length must not matter, not even as a sentence number.
        for row, length in zip(self.stories, lengths, strict=True):
            row[length:] = 0
        self.questions = torch.randint(0, sentences, (len(lengths),), generator=generator)

    def leaves(self) -> list[Tensor]:
        return [parameter for name, parameter in self.network.named_parameters() if name != "answer_weight"]

    def run(self, *, fused: bool) -> list[Tensor]:
        """The answer vectors, and the gradients of all parameters from a gradient that differs everywhere."""
        self.network.use_native(fused)
        table = self.network.encode(self.words)
        out = self.network.read(table, table[:, self.questions], self.stories, self.lengths)
        weight = torch.cos(torch.arange(out[0].numel(), dtype=torch.float64)).view(out[0].shape).to(out)
        return [out.detach(), *torch.autograd.grad((out * weight).sum(), self.leaves())]

    def compare(self) -> None:
        names = ["out", *(name for name, _ in self.network.named_parameters() if name != "answer_weight")]
        got, wanted = self.run(fused=True), self.run(fused=False)
        for name, have, want in zip(names, got, wanted, strict=True):
            assert have.isfinite().all(), name
            scale = max(1.0, want.abs().max().item()) if want.numel() else 1.0
            if want.dtype == torch.float32:
                # Stretched gates stretch what was rounded before them, in every layer.
                scale *= self.network.config.gate_stretch**self.network.config.layers
            worst = (have - want).abs().max().item() if want.numel() else 0.0
            assert worst <= TOLERANCE[want.dtype] * scale, (name, worst)


configs = st.builds(
    QRNConfig,
    layers=st.integers(1, 4),
    dimension=st.integers(1, 20),
    reset_gate=st.booleans(),
    vector_gates=st.booleans(),
    tied=st.booleans(),
    gate_stretch=st.sampled_from([1.0, 1.2, 2.0]),
    position_length=st.sampled_from(["task", "sentence"]),
)


@settings(max_examples=60, deadline=None)
@given(
    config=configs,
    dtype=st.sampled_from([torch.float32, torch.float64]),
    restarts=st.integers(1, 3),
    sentences=st.integers(1, 30),
    lengths=st.lists(st.integers(0, 40), min_size=1, max_size=9),
    seed=st.integers(0, 1000),
)
def test_equals_composed_network(
    config: QRNConfig, dtype: torch.dtype, restarts: int, sentences: int, lengths: list[int], seed: int
) -> None:
    Case(config, dtype, restarts=restarts, sentences=sentences, lengths=tuple(lengths), seed=seed).compare()


@pytest.mark.parametrize("vector", [False, True])
def test_long_stories_are_read_in_blocks(vector: bool) -> None:
    # Longer than the blocks of rows that stay in the cache together; more sentences than are encoded at once.
    config = QRNConfig(layers=3, dimension=9, vector_gates=vector)
    Case(config, sentences=4500, lengths=(700, 3, 256, 257)).compare()


@pytest.mark.parametrize("dimension", [50, 64, 200])
@pytest.mark.parametrize("vector", [False, True])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_sizes_of_the_paper(variant: str, dimension: int, vector: bool, dtype: torch.dtype) -> None:
    config = QRNConfig(layers=3, dimension=dimension, vector_gates=vector, init="paper")
    Case(config, dtype, lengths=(50, 63, 100, 1, 0, 5, 50, 7, 2)).compare()


@pytest.mark.parametrize("vector", [False, True])
@pytest.mark.parametrize("reset", [False, True])
def test_gates_exactly_open_and_closed(vector: bool, reset: bool) -> None:
    config = QRNConfig(layers=2, dimension=9, vector_gates=vector, reset_gate=reset)
    case = Case(config, torch.float32, scale=1e4, lengths=(30, 12, 3))
    x = case.network.encode(case.words)[:, case.stories]
    gates = torch.sigmoid(torch.einsum("rbtd,rgd->rbtg", x * x[:, :, :1], case.network.update_weight[:, 0]))
    assert (gates == 0).any() and (gates == 1).any()
    case.compare()


@pytest.mark.parametrize("vector", [False, True])
def test_stretched_gates_are_exactly_open_and_shut(variant: str, vector: bool) -> None:
    config = QRNConfig(layers=3, dimension=9, vector_gates=vector, gate_stretch=1.5, forget_bias=0.0)
    case = Case(config, lengths=(30, 12, 3))
    recorded: list[LayerGates] = []
    x = case.network.encode(case.words)
    case.network.read(x, x[:, case.questions], case.stories, case.lengths, recorded)
    for layer in recorded:
        inside = layer.update[:, 0]
        assert (inside == 0).any() and (inside == 1).any() and ((inside > 0) & (inside < 1)).any()
    case.compare()


def test_gates_that_are_not_stretched_keep_their_bits() -> None:
    for vector in (False, True):
        plain = Case(QRNConfig(layers=2, dimension=9, vector_gates=vector), torch.float32)
        plain.network.begin_epoch(0)
        config = QRNConfig(layers=2, dimension=9, vector_gates=vector, gate_stretch=2.0, plain_epochs=1)
        wide = Case(config, torch.float32)
        wide.network.begin_epoch(0)
        for one, other in zip(plain.run(fused=True), wide.run(fused=True), strict=True):
            assert torch.equal(one, other)


def test_long_story() -> None:
    for vector in (False, True):
        Case(QRNConfig(layers=2, dimension=5, vector_gates=vector), torch.float32, lengths=(5000, 4000)).compare()


def test_double_precision_gradients() -> None:
    for vector in (False, True):
        for tied in (False, True):
            case = Case(QRNConfig(layers=2, dimension=3, vector_gates=vector, tied=tied), lengths=(4, 2, 0))
            case.network.use_native(True)
            table = torch.randn(2, 11, 3, dtype=torch.float64, requires_grad=True)
            query = torch.randn(2, 3, 3, dtype=torch.float64, requires_grad=True)
            unit = [
                parameter
                for name, parameter in case.network.named_parameters()
                if name not in ("embedding", "answer_weight")
            ]

            def read(table: Tensor, query: Tensor, *_: Tensor, case: Case = case) -> Tensor:
                return case.network.read(table, query, case.stories, case.lengths)

            assert torch.autograd.gradcheck(read, (table, query, *unit))


def test_encoder_gradients() -> None:
    embedding = torch.randn(2, 6, 4, dtype=torch.float64, requires_grad=True)
    words = torch.tensor([[1, 5, 5], [2, 0, 0], [0, 0, 0], [4, 3, 0]])
    for longest in (0, 7):
        assert torch.autograd.gradcheck(lambda e, n=longest: fused_reader.encode(e, words, n), (embedding,))


@pytest.mark.usefixtures("any_threads")
@pytest.mark.parametrize("vector", [False, True])
def test_same_bits_on_any_number_of_threads(vector: bool) -> None:
    case = Case(
        QRNConfig(layers=3, dimension=20, vector_gates=vector),
        torch.float32,
        restarts=3,
        lengths=(50, 3, 20, 0, 64, 7) * 5,
    )
    threads.use_threads(1)
    first = case.run(fused=True)
    for count in (2, 3, 7):
        threads.use_threads(count)
        for _ in range(3):
            assert all(torch.equal(a, b) for a, b in zip(first, case.run(fused=True), strict=True))


def test_a_stack_gives_the_bits_of_each_restart_alone() -> None:
    config = QRNConfig(layers=2, dimension=10)
    together = Case(config, torch.float32, restarts=3).run(fused=True)
    for restart in range(3):
        case = Case(config, torch.float32, restarts=3)
        for name, parameter in list(case.network.named_parameters()):
            setattr(case.network, name, torch.nn.Parameter(parameter[restart : restart + 1].detach().clone()))
        alone = case.run(fused=True)
        assert all(torch.equal(a[restart : restart + 1], b) for a, b in zip(together, alone, strict=True))


@pytest.mark.usefixtures("any_threads")
def test_python_threads_at_the_same_time() -> None:
    threads.use_threads(2)
    cases = [Case(QRNConfig(dimension=10), torch.float32, seed=seed, lengths=(9,) * 200) for seed in range(4)]
    wanted = [case.run(fused=True) for case in cases]
    with ThreadPoolExecutor(4) as pool:
        for _ in range(5):
            for got, want in zip(pool.map(lambda case: case.run(fused=True), cases), wanted, strict=True):
                assert all(torch.equal(a, b) for a, b in zip(got, want, strict=True))


def test_empty_batches() -> None:
    Case(QRNConfig(dimension=4), lengths=()).run(fused=True)
    case = Case(QRNConfig(dimension=4), lengths=(0, 0))
    assert all((result == 0).all() for result in case.run(fused=True))


def test_second_gradient_of_one_forward() -> None:
    case = Case(QRNConfig(dimension=4))
    case.network.use_native(True)
    table = case.network.encode(case.words)
    out = case.network.read(table, table[:, case.questions], case.stories, case.lengths).sum()
    first = torch.autograd.grad(out, case.leaves(), retain_graph=True)
    assert all(torch.equal(a, b) for a, b in zip(first, torch.autograd.grad(out, case.leaves()), strict=True))


def test_parameters_with_gaps_between_restarts() -> None:
    case = Case(QRNConfig(dimension=4), torch.float32)
    wanted = case.run(fused=True)
    for name, parameter in list(case.network.named_parameters()):
        wide = torch.stack([parameter.detach(), torch.full_like(parameter, torch.nan)], dim=1)[:, 0]
        assert not wide.is_contiguous()
        setattr(case.network, name, torch.nn.Parameter(wide))
    assert all(torch.equal(a, b) for a, b in zip(wanted, case.run(fused=True), strict=True))


def bad_inputs() -> dict[str, tuple[type[Exception], str, dict[str, Tensor]]]:
    table, query = torch.zeros(2, 11, 4), torch.zeros(2, 4, 4)
    stories, lengths = torch.zeros(4, 7, dtype=torch.int64), torch.tensor([4, 0, 1, 7])
    return {
        "sentence too large": (IndexError, "not in the table", {"stories": stories + 11}),
        "sentence negative": (IndexError, "not in the table", {"stories": stories - 1}),
        "length too large": (ValueError, "greater than", {"lengths": lengths + 1}),
        "lengths shape": (ValueError, "lengths must be 4", {"lengths": lengths[:3]}),
        "lengths type": (ValueError, "lengths must be 4", {"lengths": lengths.float()}),
        "stories shape": (ValueError, "stories must be", {"stories": stories[0]}),
        "stories type": (ValueError, "stories must be", {"stories": stories.float()}),
        "table dimension": (ValueError, "table must be", {"table": torch.zeros(2, 11, 5)}),
        "table restarts": (ValueError, "table must be", {"table": torch.zeros(3, 11, 4)}),
        "table shape": (ValueError, "table must be", {"table": torch.zeros(11, 4)}),
        "table type": (ValueError, "float32", {"table": table.double()}),
        "query shape": (ValueError, "query must be", {"query": query[:, :2]}),
        "query type": (ValueError, "float32", {"query": query.double()}),
    }


@pytest.mark.parametrize("name", bad_inputs())
def test_bad_input_is_a_clear_error(name: str) -> None:
    kind, message, changes = bad_inputs()[name]
    network = Case(QRNConfig(dimension=4), torch.float32).network
    assert isinstance(network, FusedNetwork)
    arguments = {
        "table": torch.zeros(2, 11, 4),
        "query": torch.zeros(2, 4, 4),
        "stories": torch.zeros(4, 7, dtype=torch.int64),
        "lengths": torch.tensor([4, 0, 1, 7]),
    }
    with pytest.raises(kind, match=message):
        fused_reader.read(network._shape, dict(network.named_parameters()), **(arguments | changes))


def test_bad_words_are_a_clear_error() -> None:
    embedding = torch.zeros(1, 6, 4)
    for words in (torch.tensor([[6]]), torch.tensor([[-1]])):
        with pytest.raises(IndexError, match="not in the vocabulary"):
            fused_reader.encode(embedding, words, 0)
    for wrong in ((embedding[0], torch.ones(1, 1).long()), (embedding, torch.ones(1, 1))):
        with pytest.raises(ValueError, match="embedding must be"):
            fused_reader.encode(*wrong, 0)


def test_other_whole_number_types() -> None:
    case = Case(QRNConfig(dimension=4))
    wanted = case.run(fused=True)
    for dtype in (torch.int32, torch.int16, torch.int8):
        case.stories, case.lengths, case.words = (t.to(dtype) for t in (case.stories, case.lengths, case.words))
        assert all(torch.equal(a, b) for a, b in zip(wanted, case.run(fused=True), strict=True))


@pytest.mark.usefixtures("any_threads")
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_child_computes_too() -> None:
    script = """
import os, sys, torch
from query_reduction.native.threads import use_threads
from query_reduction.recurrence.scan import scan
use_threads(2)
z, v = torch.rand(64, 500, 1), torch.randn(64, 500, 8)
want = scan(z, v, backend="fused")
child = os.fork()
if child == 0:
    os._exit(0 if torch.equal(scan(z, v, backend="fused"), want) else 1)
_, status = os.waitpid(child, 0)
sys.exit(os.waitstatus_to_exitcode(status))
"""
    subprocess.run([sys.executable, "-W", "ignore::DeprecationWarning", "-c", script], check=True, timeout=120)


def test_a_build_without_a_compiler_succeeds(tmp_path: Path) -> None:
    cmake = shutil.which("cmake") or pytest.skip("cmake is not installed")
    sources = ROOT / "kernels"
    # Under sanitizers their libraries are preloaded, with which cmake does not run.
    plain = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"} | {"CXX": "/nonexistent"}
    done = subprocess.run([cmake, "-S", sources, "-B", tmp_path], env=plain, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "no C++ compiler" in done.stderr


def test_without_the_native_library() -> None:
    script = """
import torch
from query_reduction.native import library as native, threads
from query_reduction.text.vocabulary import Vocabulary
from query_reduction.heads.arrays import HeadConfig
from query_reduction.rivals.registry import build_network, resolve
from query_reduction.recurrence.scan import scan
assert not native.available()
network = build_network(resolve("2r4"), Vocabulary(tuple("abcd"), tuple("xyz"), 2), HeadConfig())
network.use_native(True)
assert not network.native
table = network.encode(torch.tensor([[1, 2], [3, 4]]))
out = network.read(table, table[:, :1], torch.tensor([[0, 1]]), torch.tensor([2]))
out.sum().backward()
print(network.embedding.grad.abs().sum().item() > 0, scan(torch.rand(1, 2, 1), torch.rand(1, 2, 3)).shape)
"""
    environment = os.environ | {"QRN_NATIVE": "0"}
    done = subprocess.run(
        [sys.executable, "-c", script], check=True, timeout=120, env=environment, capture_output=True, text=True
    )
    assert done.stdout == "True torch.Size([1, 2, 3])\n"
    assert done.stderr == ""


def test_a_missing_library_is_said_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("QRN_NATIVE", str(tmp_path / "nowhere.so"))
    native._load.cache_clear()
    try:
        assert not native.available() and not native.available()
        assert len(caplog.records) == 1 and "C++ compiler" in caplog.text
        with pytest.raises(RuntimeError, match="not available"):
            native.library()
    finally:
        monkeypatch.undo()
        native._load.cache_clear()
