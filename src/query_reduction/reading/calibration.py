"""Confidence that means something: of the answers given with 80 %, eight in ten are right.

A network's own probability of its best answer is usually too high. Development questions, which training has not seen,
show by how much: p becomes σ(a · logit(p) + b), the two numbers of Platt (1999). The same questions, asked again with a
sentence taken away or a word of the question hidden, show how much an answer is worth when something was not read.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from query_reduction.settings import Between, check, from_json

__all__ = ["Calibration", "Reliability", "expected_calibration_error", "reliability", "risk_at_coverage"]

Numbers = NDArray[np.float64]

_BINS = (0.0, 0.5, 0.7, 0.9, 0.97, 1.0)
"""Bins of the reliability table: narrow where answers are, and where being wrong costs most."""
_WEIGHT_OF_PRIOR = 2.0
"""How many questions the assumption that the network is right about itself counts for; it decides if there are few."""
_FURTHEST = 12.0
"""Log-odds beyond this are the same: 0.999994."""
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
    omitted: Annotated[float, Between(0.0, 1.0)] = 1.0
    """The share of its confidence that an answer keeps when a sentence that may matter was left out."""
    ignored: Annotated[float, Between(0.0, 1.0)] = 1.0
    """The same when a word of the question was ignored."""
    threshold: Annotated[float, Between(0.0, 1.0)] = 0.5
    """Below this confidence the answer is "I don't know"."""
    questions: Annotated[int, Between(0, 2**53)] = 0
    """How many development questions it was learned from; 0 if it was not."""

    def __post_init__(self) -> None:
        check(self)

    def confidence(self, probability: float, *, omitted: bool = False, ignored: bool = False) -> float:
        """The confidence in an answer that the network gives this probability."""
        confidence = float(self.confidences(np.array([probability]))[0])
        return confidence * (self.omitted if omitted else 1.0) * (self.ignored if ignored else 1.0)

    def confidences(self, probabilities: Numbers) -> Numbers:
        """The same for many answers that were read whole."""
        if not self.questions:
            return probabilities
        return _sigmoid(self.slope * _log_odds(probabilities) + self.offset)

    def ranked(
        self, answers: Sequence[tuple[str, float]], *, omitted: bool = False, ignored: bool = False
    ) -> list[tuple[str, float]]:
        """Answers with their probabilities, best first, with confidences instead; the order stays."""
        if not answers:
            return []
        (text, probability), *others = answers
        confidence = self.confidence(probability, omitted=omitted, ignored=ignored)
        # What the best answer loses the others do not gain: it may be right that none of them is.
        left = min(1.0, (1 - confidence) / max(1 - probability, 1e-12))
        return [(text, confidence), *((other, min(share * left, confidence)) for other, share in others)]

    def as_json(self) -> dict[str, Any]:
        """As plain values."""
        return asdict(self)

    @staticmethod
    def from_json(values: Mapping[str, Any]) -> Calibration:
        """The inverse of ``as_json``, every value checked."""
        return from_json(Calibration, values)

    @staticmethod
    def learned(
        probabilities: Numbers, right: NDArray[np.bool_], *, omitted: float = 1.0, ignored: float = 1.0
    ) -> Calibration:
        """From the best answers to development questions: their probabilities, and which were right.

        ``omitted`` and ``ignored`` are the shares of right answers that stay right when a sentence, or a word of the
        question, is taken away.
        """
        if not len(probabilities):
            return Calibration()
        slope, offset = _fitted(_log_odds(probabilities), right.astype(np.float64))
        return Calibration(
            round(slope, 6), round(offset, 6), round(omitted, 4), round(ignored, 4), questions=len(probabilities)
        )


def _log_odds(probabilities: Numbers) -> Numbers:
    inside = np.clip(probabilities.astype(np.float64), 1e-12, 1 - 1e-12)
    odds: Numbers = np.log(inside) - np.log1p(-inside)
    return odds.clip(-_FURTHEST, _FURTHEST)


def _sigmoid(values: Numbers) -> Numbers:
    result: Numbers = 1 / (1 + np.exp(-values))
    return result


def _fitted(odds: Numbers, right: Numbers) -> tuple[float, float]:
    """Slope and offset of least cross-entropy, by Newton's method; targets are Platt's, which are never 0 or 1."""
    wins, losses = right.sum(), (1 - right).sum()
    targets = np.where(right > 0, (wins + 1) / (wins + 2), 1 / (losses + 2))
    prior = _WEIGHT_OF_PRIOR / max(float(np.mean(odds**2)), 1e-6)
    parameters = np.array([1.0, 0.0])
    features = np.stack([odds, np.ones_like(odds)])
    penalties = np.array([prior, 1e-3])

    def cost(values: Numbers) -> float:
        scores = values @ features
        losses = np.logaddexp(0, scores) - targets * scores
        return float(losses.sum() + (penalties * (values - (1.0, 0.0)) ** 2).sum() / 2)

    for _ in range(100):
        expected = _sigmoid(parameters @ features)
        gradient = features @ (expected - targets) + penalties * (parameters - (1.0, 0.0))
        curvature = (features * (expected * (1 - expected))) @ features.T + np.diag(penalties)
        step = np.linalg.solve(curvature, gradient)
        length, now = 1.0, cost(parameters)
        while length > 1e-6 and cost(parameters - length * step) > now:
            length /= 2
        parameters = parameters - length * step
        if float(np.abs(length * step).max()) < 1e-9:
            break
    # A network whose certainty says nothing must not have its order turned around.
    return float(np.clip(parameters[0], 0.01, 100.0)), float(np.clip(parameters[1], -100.0, 100.0))


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
