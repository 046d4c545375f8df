"""Confidence: what is learned from development questions holds on questions of the same kind."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from query_reduction.errors import InputError
from query_reduction.reading.calibration import (
    Calibration,
    expected_calibration_error,
    reliability,
    risk_at_coverage,
)


def drawn(count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Answers of a network that is far too sure: the log-odds it claims are three times the true ones, plus one."""
    rng = np.random.default_rng(seed)
    odds = rng.normal(1.2, 1.5, count)
    right = rng.random(count) < 1 / (1 + np.exp(-odds))
    return 1 / (1 + np.exp(-(3 * odds + 1))), right


@pytest.mark.parametrize("seed", range(5))
def test_confidence_holds_on_new_questions(seed: int) -> None:
    learned = Calibration.learned(*drawn(400, seed))
    claimed, right = drawn(4000, 100 + seed)
    before = expected_calibration_error(claimed, right)
    after = expected_calibration_error(learned.confidences(claimed), right)
    assert before > 0.1 > 0.05 > after


def test_a_few_questions_without_a_mistake_do_not_make_it_certain() -> None:
    learned = Calibration.learned(np.full(8, 0.999999), np.ones(8, bool))
    assert 0.8 < learned.confidence(0.999999) < 0.97


def test_without_development_questions_probabilities_stay() -> None:
    assert Calibration.learned(np.zeros(0), np.zeros(0, bool)).confidence(0.83) == 0.83


@given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=60), st.floats(0, 1), st.floats(0, 1))
def test_order_is_kept_and_confidences_are_shares(pairs: list[tuple[float, bool]], one: float, other: float) -> None:
    learned = Calibration.learned(np.array([p for p, _ in pairs]), np.array([r for _, r in pairs]))
    low, high = sorted((one, other))
    assert 0 <= learned.confidence(low) <= learned.confidence(high) <= 1
    assert learned.confidence(high, omitted=True) <= learned.confidence(high)
    assert Calibration.from_json(learned.as_json()) == learned


@given(st.floats(0.3, 0.9), st.booleans())
def test_runners_up_never_overtake(best: float, omitted: bool) -> None:
    learned = Calibration(slope=0.3, offset=-0.5, omitted=0.4, questions=50)
    ranked = learned.ranked([("a", best), ("b", (1 - best) * 0.7), ("c", (1 - best) * 0.3)], omitted=omitted)
    shares = [share for _, share in ranked]
    assert shares == sorted(shares, reverse=True)
    assert sum(shares) <= 1 + 1e-9


def test_tables() -> None:
    confidences = np.array([0.99, 0.98, 0.8, 0.6, 0.3])
    right = np.array([True, True, True, False, False])
    assert [(row.above, row.questions) for row in reliability(confidences, right)] == [
        (0.0, 1),
        (0.5, 1),
        (0.7, 1),
        (0.97, 2),
    ]
    assert risk_at_coverage(confidences, right, (1.0, 0.6)) == {1.0: 40.0, 0.6: 0.0}


def test_crafted_values_are_refused() -> None:
    for wrong in ({"slope": -1.0}, {"omitted": 2.0}, {"threshold": float("nan")}, {"slope": "1"}):
        with pytest.raises(InputError):
            Calibration.from_json(Calibration().as_json() | wrong)
