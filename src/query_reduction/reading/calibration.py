"""Confidence that means something: of the answers given with 80 %, eight in ten are right.

A network's own probability of its best answer is usually too high. Development questions, which training has not seen,
show by how much: p becomes σ(a · logit(p) + b), the two numbers of Platt (1999), with b at most 0. The same questions,
asked again with a sentence taken away or a word of the question hidden, show how much an answer is worth when something
was not read.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from query_reduction.reading.question import ReadQuestion
from query_reduction.settings import Between, check, from_json

__all__ = [
    "UNCALIBRATED",
    "WHOLE",
    "Calibration",
    "Reliability",
    "expected_calibration_error",
    "reliability",
    "risk_at_coverage",
]

Numbers = NDArray[np.float64]

_BINS = (0.0, 0.5, 0.7, 0.9, 0.97, 1.0)
"""Bins of the reliability table: narrow where answers are, and where being wrong costs most."""
_WEIGHT_OF_PRIOR = 2.0
"""How many questions the assumption that the network is right about itself counts for; it decides if there are few."""
_FURTHEST = 12.0
"""Log-odds beyond this are the same: 0.999994."""
_MOST_LISTED = 5
WHOLE = ReadQuestion()
"""A story that was read whole."""
_COVERAGES = (1.0, 0.9, 0.8, 0.7, 0.5)


@dataclass(frozen=True, slots=True)
class Reliability:
    """The answers of one range of confidence: how sure they were, and how many were right."""

    above: float
    """The lower end of the range."""
    questions: int
    confidence: float
    """Mean confidence."""
    right: float
    """The share that was right."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """What turns a network's probability into a confidence, learned from development questions."""

    slope: Annotated[float, Between(0.01, 100.0)] = 1.0
    offset: Annotated[float, Between(-100.0, 100.0)] = 0.0
    matters: Annotated[float, Between(0.0, 1e6)] = 1.0
    """How many sentences of a story an answer rests on: if one of n is left out, (1 - 1/n) to this power of the
    confidence stays."""
    ignored: Annotated[float, Between(0.0, 1.0)] = 0.5
    """The share of its confidence that an answer keeps for each word of the question that was ignored."""
    threshold: Annotated[float, Between(0.0, 1.0)] = 0.5
    """Below this confidence the answer is "I don't know"."""
    questions: Annotated[int, Between(0, 2**53)] = 0
    """How many development questions it was learned from; 0 if it was not."""

    def __post_init__(self) -> None:
        check(self)

    def confidence(self, probability: float, read: ReadQuestion = WHOLE) -> float:
        """The confidence in an answer that the network gives this probability, after what was read."""
        confidence = float(self.confidences(np.array([probability]))[0])
        missed = len(read.missed) / max(read.sentence_count, 1)
        confidence *= math.pow(1 - missed, self.matters) * math.pow(self.ignored, len(read.asked.unknown))
        if read.unmentioned or read.is_guess:
            # It was asked about what no sentence says: whatever the network makes of it, it cannot know.
            confidence = min(confidence, self.threshold / 2)
        return confidence

    def confidences(self, probabilities: Numbers) -> Numbers:
        """The same for many answers that were read whole."""
        if not self.questions:
            return probabilities
        return _sigmoid(self.slope * _log_odds(probabilities) + self.offset)

    def ranked(self, answers: Sequence[tuple[str, float]], read: ReadQuestion = WHOLE) -> list[tuple[str, float]]:
        """Answers with their probabilities, best first, with confidences instead; the order stays."""
        (text, probability), *others = answers
        confidence = self.confidence(probability, read)
        # What the best answer loses the others do not gain: it may be right that none of them is.
        left = min(1.0, (1 - confidence) / max(1 - probability, 1e-12))
        return [(text, confidence), *((other, min(share * left, confidence)) for other, share in others)]

    def doubts(self, confidence: float, read: ReadQuestion) -> tuple[str, ...]:
        """Why an answer of this confidence may be wrong; nothing if it is above the threshold."""
        if confidence >= self.threshold:
            return ()
        reasons = [f"no sentence that was read mentions {name}" for name in read.unmentioned]
        if read.is_guess:
            reasons.append("no sentence could be read")
        if read.asked.unknown:
            reasons.append(f"the question has unknown words: {', '.join(read.asked.unknown[:_MOST_LISTED])}")
        reasons += [f"sentence {place + 1} could not be read: {read.story[place]}" for place in _listed(read)]
        return tuple(reasons) or ("the model is not sure",)

    def as_json(self) -> dict[str, Any]:
        """As plain values."""
        return asdict(self)

    @staticmethod
    def from_json(values: Mapping[str, Any]) -> Calibration:
        """The inverse of ``as_json``, every value checked."""
        return from_json(Calibration, values)

    @staticmethod
    def learned(
        probabilities: Numbers, right: NDArray[np.bool_], *, matters: float = 1.0, ignored: float = 0.5
    ) -> Calibration:
        """From the best answers to development questions: their probabilities, and which were right."""
        if not len(probabilities):
            return Calibration()
        odds, won = _log_odds(probabilities), right.astype(np.float64)
        slope, offset = _fitted(np.stack([odds, np.ones_like(odds)]), won)
        if offset > 0:
            # Where nearly all answers are right, an offset would make a network sure of answers that it hardly
            # believes itself, of which there are none here.
            (slope,), offset = _fitted(odds[None], won), 0.0
        return Calibration(
            round(slope, 6), round(offset, 6), round(matters, 4), round(ignored, 4), questions=len(probabilities)
        )


UNCALIBRATED = Calibration()
"""Probabilities as they are."""


def _listed(read: ReadQuestion) -> tuple[int, ...]:
    return read.missed[:_MOST_LISTED] if read.story else ()


def _log_odds(probabilities: Numbers) -> Numbers:
    inside = np.clip(probabilities.astype(np.float64), 1e-12, 1 - 1e-12)
    odds: Numbers = np.log(inside) - np.log1p(-inside)
    return odds.clip(-_FURTHEST, _FURTHEST)


def _sigmoid(values: Numbers) -> Numbers:
    result: Numbers = 1 / (1 + np.exp(-values))
    return result


def _fitted(features: Numbers, right: Numbers) -> list[float]:
    """The weights of the features (slope, and offset if there are two) of least cross-entropy, by Newton's method.

    Targets are Platt's, which are never 0 or 1; a slope of 1 is assumed until the questions say otherwise.
    """
    wins, losses = right.sum(), (1 - right).sum()
    targets = np.where(right > 0, (wins + 1) / (wins + 2), 1 / (losses + 2))
    parameters = expectation = np.array([1.0, 0.0])[: len(features)]
    prior = _WEIGHT_OF_PRIOR / max(float(np.mean(features[0] ** 2)), 1e-6)
    penalties = np.array([prior, 1e-3])[: len(features)]

    def cost(values: Numbers) -> float:
        scores = values @ features
        losses = np.logaddexp(0, scores) - targets * scores
        return float(losses.sum() + (penalties * (values - expectation) ** 2).sum() / 2)

    for _ in range(100):
        expected = _sigmoid(parameters @ features)
        gradient = features @ (expected - targets) + penalties * (parameters - expectation)
        curvature = (features * (expected * (1 - expected))) @ features.T + np.diag(penalties)
        step = np.linalg.solve(curvature, gradient)
        length, now = 1.0, cost(parameters)
        while length > 1e-6 and cost(parameters - length * step) > now:
            length /= 2
        parameters = parameters - length * step
        if float(np.abs(length * step).max()) < 1e-9:
            break
    # A network whose certainty says nothing must not have its order turned around.
    limits = np.array([[0.01, 100.0], [-100.0, 100.0]])[: len(features)]
    fitted: list[float] = parameters.clip(limits[:, 0], limits[:, 1]).tolist()
    return fitted


def reliability(confidences: Numbers, right: NDArray[np.bool_]) -> list[Reliability]:
    """A row for each range of confidence that has answers."""
    rows = []
    for low, high in pairwise(_BINS):
        inside = (confidences >= low) & ((confidences < high) | (high == 1.0))
        if inside.any():
            mean, share = float(confidences[inside].mean()), float(right[inside].mean())
            rows.append(Reliability(low, int(inside.sum()), round(mean, 4), round(share, 4)))
    return rows


def expected_calibration_error(confidences: Numbers, right: NDArray[np.bool_], bins: int = 10) -> float:
    """The mean distance between confidence and share of right answers, over bins of equally many answers."""
    if not len(confidences):
        return 0.0
    order = np.argsort(confidences, kind="stable")
    parts = np.array_split(order, min(bins, math.ceil(len(order) / 10)))
    gaps = [len(part) * abs(float(confidences[part].mean() - right[part].mean())) for part in parts if len(part)]
    return sum(gaps) / len(confidences)


def risk_at_coverage(
    confidences: Numbers, right: NDArray[np.bool_], coverages: Sequence[float] = _COVERAGES
) -> dict[float, float]:
    """The error in percent among the most confident answers, for several shares of questions that are answered."""
    if not len(confidences):
        return {}
    order = np.argsort(-confidences, kind="stable")
    wrong = np.cumsum(~right[order])
    counts = {share: max(1, round(share * len(order))) for share in coverages}
    return {share: round(100 * float(wrong[count - 1]) / count, 4) for share, count in counts.items()}
