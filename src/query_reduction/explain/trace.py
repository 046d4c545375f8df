"""The trace of one answer: what every layer did at every sentence, from one forward pass."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from query_reduction.errors import InputError
from query_reduction.files import write_atomically
from query_reduction.heads.softmax import best, softmax
from query_reduction.network import Network, TracedLayer
from query_reduction.reading.protocol import Task
from query_reduction.reading.reading import Reading, Understood
from query_reduction.reading.stories import Answer, StoryTask
from query_reduction.text.encoding import EncodedQuestions, encode_stories
from query_reduction.text.stories import Question, Story

__all__ = ["LEAST_TRUST", "LayerReading", "Ranked", "Trace", "trace_answer", "trace_story"]

_Floats = NDArray[np.floating[Any]]

Ranked = tuple[tuple[str, float], ...]
"""Answers with their probabilities, best first."""

_Words = tuple[tuple[str, ...], ...]

LEAST_TRUST = 0.7
"""Queries in words that can be trusted less than this are not shown: they tend not to be questions at all."""
_MOST_ENDINGS = 200
"""Stories up to this long are read again for every ending: the work grows with the square of the length."""
_ENDINGS_AT_ONCE = 64


@dataclass(frozen=True, slots=True, eq=False)
class LayerReading:
    """One layer (or hop) at every sentence."""

    gates: Mapping[str, _Floats]
    """By name, (sentence, 1), or (sentence, unit) for vector gates: ``update``, ``reset_forward``, ``attention`` …"""
    weights: _Floats
    """How much of the answer was read from each sentence here."""
    candidate: _Floats | None
    """What the query would become, (sentence, unit), where the network reduces one."""
    reduced: _Floats | None
    """What it became, (sentence, unit): the query the next layer reads with, or the state answers come from."""

    def mean_gates(self) -> dict[str, _Floats]:
        """The gates with one value per sentence: vector gates are averaged."""
        return {name: gate.mean(axis=1) for name, gate in self.gates.items()}

    def as_json(self, *, vectors: bool) -> dict[str, Any]:
        """Gates and weights as lists; with ``vectors`` also every unit of gates, candidate and reduced query."""
        value: dict[str, Any] = {
            "gates": {name: _list(gate) for name, gate in self.mean_gates().items()},
            "weights": _list(self.weights),
        }
        if vectors:
            named = {"candidate": self.candidate, "reduced": self.reduced}
            value |= {name: _list(found) for name, found in named.items() if found is not None}
            units = {name: _list(gate) for name, gate in self.gates.items() if gate.shape[1] > 1}
            if units:
                value["units"] = units
        return value


@dataclass(frozen=True, slots=True, eq=False)
class Trace(Reading):
    """What the network did with a story and a question, in the user's own words."""

    sentences: tuple[str, ...]
    """The sentences it read."""
    positions: tuple[int, ...]
    """Their positions in the story."""
    story: tuple[str, ...]
    """All sentences of the story, those that were not read included."""
    question: str
    answer: str
    confidence: float
    ranked: Ranked
    """The best answers."""
    unknown_words: tuple[str, ...]
    """Words of story and question the model never saw in training; they were ignored."""
    layers: tuple[LayerReading, ...]
    contributions: _Floats
    """How much each sentence contributed: at least 0, summing to at most 1."""
    ending_here: tuple[Ranked, ...] | None
    """The best answers if the story ended after each sentence, by reading it again up to there; None for stories
    of more than 200 sentences, or if not requested."""
    so_far: tuple[Ranked, ...] | None
    """The best answers from the last layer's state at each sentence, where the network has such a state. Lower layers
    have read the whole story, so this is how the answer forms during reading, not what an earlier end would
    give."""
    question_in_words: str | None = None
    """The question as the decoder recovers it from its vector, where the model has one."""
    queries_in_words: tuple[tuple[str, ...], ...] | None = None
    """By layer below the last and sentence, the reduced query that the next layer reads the sentence with."""
    so_far_in_words: tuple[tuple[str, ...], ...] | None = None
    """The same from the sentences so far only, without the backward direction; empty if less than a fifth of a query
    has been read and not been reset since."""
    queries_trust: tuple[tuple[float, ...], ...] | None = None
    """How far ``queries_in_words`` can be trusted: the decoder's probability of each query's least certain word."""
    so_far_trust: tuple[tuple[float, ...], ...] | None = None
    """The same for ``so_far_in_words``."""
    stage: str = "layer"
    """What the network's authors call a layer: a layer, a hop, a pass or a step."""

    def as_answer(self) -> Answer:
        """The answer alone."""
        return Answer.of(self.ranked, self)

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
            "positions": list(self.positions),
            "story": list(self.story),
            "skipped": self.skipped,
            "left_out": list(self.left_out),
            "read_as": [list(names) for names in self.read_as],
            "unknown_words": list(self.unknown_words),
            "untold": list(self.untold),
            "guess": self.guess,
            "notes": self.notes(),
            "question": self.question,
            "answer": self.answer,
            "confidence": round(self.confidence, 6),
            "ranked": _ranked(self.ranked),
            "contributions": _list(self.contributions),
            "shares": _list(self.shares()),
            "layers": [layer.as_json(vectors=vectors) for layer in self.layers],
            "ending_here": None if self.ending_here is None else [_ranked(best) for best in self.ending_here],
            "so_far": None if self.so_far is None else [_ranked(best) for best in self.so_far],
        }
        if self.queries_in_words is not None:
            value["question_in_words"] = self.question_in_words
            value["queries_in_words"] = [list(layer) for layer in self.queries_in_words]
            value["so_far_in_words"] = [list(layer) for layer in self.so_far_in_words or ()]
            value["queries_trust"] = _rounded(self.queries_trust)
            value["so_far_trust"] = _rounded(self.so_far_trust)
            value["least_trust"] = LEAST_TRUST
        return value

    def save(self, path: str | Path, *, vectors: bool = True) -> None:
        """Write the trace as JSON, in full by default."""
        write_atomically(Path(path), json.dumps(self.as_json(vectors=vectors), ensure_ascii=False) + "\n")

    def _repr_html_(self) -> str:
        """The display in a notebook."""
        from query_reduction.explain.html import fragment  # it draws traces, so it knows this module

        return fragment(self)


def trace_story(
    network: Network, task: StoryTask, story: str | Sequence[str], question: str, *, endings: bool = True
) -> Trace:
    """Trace the answer to a question about a story, sentences or texts of several."""
    understood = task.understand(story, question)
    traced = trace_answer(network, task, understood.as_story(), endings=endings)

    def back(ranked: Ranked) -> Ranked:
        return tuple((understood.name_back(answer), probability) for answer, probability in ranked)

    ranked = back(traced.ranked)
    return replace(
        traced,
        sentences=tuple(understood.story[place] for place in understood.positions),
        positions=understood.positions,
        story=understood.story,
        question=question,
        answer=ranked[0][0],
        ranked=ranked,
        ending_here=None if traced.ending_here is None else tuple(map(back, traced.ending_here)),
        so_far=None if traced.so_far is None else tuple(map(back, traced.so_far)),
        question_in_words=traced.question_in_words and understood.in_own_names(traced.question_in_words),
        queries_in_words=_in_own_names(traced.queries_in_words, understood),
        so_far_in_words=_in_own_names(traced.so_far_in_words, understood),
        **understood.fields(),
    )


def trace_answer(
    network: Network,
    task: Task,
    story: Story,
    *,
    endings: bool = True,
    shown: int = 5,
) -> Trace:
    """Run a network over the last question of a story and record it; ``shown`` answers are ranked per sentence.

    The story is as the network reads it: a dialog has been prepared, a user's story made readable.
    """
    last = story.questions[-1]
    only_last = Story(story.sentences[: last.after], (last,))
    batch = _encode(task, only_last).batch(np.array([0]))
    read = network.trace(batch)
    if read is None:
        raise InputError("this network has nothing to show: it does not record how much it reads of each sentence")
    answers = task.vocabulary.answers
    ranked = _rank(read.scores, answers, shown)[0]
    count = int(batch.lengths[0])
    skipped = last.after - count
    words = read.in_words() if read.in_words else None
    weights = np.mean([layer.weights[0] for layer in read.layers], axis=0)
    return Trace(
        sentences=only_last.sentences[skipped:],
        positions=tuple(range(skipped, last.after)),
        story=only_last.sentences,
        told=last.after,
        skipped=skipped,
        question=last.text,
        answer=ranked[0][0],
        confidence=ranked[0][1],
        ranked=ranked,
        unknown_words=tuple(task.vocabulary.unknown_words([*only_last.sentences, last.text])),
        layers=tuple(_reading(layer) for layer in read.layers),
        contributions=weights,
        ending_here=_endings(network, task, only_last, count, shown) if endings and count <= _MOST_ENDINGS else None,
        so_far=None if read.so_far is None else _rank(read.so_far()[0], answers, shown),
        question_in_words=words.question if words else None,
        queries_in_words=words.queries if words else None,
        so_far_in_words=words.so_far if words else None,
        queries_trust=words.queries_trust if words else None,
        so_far_trust=words.so_far_trust if words else None,
        stage=getattr(network, "stage", "layer"),
    )


def _in_own_names(words: _Words | None, understood: Understood) -> _Words | None:
    return words and tuple(tuple(map(understood.in_own_names, layer)) for layer in words)


def _encode(task: Task, story: Story) -> EncodedQuestions:
    return encode_stories([story], task.vocabulary, task.options.memory)


def _endings(network: Network, task: Task, story: Story, read: int, shown: int) -> tuple[Ranked, ...]:
    """The best answers to the story's question after each of the last ``read`` sentences."""
    text = story.questions[0].text
    total = len(story.sentences)
    earlier = tuple(Question(text, "", after) for after in range(total - read + 1, total + 1))
    questions = _encode(task, Story(story.sentences, earlier))
    found: list[Ranked] = []
    for start in range(0, len(questions), _ENDINGS_AT_ONCE):
        batch = questions.batch(np.arange(start, min(start + _ENDINGS_AT_ONCE, len(questions))))
        found.extend(_rank(network.scores(batch), task.vocabulary.answers, shown))
    return tuple(found)


def _rank(scores: _Floats, answers: Sequence[str], shown: int) -> tuple[Ranked, ...]:
    """The ``shown`` best answers of every row of scores."""
    shares = softmax(scores)
    highest = best(shares, shown)
    values = np.take_along_axis(shares, highest, axis=1)
    return tuple(
        tuple((answers[number], value) for number, value in zip(*row, strict=True))
        for row in zip(highest.tolist(), values.tolist(), strict=True)
    )


def _reading(layer: TracedLayer) -> LayerReading:
    return LayerReading(
        gates={name: gate[0] for name, gate in layer.gates.items()},
        weights=layer.weights[0],
        candidate=None if layer.candidate is None else layer.candidate[0],
        reduced=None if layer.reduced is None else layer.reduced[0],
    )


def _ranked(ranked: Ranked) -> list[dict[str, Any]]:
    return [{"answer": answer, "probability": round(probability, 6)} for answer, probability in ranked]


def _rounded(trust: tuple[tuple[float, ...], ...] | None) -> list[list[float]]:
    return [[round(value, 4) for value in layer] for layer in trust or ()]


def _list(numbers: _Floats) -> Any:
    return np.round(numbers.astype(np.float64), 4).tolist()
