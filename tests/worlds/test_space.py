"""Tasks 17, 18 and 19."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from world_checks import assert_like_published, assert_proved, tell, tell_many

from query_reduction.errors import InputError
from query_reduction.text.formats.readers import read_file
from query_reduction.text.stories import Story
from query_reduction.worlds import WorldOptions, generate
from query_reduction.worlds.solver import solve

SEEDS = st.integers(0, 2**32)


@settings(deadline=None)
@given(SEEDS, st.none() | st.integers(2, 60), st.none() | st.integers(3, 25))
def test_positions_follow_from_the_text(seed: int, sentences: int | None, things: int | None) -> None:
    options = WorldOptions(sentences=sentences, things=things)
    story = tell(17, seed, options)
    assert len(story.sentences) == (sentences or 2)
    assert len(story.questions) == 8
    assert_proved(story)
    assert story == tell(17, seed, options)


@settings(deadline=None)
@given(SEEDS, st.none() | st.integers(2, 60), st.none() | st.integers(3, 30))
def test_sizes_follow_from_the_text(seed: int, sentences: int | None, things: int | None) -> None:
    options = WorldOptions(sentences=sentences, things=things)
    story = tell(18, seed, options)
    if sentences is None:
        assert len(story.sentences) % 5 == 0
        assert len(story.questions) >= 5
    else:
        assert len(story.sentences) == sentences
        assert len(story.questions) == 5
    assert_proved(story)
    assert story == tell(18, seed, options)


@settings(deadline=None)
@given(SEEDS, st.none() | st.integers(2, 60), st.none() | st.integers(3, 40))
def test_paths_follow_from_the_text(seed: int, sentences: int | None, places: int | None) -> None:
    options = WorldOptions(sentences=sentences, places=places)
    story = tell(19, seed, options)
    assert len(story.sentences) == (sentences or 5)
    assert_proved(story)
    assert story == tell(19, seed, options)
    assert story.questions[0].answer not in ("n,s", "s,n", "e,w", "w,e")


@pytest.mark.parametrize(
    ("task", "options"),
    [
        (17, WorldOptions(sentences=10_000, things=25)),
        (18, WorldOptions(sentences=10_000, things=30)),
        (19, WorldOptions(sentences=10_000, places=60)),
    ],
)
def test_long_stories(task: int, options: WorldOptions) -> None:
    story = tell(task, 1, options)
    assert len(story.sentences) == 10_000
    assert_proved(story)


@pytest.mark.parametrize("task", [17, 18, 19])
def test_distractors_change_no_answer(task: int) -> None:
    stories = generate(task, 200, seed=3, options=WorldOptions(distractors=0.5))
    assert any("raining" in sentence for story in stories for sentence in story.sentences)
    for story in stories:
        assert_proved(story)


def test_golden_stories() -> None:
    placed = ["The triangle is above the pink rectangle.", "The blue square is to the left of the triangle."]
    assert solve(17, placed, "Is the pink rectangle to the right of the blue square?") == "yes"
    assert solve(17, placed, "Is the blue square below the pink rectangle?") == "no"
    beside = ["The blue square is to the right of the triangle.", "The blue square is to the left of the red square."]
    assert solve(17, beside, "Is the red square above the triangle?") == "no"
    packed = ["The box of chocolates fits inside the chest.", "The box is bigger than the chest."]
    assert solve(18, packed, "Does the box fit in the box of chocolates?") == "no"
    assert solve(18, packed, "Is the box bigger than the box of chocolates?") == "yes"
    laid = ["The office is east of the hallway.", "The kitchen is north of the office."]
    assert solve(19, laid, "How do you go from the kitchen to the hallway?") == "s,w"


@pytest.mark.parametrize("task", [17, 18, 19])
def test_the_solver_refuses_what_it_cannot_know(task: int) -> None:
    with pytest.raises(ValueError, match=f"not a question of task {task}"):
        solve(task, [], "Where is Mary?")
    question = {
        17: "Is the red square above the triangle?",
        18: "Does the box fit in the chest?",
        19: "How do you go from the kitchen to the hallway?",
    }[task]
    with pytest.raises(ValueError, match=re.escape(question)):
        solve(task, [], question)


@pytest.mark.parametrize("task", [17, 18, 19])
def test_too_short_stories_are_refused(task: int) -> None:
    with pytest.raises(InputError, match=f"task {task}: sentences must be at least 2, not 1"):
        tell(task, 0, WorldOptions(sentences=1))


def test_yes_and_no_are_equally_likely_in_larger_worlds() -> None:
    for task in (17, 18):
        stories = tell_many(task, 8000, WorldOptions(sentences=20, things=15))
        answers = [question.answer for story in stories for question in story.questions]
        assert abs(answers.count("yes") / len(answers) - 0.5) < 0.05


def _positions_with_letters(story: Story) -> str:
    """The sentences with things called A, B, C in the order they come up."""
    letters: dict[str, str] = {}
    thing = re.compile(r"triangle|\w+ (?:square|sphere|rectangle)")
    return thing.sub(lambda match: letters.setdefault(match[0], "ABCD"[len(letters)]), " ".join(story.sentences))


def _later_fact_first(story: Story) -> int:
    return sum(question.support[0] > question.support[1] for question in story.questions)


def _crossings(story: Story) -> tuple[int, ...]:
    """How many links the places on the path asked for have; and how often another place speaks for itself."""
    facts = [(text.split()[1], text.split()[-1].rstrip(".")) for text in story.sentences]
    (question,) = story.questions
    first, second = (facts[fact] for fact in question.support)
    (middle,) = set(first) & set(second)
    path = [*(place for place in first if place != middle), middle, *(place for place in second if place != middle)]
    links = [sum(place in fact for fact in facts) for place in path]
    return *links, sum(subject not in path for subject, _ in facts)


def test_positions_are_like_the_published_stories(real_babi: Path) -> None:
    assert_like_published(real_babi, 17, _positions_with_letters)


def test_sizes_are_like_the_published_stories(real_babi: Path) -> None:
    assert_like_published(real_babi, 18, _later_fact_first)


def test_paths_are_like_the_published_stories(real_babi: Path) -> None:
    assert_like_published(real_babi, 19, _crossings)


@pytest.mark.parametrize("task", [17, 18, 19])
def test_the_published_test_file_is_solved(real_babi: Path, task: int) -> None:
    (path,) = (real_babi / "en").glob(f"qa{task}_*_test.txt")
    for story in read_file(path):
        assert_proved(story)
