"""The trace of one answer: what every layer did at every sentence, from one forward pass."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from query_reduction.data.encoding import encode_stories
from query_reduction.data.stories import Question, Story
from query_reduction.data.vocabulary import Vocabulary
from query_reduction.explain.contributions import forward_states, read_weights
from query_reduction.files import write_atomically
from query_reduction.networks.decoder import decode
from query_reduction.networks.qrn import LayerTrace, QueryReductionNetwork

__all__ = ["LayerReading", "Ranked", "Trace", "trace_answer"]

_Floats = NDArray[np.float32]

Ranked = tuple[tuple[str, float], ...]
"""Answers with their probabilities, best first."""

_MOST_ENDINGS = 200
"""Endings are read again for stories up to this long: the work grows with the square of the length."""
_ENDINGS_AT_ONCE = 64
_LEAST_READ = 0.2


@dataclass(frozen=True, slots=True, eq=False)
class LayerReading:
    """One layer at every sentence. Gates are (sentence, 1), or (sentence, unit) for vector gates."""

    update: _Floats
    reset_forward: _Floats | None
    reset_backward: _Floats | None
    candidate: _Floats
    """What the query would become, (sentence, unit)."""
    reduced: _Floats
    """What it became, (sentence, unit): the query the next layer reads with, or the state answers come from."""
    weights: _Floats
    """How much of each sentence's candidate the answer was read from; see ``contributions``."""

    def gates(self) -> dict[str, _Floats]:
        """The gates this layer has, one value a sentence: vector gates by their mean."""
        named = {"update": self.update, "reset_forward": self.reset_forward, "reset_backward": self.reset_backward}
        return {name: gate.mean(axis=1) for name, gate in named.items() if gate is not None}

    def as_json(self, *, vectors: bool) -> dict[str, Any]:
        """Gates and weights as lists; with ``vectors`` also every unit of gates, candidate and reduced query."""
        value: dict[str, Any] = {name: _list(gate) for name, gate in self.gates().items()}
        value["weights"] = _list(self.weights)
        if vectors:
            value["candidate"] = _list(self.candidate)
            value["reduced"] = _list(self.reduced)
            if self.update.shape[1] > 1:
                units = (
                    ("update", self.update),
                    ("reset_forward", self.reset_forward),
                    ("reset_backward", self.reset_backward),
                )
                value["units"] = {name: _list(gate) for name, gate in units if gate is not None}
        return value


@dataclass(frozen=True, slots=True, eq=False)
class Trace:
    """What the network did with a story and a question."""

    sentences: tuple[str, ...]
    """The sentences it read."""
    skipped: int
    """Sentences at the start of the story that it did not read, being further back than its memory."""
    question: str
    answer: str
    confidence: float
    ranked: Ranked
    """The best answers."""
    layers: tuple[LayerReading, ...]
    contributions: _Floats
    """How much each sentence contributed: at least 0, and at most 1 in sum."""
    ending_here: tuple[Ranked, ...] | None
    """The best answers if the story ended after each sentence, by reading it again up to there; None for stories
    of more than 200 sentences."""
    so_far: tuple[Ranked, ...]
    """The best answers from the last layer's state at each sentence. Lower layers have read the whole story, so this
    is how the answer forms during the reading, not what an earlier end would give."""
    question_in_words: str | None = None
    """The question as the decoder recovers it from its vector, where the model has one."""
    queries_in_words: tuple[tuple[str, ...], ...] | None = None
    """By layer below the last and sentence, the reduced query that the next layer reads the sentence with."""
    so_far_in_words: tuple[tuple[str, ...], ...] | None = None
    """The same from what was told so far only, without the backward direction; empty where less than a fifth of a
    query has been read, or has not been reset again."""

    def ranking(self) -> list[int]:
        """Positions of the sentences read, those that contributed most first."""
        order: list[int] = np.argsort(-self.contributions, kind="stable").tolist()
        return order

    def shares(self) -> _Floats:
        """The contributions as shares of their sum: what pictures show."""
        total = float(self.contributions.sum())
        return self.contributions / total if total > 0 else self.contributions

    def as_json(self, *, vectors: bool = False) -> dict[str, Any]:
        """The trace as plain lists and numbers; ``vectors`` adds candidates and reduced queries in full."""
        value: dict[str, Any] = {
            "sentences": list(self.sentences),
            "skipped": self.skipped,
            "question": self.question,
            "answer": self.answer,
            "confidence": round(self.confidence, 6),
            "ranked": _ranked(self.ranked),
            "contributions": _list(self.contributions),
            "shares": _list(self.shares()),
            "layers": [layer.as_json(vectors=vectors) for layer in self.layers],
            "ending_here": None if self.ending_here is None else [_ranked(best) for best in self.ending_here],
            "so_far": [_ranked(best) for best in self.so_far],
        }
        if self.queries_in_words is not None:
            value["question_in_words"] = self.question_in_words
            value["queries_in_words"] = [list(layer) for layer in self.queries_in_words]
            value["so_far_in_words"] = [list(layer) for layer in self.so_far_in_words or ()]
        return value

    def save(self, path: Path, *, vectors: bool = True) -> None:
        """Write the trace as JSON, all of it unless told otherwise."""
        write_atomically(path, json.dumps(self.as_json(vectors=vectors), ensure_ascii=False) + "\n")

    def _repr_html_(self) -> str:
        from query_reduction.explain.html import fragment

        return fragment(self)


@torch.inference_mode()
def trace_answer(
    network: QueryReductionNetwork,
    vocabulary: Vocabulary,
    sentences: Sequence[str],
    question: str,
    *,
    endings: bool = True,
    shown: int = 5,
) -> Trace:
    """Run a stack of one over a story and record it; ``shown`` answers are ranked at each place."""
    story = Story(tuple(sentences), (Question(question, "", len(sentences)),))
    batch = encode_stories([story], vocabulary, network.config.memory).batch(np.array([0]))
    recorded: list[LayerTrace] = []
    table = network.encode(batch.words)
    query = table[:, batch.questions.long()]
    reduced = network.read(table, query, batch.stories, batch.lengths, recorded)
    ranked = _rank(network.score(reduced, batch)[0], vocabulary, shown)[0]
    weights = read_weights(recorded, batch.lengths)
    words = _Words(network, vocabulary) if network.config.decode_questions else None
    read = int(batch.lengths[0])
    skipped = len(sentences) - read
    return Trace(
        sentences=tuple(sentences[skipped:]),
        skipped=skipped,
        question=question,
        answer=ranked[0][0],
        confidence=ranked[0][1],
        ranked=ranked,
        layers=tuple(_reading(layer, weight) for layer, weight in zip(recorded, weights, strict=True)),
        contributions=torch.stack(weights).mean(0)[0, 0].numpy(),
        ending_here=_endings(network, vocabulary, story, read, shown) if endings and read <= _MOST_ENDINGS else None,
        so_far=_rank(network.score(recorded[-1].reduced[:, 0])[0], vocabulary, shown),
        question_in_words=words.of(query[:, 0, None])[0] if words else None,
        queries_in_words=tuple(words.of(layer.reduced[:, 0]) for layer in recorded[:-1]) if words else None,
        so_far_in_words=tuple(words.so_far(layer, batch.lengths) for layer in recorded[:-1]) if words else None,
    )


@dataclass(frozen=True, slots=True)
class _Words:
    """Query vectors in words."""

    network: QueryReductionNetwork
    vocabulary: Vocabulary

    def of(self, vectors: Tensor) -> tuple[str, ...]:
        return tuple(decode(self.network, vectors, self.vocabulary))

    def so_far(self, layer: LayerTrace, lengths: Tensor) -> tuple[str, ...]:
        states, read = forward_states(layer, lengths)
        texts = zip(self.of(states[:, 0]), read[0, 0].tolist(), strict=True)
        return tuple(text if amount >= _LEAST_READ else "" for text, amount in texts)


def _endings(
    network: QueryReductionNetwork, vocabulary: Vocabulary, story: Story, read: int, shown: int
) -> tuple[Ranked, ...]:
    """The best answers to the story's question after each of the last ``read`` sentences."""
    text = story.questions[0].text
    total = len(story.sentences)
    earlier = tuple(Question(text, "", after) for after in range(total - read + 1, total + 1))
    questions = encode_stories([Story(story.sentences, earlier)], vocabulary, network.config.memory)
    found: list[Ranked] = []
    for start in range(0, len(questions), _ENDINGS_AT_ONCE):
        batch = questions.batch(np.arange(start, min(start + _ENDINGS_AT_ONCE, len(questions))))
        found.extend(_rank(network(batch)[0], vocabulary, shown))
    return tuple(found)


def _rank(scores: Tensor, vocabulary: Vocabulary, shown: int) -> tuple[Ranked, ...]:
    """The ``shown`` best answers of every row of scores."""
    best = torch.softmax(scores, dim=-1).topk(min(shown, scores.shape[-1]))
    return tuple(
        tuple((vocabulary.answers[number], value) for value, number in zip(values, numbers, strict=True))
        for values, numbers in zip(best.values.tolist(), best.indices.tolist(), strict=True)
    )


def _reading(layer: LayerTrace, weights: Tensor) -> LayerReading:
    return LayerReading(
        update=layer.update[0, 0].numpy(),
        reset_forward=None if layer.reset_forward is None else layer.reset_forward[0, 0].numpy(),
        reset_backward=None if layer.reset_backward is None else layer.reset_backward[0, 0].numpy(),
        candidate=layer.candidate[0, 0].numpy(),
        reduced=layer.reduced[0, 0].numpy(),
        weights=weights[0, 0].numpy(),
    )


def _ranked(ranked: Ranked) -> list[dict[str, Any]]:
    return [{"answer": answer, "probability": round(probability, 6)} for answer, probability in ranked]


def _list(numbers: _Floats) -> Any:
    return np.round(numbers.astype(np.float64), 4).tolist()
