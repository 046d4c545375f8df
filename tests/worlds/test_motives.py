"""Task 20."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from world_checks import assert_like_published, assert_proved, tell

from query_reduction.text.formats.readers import read_file
from query_reduction.text.stories import Story
from query_reduction.worlds import WorldOptions
from query_reduction.worlds.solver import solve

SEEDS = st.integers(0, 2**32)


@settings(deadline=None)
@given(SEEDS, st.none() | st.integers(1, 80), st.none() | st.integers(1, 30))
def test_answers_follow_from_the_text(seed: int, sentences: int | None, people: int | None) -> None:
    options = WorldOptions(sentences=sentences, people=people)
    story = tell(20, seed, options)
    if sentences is not None:
        assert len(story.sentences) == sentences
    assert [question.after for question in story.questions] == list(range(1, len(story.sentences) + 1))
    assert_proved(story)
    assert story == tell(20, seed, options)


@settings(deadline=None)
@given(SEEDS, st.integers(1, 30))
def test_everybody_feels_and_goes_and_each_thing_is_taken_once(seed: int, people: int) -> None:
    sentences = tell(20, seed, WorldOptions(people=people)).sentences
    taken = [text.split()[-2] for text in sentences if text.endswith(" there.")]
    feelings = {text.split()[2] for text in sentences if " is " in text}
    assert len(taken) == len(set(taken)) == len(feelings)
    assert len(sentences) == 2 * people + len(taken)


def test_long_stories() -> None:
    story = tell(20, 1, WorldOptions(sentences=10_000))
    assert len(story.sentences) == 10_000
    assert_proved(story, story.questions[::500])


def test_a_golden_story() -> None:
    sentences = ["Sumit is tired.", "Yann is bored.", "Sumit went back to the bedroom.", "Sumit is hungry."]
    assert solve(20, sentences[:2], "Where will yann go?") == "garden"
    assert solve(20, sentences[:3], "Why did sumit go to the bedroom?") == "tired"
    assert solve(20, sentences, "Where will sumit go?") == "kitchen"
    with pytest.raises(ValueError, match="not a question of task 20"):
        solve(20, sentences, "Where is sumit?")


def _first_steps(story: Story) -> str:
    """What happens in the first five sentences: somebody feels, goes or gets something."""
    return "".join("f" if " is " in text else "g" if text.endswith(" there.") else "m" for text in story.sentences[:5])


def _sentences_about_each(story: Story) -> tuple[int, ...]:
    names = [text.split()[0] for text in story.sentences]
    return tuple(sorted(names.count(name) for name in set(names)))


def test_like_the_published_stories(real_babi: Path) -> None:
    assert_like_published(real_babi, 20, _first_steps, _sentences_about_each)


def test_the_published_test_file_is_solved(real_babi: Path) -> None:
    (path,) = (real_babi / "en").glob("qa20_*_test.txt")
    for story in read_file(path):
        assert_proved(story)
