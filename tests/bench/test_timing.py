from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from query_reduction.bench import timing
from query_reduction.bench.long_stories import linear_fit
from query_reduction.bench.timing import Effort, Runner, Timing, race, ratios, spread

_EFFORT = Effort(rounds=3, fewest_rounds=2, sample_seconds=0.0, runner_seconds=60.0, slowest_call=1.0)


def test_runners_take_turns_and_each_gets_its_threads() -> None:
    heard: list[str] = []
    runners = [
        Runner(name, lambda name=name: heard.append(name), set_threads=lambda count: None, thread_counts=(1,))  # type: ignore[misc]
        for name in "ab"
    ]
    assert [len(found.seconds) for found in race(runners, _EFFORT)] == [3, 3]
    # In every round an untimed and three timed calls of one, then of the other.
    assert "".join(heard[-24:]) == "aaaabbbb" * 3


def test_a_runner_out_of_time_leaves_after_the_fewest_rounds() -> None:
    effort = Effort(rounds=5, fewest_rounds=2, sample_seconds=0.0, runner_seconds=0.0, slowest_call=1.0)
    (found,) = race([Runner("a", lambda: None, set_threads=lambda count: None)], effort)
    assert len(found.seconds) == 2


def test_times_are_per_unit_of_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timing, "_timed", lambda call: 1.0)
    one, ten = race([Runner("one", lambda: None), Runner("ten", lambda: None, units=10)], _EFFORT)
    assert one.seconds == [1.0, 1.0, 1.0] and ten.seconds == [0.1, 0.1, 0.1]


def test_a_call_that_was_held_up_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    durations = itertools.cycle([0.001, 0.002, 9.0])
    monkeypatch.setattr(timing, "_timed", lambda call: next(durations))
    (found,) = race([Runner("a", lambda: None, thread_counts=(1,))], _EFFORT)
    assert found.seconds == [0.002, 0.002, 0.002]


def test_ratios_are_taken_round_by_round() -> None:
    base = Timing("base", 1, 1, 0.0, [1.0, 10.0, 100.0])
    slow = Timing("slow", 1, 1, 0.0, [2.0, 20.0])
    assert ratios(slow, base).median == 2.0


@given(st.floats(0, 10), st.floats(0.01, 10), st.lists(st.integers(1, 10**6), min_size=2, max_size=8, unique=True))
def test_a_straight_line_fits_exactly(fixed: float, each: float, lengths: list[int]) -> None:
    _, _, deviations = linear_fit(lengths, [fixed + each * length for length in lengths])
    assert max(map(abs, deviations)) < 1e-6


def test_a_bent_line_does_not_fit() -> None:
    lengths = [1_000, 10_000, 100_000]
    _, _, deviations = linear_fit(lengths, [length**1.3 for length in lengths])
    assert max(map(abs, deviations)) > 0.15


def test_one_measurement_has_no_spread() -> None:
    assert spread([3.0]).as_json() == {"median": 3.0, "lower": 3.0, "upper": 3.0}
    with pytest.raises(Exception, match="data point"):
        spread([])
