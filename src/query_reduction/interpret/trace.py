"""The trace of one answer: what every layer did at every sentence, from one forward pass."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from query_reduction.data.encoding import encode_stories
from query_reduction.data.stories import Question, Story
from query_reduction.data.vocabulary import Vocabulary
from query_reduction.model import LayerTrace, QueryReductionNetwork

__all__ = ["LayerGates", "Trace", "trace_answer"]

_Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class LayerGates:
    """One layer's gates at every sentence; vector gates by their mean over units."""

    update: _Floats
    reset_forward: _Floats | None
    reset_backward: _Floats | None


@dataclass(frozen=True, slots=True)
class Trace:
    """What the network did with a story and a question."""

    sentences: tuple[str, ...]
    """The sentences it read (the last ones of a story longer than its memory)."""
    question: str
    answer: str
    confidence: float
    layers: tuple[LayerGates, ...]

    def as_json(self) -> dict[str, Any]:
        """The trace as plain lists and numbers."""
        return {
            "sentences": list(self.sentences),
            "question": self.question,
            "answer": self.answer,
            "confidence": self.confidence,
            "layers": [
                {"update": _list(gates.update)}
                | {
                    name: _list(gate)
                    for name, gate in (("reset_forward", gates.reset_forward), ("reset_backward", gates.reset_backward))
                    if gate is not None
                }
                for gates in self.layers
            ],
        }


@torch.inference_mode()
def trace_answer(
    network: QueryReductionNetwork, vocabulary: Vocabulary, sentences: Sequence[str], question: str
) -> Trace:
    """Run a stack of one over a story and record it."""
    story = Story(tuple(sentences), (Question(question, "", len(sentences)),))
    batch = encode_stories([story], vocabulary, network.config.memory).batch(np.array([0]))
    layers: list[LayerTrace] = []
    table = network.encode(batch.words)
    query = table[:, batch.questions.long()]
    reduced = network.read(table, query, batch.stories, batch.lengths, layers)
    probabilities = torch.softmax(network.score(reduced)[0, 0], dim=0)
    best = int(probabilities.argmax())
    return Trace(
        sentences=tuple(sentences[-int(batch.lengths[0]) :]),
        question=question,
        answer=vocabulary.answers[best],
        confidence=float(probabilities[best]),
        layers=tuple(
            LayerGates(_mean(layer.update), _mean_or_none(layer.reset_forward), _mean_or_none(layer.reset_backward))
            for layer in layers
        ),
    )


def _list(gates: _Floats) -> list[float]:
    return [round(float(gate), 4) for gate in gates]


def _mean(gates: Tensor) -> _Floats:
    mean: _Floats = gates[0, 0].mean(-1).numpy()
    return mean


def _mean_or_none(gates: Tensor | None) -> _Floats | None:
    return None if gates is None else _mean(gates)
