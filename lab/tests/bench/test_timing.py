from __future__ import annotations

import itertools

import pytest
from query_reduction_lab.bench import timing
from query_reduction_lab.bench.timing import Effort, Runner, race

_EFFORT = Effort(rounds=3, fewest_rounds=2, sample_seconds=0.0, runner_seconds=60.0, slowest_call=1.0, patience=1.0)


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
    effort = Effort(rounds=5, fewest_rounds=2, sample_seconds=0.0, runner_seconds=0.0, slowest_call=1.0, patience=1.0)
    (found,) = race([Runner("a", lambda: None, set_threads=lambda count: None)], effort)
    assert len(found.seconds) == 2


def test_times_are_per_unit_of_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timing, "_timed", lambda call: 1.0)
    one, ten = race([Runner("one", lambda: None), Runner("ten", lambda: None, units=10)], _EFFORT)
    assert one.seconds == (1.0, 1.0, 1.0) and ten.seconds == (0.1, 0.1, 0.1)


def test_a_call_that_was_held_up_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    durations = itertools.cycle([0.001, 0.002, 9.0])
    monkeypatch.setattr(timing, "_timed", lambda call: next(durations))
    (found,) = race([Runner("a", lambda: None, thread_counts=(1,))], _EFFORT)
    assert found.seconds == (0.002, 0.002, 0.002)
