"""Discovery within bounds: of time, of stories, of words."""

from __future__ import annotations

import random

from query_reduction.names.discovery.budget import Budget, sampled
from query_reduction.names.discovery.discover import discover
from query_reduction.text.stories import Question, Story
from query_reduction.worlds import generate


def test_many_distinct_words_and_stories_are_sampled() -> None:
    rng = random.Random(0)

    def text(words: int) -> str:
        return " ".join(f"w{rng.randrange(40_000)}" for _ in range(words))

    stories = [Story((text(9), text(9)), (Question(text(5), f"w{number}", 2),)) for number in range(6000)]
    found = discover(stories, seconds=20)
    assert not found
    assert found.not_examined() == ["not examined: 4000 of 6000 stories"]


def test_without_time_less_is_found_and_that_is_said() -> None:
    stories = generate(1, 600, seed=3)
    reports: list[tuple[str, float]] = []
    found = discover(stories, seconds=0.01, progress=lambda what, part: reports.append((what, part)))
    assert not found.couplings
    assert any("not examined" in line for line in found.not_examined())
    assert [part for _, part in reports] == sorted(part for _, part in reports)
    assert all(0 <= part <= 1 for _, part in reports)


def test_a_sample_stops_at_its_bounds() -> None:
    story = Story(("a " * 999 + "a.",), (Question("a?", "a", 1),))
    assert len(sampled([story] * 500, 1000)) == 150
    assert len(sampled([Story(("a.",), (Question("a?", "a", 1),))] * 5000, 700)) == 700
    assert sampled([Story(("a.",), ())], 10) == []


def test_a_budget_notes_everything_once() -> None:
    budget = Budget(1e9)
    assert not budget.spent() and budget.remaining() > 0
    budget.leave_out("words")
    budget.leave_out("words")
    assert budget.left_out == ["words"]
    assert Budget(-1.0).spent()
