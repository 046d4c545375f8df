"""A whole training step: batch, encoder, reading, head, loss, backward, weight decay and Adagrad.

Ours against the same network with the recurrence as a loop over time (the paper's "without parallelisation"), as the
paper's matrix, and against GRU and LSTM readers of the same width and depth over the same sentences, each alone and
with as many restarts stacked as ours.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from query_reduction.bench.timing import Effort, Runner, race, ratios, spread
from query_reduction.data.encoding import EncodedQuestions, encode_stories
from query_reduction.data.stories import Question, Story
from query_reduction.data.vocabulary import Vocabulary
from query_reduction.native import library as native
from query_reduction.native.threads import use_threads
from query_reduction.networks.gru import GRUConfig
from query_reduction.networks.heads import HeadConfig
from query_reduction.networks.lstm import LSTMConfig
from query_reduction.networks.protocol import Seeds, StackedNetwork
from query_reduction.networks.qrn import QRNConfig, QueryReductionNetwork
from query_reduction.networks.registry import build_network, resolve
from query_reduction.training.recipes import Recipe
from query_reduction.training.stack import ParameterStack

__all__ = [
    "STACKED",
    "VARIANTS",
    "Workload",
    "build_qrn",
    "measure_steps",
    "network_step",
    "our_runner",
    "workload",
]

VARIANTS = ("2r", "6r200")
STACKED = 10
"""Restarts that train together."""

_WORDS = 40
_ANSWERS = 6
_LONGEST_SENTENCE = 8
_DISTINCT_SENTENCES = 200
_LEARNING_RATE = 1e-4
"""So small that thousands of steps on nonsense leave the weights where they are: the arithmetic is the same."""
_TOLERANCE = 1e-3


@dataclass(frozen=True, slots=True)
class Workload:
    """Questions of the size of real ones, about stories without sense."""

    questions: EncodedQuestions
    vocabulary: Vocabulary
    chosen: np.ndarray[Any, np.dtype[np.int64]]
    """The questions of a batch."""


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
    network = QueryReductionNetwork(config, work.vocabulary, HeadConfig(), Seeds(range(restarts)))
    if scan_backend is not None:
        network.use_native(False)
        network.scan_backend = scan_backend
    return network


def network_step(network: StackedNetwork, work: Workload) -> Callable[[], object]:
    """One step of ``RestartTrainer``."""
    stack = ParameterStack(network, Recipe())

    def step() -> None:
        batch = work.questions.batch(work.chosen)
        stack.zero_gradients()
        network.losses(batch).mean(1).sum().backward()
        stack.step(_LEARNING_RATE)

    return step


def our_runner(name: str, config: QRNConfig, work: Workload, restarts: int, threads: int | None = None) -> Runner:
    """The step as ``qrn train`` takes it, per model."""
    step = network_step(build_qrn(config, work, restarts, None), work)
    counts = None if threads is None else (threads,)
    return Runner(name, step, restarts, use_threads, counts)


def measure_steps(variants: Sequence[str], effort: Effort, work: Workload | None = None) -> dict[str, Any]:
    """All contenders for every variant; ratios are to ours, stacked, per model."""
    work = work or workload()
    rows = []
    for variant in variants:
        config: QRNConfig = resolve(variant)
        _check_equal(config, work)
        runners = [
            our_runner(f"ours, {STACKED} restarts stacked", config, work, STACKED),
            our_runner("ours, one", config, work, 1),
            _composed("per-step loop", config, work, 1, "loop"),
            _composed("matrix form", config, work, 1, "matrix"),
            _composed(f"matrix form, {STACKED} restarts stacked", config, work, STACKED, "matrix"),
            *(
                _recurrent(peer, work, restarts)
                for peer in (GRUConfig(config.layers, config.dimension), LSTMConfig(config.layers, config.dimension))
                for restarts in (1, STACKED)
            ),
        ]
        timings = race(runners, effort)
        stacked, single = timings[:2]
        rows.append(
            {
                "variant": variant,
                "batch": len(work.chosen),
                "time": int(work.questions.stories.length.max()),
                "contenders": [
                    {
                        "name": timing.name,
                        "threads": timing.threads,
                        "rounds": len(timing.seconds),
                        "seconds": spread(timing.seconds).as_json(),
                        "ratio": ratios(timing, stacked).as_json(),
                        "ratio_to_one": ratios(timing, single).as_json(),
                    }
                    for timing in timings
                ],
            }
        )
    notes = [] if native.available() else ["ours runs without its native library here, many times slower"]
    return {"rows": rows, "notes": notes}


def _composed(name: str, config: QRNConfig, work: Workload, restarts: int, scan_backend: str) -> Runner:
    return Runner(name, network_step(build_qrn(config, work, restarts, scan_backend), work), restarts)


def _recurrent(config: GRUConfig | LSTMConfig, work: Workload, restarts: int) -> Runner:
    name = type(config).__name__.removesuffix("Config")
    network = build_network(config, work.vocabulary, HeadConfig(), Seeds(range(restarts)))
    stacked = f", {restarts} restarts stacked" if restarts > 1 else ""
    return Runner(f"{name} reader{stacked}", network_step(network, work), restarts)


def _check_equal(config: QRNConfig, work: Workload) -> None:
    """The composed networks must have the losses and gradients of ours, or their times would mean nothing."""
    batch = work.questions.batch(work.chosen)
    found = []
    for scan_backend in (None, "loop", "matrix"):
        network = build_qrn(config, work, 1, scan_backend)
        loss = network.losses(batch).mean()
        loss.backward()
        found.append((loss.detach(), network.candidate_query.grad))
    for loss, gradient in found[1:]:
        assert gradient is not None and found[0][1] is not None
        torch.testing.assert_close(loss, found[0][0], rtol=_TOLERANCE, atol=_TOLERANCE)
        torch.testing.assert_close(gradient, found[0][1], rtol=_TOLERANCE, atol=_TOLERANCE)
