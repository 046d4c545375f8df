"""The trace of one answer: what every layer did at every sentence, from one forward pass."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from query_reduction.checked import checked
from query_reduction.errors import InputError
from query_reduction.files import write_atomically
from query_reduction.network import Network, QueryWords, TracedLayer
from query_reduction.reading.calibration import UNCALIBRATED, Calibration
from query_reduction.reading.question import HasRead, ReadQuestion
from query_reduction.reading.stories import Answer, Ranked, answer_of, rank, ranked_as_json
from query_reduction.text.encoding import encode_read

__all__ = ["LEAST_TRUST", "LayerReading", "Trace", "trace"]

_Floats = NDArray[np.floating[Any]]

_FIRST = np.array([0])

LEAST_TRUST = 0.7
"""Queries in words that can be trusted less than this are not shown: they tend not to be questions at all."""
_MOST_ENDINGS = 200
"""Stories up to this long are read again for every ending: the work grows with the square of the length."""
_ENDINGS_AT_ONCE = 64


def _old_words(old: str, new: str) -> property:
    def value(self: Trace) -> Any:
        warnings.warn(f"{old} is called in_words.{new} from version 0.3.0 on", DeprecationWarning, stacklevel=2)
        return None if self.in_words is None else getattr(self.in_words, new)

    return property(value, doc=f"The old name of ``in_words.{new}``.")


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
class Trace(HasRead):
    """An answer and what the network did to find it, in the user's own words."""

    result: Answer
    """The answer, with the story and the question as they were read."""
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
    in_words: QueryWords | None = None
    """Question and reduced queries as the decoder recovers them from their vectors, where the model has one."""
    stage: str = "layer"
    """What the network's authors call a layer: a layer, a hop, a pass or a step."""

    @property
    def read(self) -> ReadQuestion:
        """The story and the question as they were read."""
        return self.result.read

    @property
    def sentences(self) -> tuple[str, ...]:
        """The sentences that were read, as they were written."""
        return tuple([self.read.story[place] for place in self.read.positions])

    @property
    def positions(self) -> tuple[int, ...]:
        """Their positions in the story."""
        return self.read.positions

    @property
    def story(self) -> tuple[str, ...]:
        """All sentences of the story, those that were not read included."""
        return self.read.story

    @property
    def question(self) -> str:
        """The question as it was written."""
        return self.read.question

    @property
    def answer(self) -> str:
        """The answer alone, in words."""
        return self.result.text

    @property
    def confidence(self) -> float:
        """The model's probability of the answer, from 0 to 1."""
        return self.result.confidence

    @property
    def ranked(self) -> Ranked:
        """The best answers."""
        return self.result.ranked

    def as_answer(self) -> Answer:
        """The old name of ``result``."""
        warnings.warn("as_answer() is called result from version 0.3.0 on", DeprecationWarning, stacklevel=2)
        return self.result

    question_in_words = _old_words("question_in_words", "question")
    queries_in_words = _old_words("queries_in_words", "queries")
    so_far_in_words = _old_words("so_far_in_words", "so_far")
    queries_trust = _old_words("queries_trust", "queries_trust")
    so_far_trust = _old_words("so_far_trust", "so_far_trust")

    def ranking(self) -> list[int]:
        """Positions of the sentences read, those that contributed most first."""
        order: list[int] = np.argsort(-self.contributions, kind="stable").tolist()
        return order

    def shares(self) -> _Floats:
        """The contributions as shares of their sum: what pictures show."""
        total = float(self.contributions.sum())
        return self.contributions / total if total > 0 else self.contributions

    @checked
    def as_json(self, *, vectors: bool = False) -> dict[str, Any]:
        """The trace as plain lists and numbers; ``vectors`` adds candidates and reduced queries in full."""
        value: dict[str, Any] = self.result.as_json() | {
            "ranked": ranked_as_json(self.ranked),
            "question": self.question,
            "story": list(self.story),
            "sentences": list(self.sentences),
            "positions": list(self.positions),
            "contributions": _list(self.contributions),
            "shares": _list(self.shares()),
            "layers": [layer.as_json(vectors=vectors) for layer in self.layers],
            "ending_here": None if self.ending_here is None else [ranked_as_json(best) for best in self.ending_here],
            "so_far": None if self.so_far is None else [ranked_as_json(best) for best in self.so_far],
        }
        if self.in_words is not None:
            value["question_in_words"] = self.in_words.question
            value["queries_in_words"] = [list(layer) for layer in self.in_words.queries]
            value["so_far_in_words"] = [list(layer) for layer in self.in_words.so_far]
            value["queries_trust"] = _rounded(self.in_words.queries_trust)
            value["so_far_trust"] = _rounded(self.in_words.so_far_trust)
            value["least_trust"] = LEAST_TRUST
        return value

    @checked
    def save(self, path: str | Path, *, vectors: bool = True) -> None:
        """Write the trace as JSON, in full by default."""
        write_atomically(Path(path), json.dumps(self.as_json(vectors=vectors), ensure_ascii=False) + "\n")

    def _repr_html_(self) -> str:
        """The display in a notebook."""
        from query_reduction.explain.html import fragment  # it draws traces, so it knows this module

        return fragment(self)


def trace(
    network: Network,
    read: ReadQuestion,
    answers: Sequence[str],
    calibration: Calibration = UNCALIBRATED,
    *,
    endings: bool = True,
) -> Trace:
    """Run a network over a question that was read, and record it; ``answers`` are all that it can give.

    With ``endings`` the story is also read up to each sentence, for the answer if it had ended there.
    """
    sentences = read.within_memory
    record = network.trace(encode_read([(sentences, read.asked)]).batch(_FIRST))
    if record is None:
        raise InputError("this network has nothing to show: it does not record how much it reads of each sentence")

    own_answers = read.answers_named_back(answers)

    def ranked(scores: _Floats) -> tuple[Ranked, ...]:
        return tuple(rank(scores, own_answers))

    return Trace(
        result=answer_of(rank(record.scores, answers)[0], read, calibration),
        layers=tuple([_reading(layer) for layer in record.layers]),
        contributions=np.mean([layer.weights[0] for layer in record.layers], axis=0),
        ending_here=_endings(network, read, ranked) if endings and len(sentences) <= _MOST_ENDINGS else None,
        so_far=None if record.so_far is None else ranked(record.so_far()[0]),
        in_words=_in_own_names(record.in_words(), read) if record.in_words else None,
        stage=getattr(network, "stage", "layer"),
    )


def _in_own_names(words: QueryWords, read: ReadQuestion) -> QueryWords:
    if not read.names:
        return words
    named_back = read.words_named_back()
    queries, so_far = (
        tuple([tuple(map(named_back, layer)) for layer in layers]) for layers in (words.queries, words.so_far)
    )
    return replace(words, question=named_back(words.question), queries=queries, so_far=so_far)


def _endings(
    network: Network, read: ReadQuestion, ranked: Callable[[_Floats], tuple[Ranked, ...]]
) -> tuple[Ranked, ...]:
    """The best answers after each of the sentences that were read; earlier ones are then within memory."""
    first, last = read.beyond_memory, len(read.sentences)
    memory = last - first
    asked = [(read.sentences[max(0, end - memory) : end], read.asked) for end in range(first + 1, last + 1)]
    questions = encode_read(asked)
    found: list[Ranked] = []
    for start in range(0, len(questions), _ENDINGS_AT_ONCE):
        batch = questions.batch(np.arange(start, min(start + _ENDINGS_AT_ONCE, len(questions))))
        found.extend(ranked(network.scores(batch)))
    return tuple(found)


def _reading(layer: TracedLayer) -> LayerReading:
    return LayerReading(
        gates={name: gate[0] for name, gate in layer.gates.items()},
        weights=layer.weights[0],
        candidate=None if layer.candidate is None else layer.candidate[0],
        reduced=None if layer.reduced is None else layer.reduced[0],
    )


def _rounded(trust: tuple[tuple[float, ...], ...]) -> list[list[float]]:
    return [[round(value, 4) for value in layer] for layer in trust]


def _list(numbers: _Floats) -> Any:
    return np.round(numbers.astype(np.float64), 4).tolist()
