"""A whole training step: batch, encoder, reading, head, loss, backward, weight decay and Adagrad.

Ours against the same network with the recurrence as a loop over time (the paper's "without parallelisation"), as the
paper's matrix, and against GRU and LSTM readers of the same width and depth over the same sentences: single against
single, stacked against stacked, each in its own process.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from query_reduction.heads.arrays import HeadConfig
from query_reduction.native import library as native
from query_reduction.native.threads import use_threads
from query_reduction.qrn.fused import FusedNetwork
from query_reduction.qrn.network import QRNConfig, QueryReductionNetwork
from query_reduction.rivals.gru import GRUConfig
from query_reduction.rivals.lstm import LSTMConfig
from query_reduction.rivals.registry import build_network, resolve
from query_reduction.stacked.network import Seeds, StackedNetwork
from query_reduction.stacked.tensors import TensorBatch
from query_reduction.text.encoding import EncodedQuestions, encode_stories
from query_reduction.text.stories import Question, Story
from query_reduction.text.vocabulary import Vocabulary
from query_reduction.training.recipes import Recipe
from query_reduction.training.stack import ParameterStack
from query_reduction_lab.bench.processes import Entrant, Field
from query_reduction_lab.bench.results import Step, StepRow
from query_reduction_lab.bench.step_peers import build_peer, plain_step
from query_reduction_lab.bench.timing import Effort, Runner
from query_reduction_lab.bench.worker import Calls, LeftOutError, thread_counts

__all__ = [
    "LOOP",
    "MATRIX",
    "OURS",
    "STACKED",
    "VARIANTS",
    "Workload",
    "build_qrn",
    "measure_steps",
    "network_step",
    "our_runner",
    "prepare_step",
    "workload",
]

VARIANTS = ("2r", "6r200")
STACKED = 10
"""Restarts that train together."""
OURS, LOOP, MATRIX = "ours", "QRN, loop over time", "QRN, matrix form"

_WORDS = 40
_ANSWERS = 6
_LONGEST_SENTENCE = 8
_DISTINCT_SENTENCES = 200
_LEARNING_RATE = 1e-4
"""So small that thousands of steps on nonsense leave the weights where they are: the arithmetic is the same."""


@dataclass(frozen=True, slots=True)
class Workload:
    """Questions the size of real ones, about meaningless stories."""

    questions: EncodedQuestions
    vocabulary: Vocabulary
    chosen: np.ndarray[Any, np.dtype[np.int64]]
    """The questions of a batch."""

    @property
    def sentences(self) -> int:
        """The length of a story."""
        return int(self.questions.stories.length.max())


def workload(batch: int = 32, sentences: int = 50, distinct: int = _DISTINCT_SENTENCES) -> Workload:
    """A batch whose stories all have the full length, so that skipping padding saves nothing."""
    random = np.random.default_rng(0)
    words = [f"w{number}" for number in range(_WORDS)]

    def sentence() -> str:
        return " ".join(random.choice(words, random.integers(4, _LONGEST_SENTENCE + 1)))

    told = [sentence() for _ in range(distinct)]
    asked = [sentence() for _ in range(batch)]
    stories = [
        Story(
            tuple(told[number] for number in random.integers(distinct, size=sentences)),
            (Question(question, words[place % _ANSWERS], sentences),),
        )
        for place, question in enumerate(asked)
    ]
    vocabulary = Vocabulary.from_stories(stories)
    return Workload(encode_stories(stories, vocabulary, memory=0), vocabulary, np.arange(batch))


def build_qrn(config: QRNConfig, work: Workload, restarts: int, scan_backend: str | None) -> QueryReductionNetwork:
    """The network as it is trained, or composed of PyTorch operations around one of the scans."""
    network = FusedNetwork(config, work.vocabulary, HeadConfig(), Seeds(range(restarts)))
    if scan_backend is not None:
        network.use_native(False)
        network.scan_backend = scan_backend
    return network


def network_step(network: StackedNetwork, work: Workload) -> Callable[[], object]:
    """One step of ``RestartTrainer``."""
    stack = ParameterStack(network, Recipe())

    def step() -> None:
        batch = TensorBatch.of(work.questions.batch(work.chosen))
        stack.zero_gradients()
        network.backpropagate(batch)
        stack.step(_LEARNING_RATE)

    return step


def our_runner(name: str, config: QRNConfig, work: Workload, restarts: int, threads: int | None = None) -> Runner:
    """The step as ``qrn train`` takes it, per model."""
    step = network_step(build_qrn(config, work, restarts, None), work)
    counts = None if threads is None else (threads,)
    return Runner(name, step, restarts, use_threads, counts)


def measure_steps(
    variants: Sequence[str], effort: Effort, progress: Callable[[float], None], work: tuple[int, int] = (32, 50)
) -> Step:
    """Every network, one model at a time and stacked; times are per model."""
    batch, sentences = work
    found: dict[tuple[str, int], StepRow] = {}
    for restarts in (1, STACKED):
        names = [name for name in _CONTENDERS if restarts == 1 or name not in _SINGLE_ONLY]
        entrants = [Entrant(name, threads, restarts) for name in names for threads in thread_counts()]
        with Field("step", entrants, OURS) as field:
            for variant in variants:
                request = {"variant": variant, "restarts": restarts, "batch": batch, "sentences": sentences}
                field.prepare(request, effort)
                row = StepRow(variant, batch, sentences, restarts, field.race("step", effort))
                found[variant, restarts] = row
                progress(len(found) / (2 * len(variants)))
    rows = tuple(found[variant, restarts] for variant in variants for restarts in (1, STACKED))
    notes = () if native.available() else ("ours runs without its native library here, many times slower",)
    return Step(rows, notes)


def prepare_step(name: str, threads: int, request: dict[str, Any]) -> Calls:
    """In a contender's process: a step of its network."""
    if name == OURS:
        use_threads(threads)
    else:
        torch.set_num_threads(threads)
    work = workload(request["batch"], request["sentences"])
    return {"step": _CONTENDERS[name](resolve(request["variant"]), work, request["restarts"])}


_Make = Callable[[QRNConfig, Workload, int], Callable[[], object]]


def _qrn(scan_backend: str | None) -> _Make:
    def make(config: QRNConfig, work: Workload, restarts: int) -> Callable[[], object]:
        return network_step(build_qrn(config, work, restarts, scan_backend), work)

    return make


def _stacked_reader(kind: type[GRUConfig | LSTMConfig]) -> _Make:
    def make(config: QRNConfig, work: Workload, restarts: int) -> Callable[[], object]:
        peer = kind(config.layers, config.dimension)
        return network_step(build_network(peer, work.vocabulary, HeadConfig(), Seeds(range(restarts))), work)

    return make


def _plain_reader(kind: type[torch.nn.GRU | torch.nn.LSTM]) -> _Make:
    def make(config: QRNConfig, work: Workload, restarts: int) -> Callable[[], object]:
        reader = build_peer(kind, config.layers, config.dimension, work.vocabulary)
        return plain_step(reader, work.questions, work.chosen, _LEARNING_RATE)

    return make


def _compiled_by_jax(config: QRNConfig, work: Workload, restarts: int) -> Callable[[], object]:
    if importlib.util.find_spec("jax") is None:
        raise LeftOutError("jax is not installed (pip install './lab[bench]')")
    from query_reduction_lab.bench.step_jax import jax_step

    network = build_qrn(config, work, restarts, None)
    longest = work.vocabulary.longest_sentence
    return jax_step(network, config, lambda: work.questions.batch(work.chosen), longest, _LEARNING_RATE)


_CONTENDERS: dict[str, _Make] = {
    OURS: _qrn(None),
    LOOP: _qrn("unbound loop"),
    MATRIX: _qrn("matrix"),
    "QRN in JAX, jit": _compiled_by_jax,
    "GRU reader, batched products": _stacked_reader(GRUConfig),
    "LSTM reader, batched products": _stacked_reader(LSTMConfig),
    "GRU reader, nn.GRU": _plain_reader(torch.nn.GRU),
    "LSTM reader, nn.LSTM": _plain_reader(torch.nn.LSTM),
}
_SINGLE_ONLY = {"GRU reader, nn.GRU", "LSTM reader, nn.LSTM"}
"""PyTorch's modules hold one model."""
