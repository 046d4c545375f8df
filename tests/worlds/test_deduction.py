"""Tasks 15 and 16."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from world_checks import assert_like_published, assert_proved, tell, tell_many

from query_reduction.errors import InputError
from query_reduction.text.formats.readers import read_file
from query_reduction.text.stories import Story
from query_reduction.worlds import WorldOptions
from query_reduction.worlds.solver import solve

SEEDS = st.integers(0, 2**32)


@settings(deadline=None)
@given(SEEDS, st.none() | st.integers(2, 80), st.none() | st.integers(1, 30), st.none() | st.integers(2, 20))
def test_deduction_follows_from_the_text(
    seed: int, sentences: int | None, people: int | None, animals: int | None
) -> None:
    options = WorldOptions(sentences=sentences, people=people, things=animals)
    story = tell(15, seed, options)
    assert len(story.sentences) == (sentences or (people or 4) + (animals or 4))
    assert len(story.questions) == 4
    assert_proved(story)
    assert story == tell(15, seed, options)


@settings(deadline=None)
@given(SEEDS)
def test_an_animal_is_told_of_before_anybody_is_one(seed: int) -> None:
    told: set[str] = set()
    plural = {"mouse": "Mice", "sheep": "Sheep", "wolf": "Wolves", "cat": "Cats"}
    for sentence in tell(15, seed).sentences:
        if " are afraid of " in sentence:
            told.add(sentence.split()[0])
        else:
            assert plural[sentence.rstrip(".").split()[-1]] in told


@settings(deadline=None)
@given(SEEDS, st.none() | st.integers(3, 80), st.none() | st.integers(2, 30), st.none() | st.integers(2, 20))
def test_induction_follows_from_the_text(
    seed: int, sentences: int | None, people: int | None, animals: int | None
) -> None:
    options = WorldOptions(sentences=sentences, people=people, things=animals)
    story = tell(16, seed, options)
    assert len(story.sentences) == (sentences or 2 * (people or 5) - 1)
    assert_proved(story)
    assert story == tell(16, seed, options)
    (question,) = story.questions
    asked = question.text.removeprefix("What color is ").rstrip("?")
    about = {sentence for sentence in story.sentences if sentence.startswith(f"{asked} is ")}
    assert len(about) == 1, "the colour asked for must not be told"


@pytest.mark.parametrize("task", [15, 16])
def test_long_stories(task: int) -> None:
    story = tell(task, 1, WorldOptions(sentences=10_000, people=80, things=10))
    assert len(story.sentences) == 10_000
    assert len({sentence.split()[0] for sentence in story.sentences if " is a " in sentence}) == 80
    assert_proved(story)


def test_golden_stories() -> None:
    feared = ["Mice are afraid of wolves.", "Gertrude is a mouse.", "Wolves are afraid of sheep."]
    assert solve(15, feared, "What is gertrude afraid of?") == "wolf"
    # Two of three lions are white, but the one that appeared last is gray.
    seen = [
        "Lily is a lion.", "Greg is a lion.", "Greg is white.", "Lily is white.", "Julius is a lion.",
        "Julius is gray.", "Brian is a lion.",
    ]  # fmt: skip
    assert solve(16, seen, "What color is Brian?") == "gray"
    with pytest.raises(ValueError, match="not a question of task 15"):
        solve(15, feared, "What color is Brian?")
    with pytest.raises(ValueError, match="not a question of task 16"):
        solve(16, seen, "What is gertrude afraid of?")


def test_two_of_a_kind_may_differ_in_colour() -> None:
    """Those that appeared before a colour was told have the same one; later ones a colour of their own."""
    alike = {True: 0, False: 0}
    differ = {True: 0, False: 0}
    for story in tell_many(16, 3000):
        position = {sentence: number for number, sentence in enumerate(story.sentences)}
        animal = {s.split()[0]: s.split()[3] for s in story.sentences if " is a " in s}
        colour = {s.split()[0]: s for s in story.sentences if " is a " not in s}
        for one in colour:
            for other in colour:
                if one < other and animal[one] == animal[other]:
                    appeared = max(position[f"{name} is a {animal[name]}"] for name in (one, other))
                    together = appeared < min(position[colour[name]] for name in (one, other))
                    same = colour[one].split()[-1] == colour[other].split()[-1]
                    (alike if same else differ)[together] += 1
    # With a third of the kind appearing in between, even two that were there together may differ.
    assert differ[True] < 0.1 * alike[True]
    assert 0.15 < alike[False] / (alike[False] + differ[False]) < 0.35


@pytest.mark.parametrize(("task", "least"), [(15, 2), (16, 3)])
def test_too_short_stories_are_refused(task: int, least: int) -> None:
    with pytest.raises(InputError, match=f"task {task}: sentences must be at least {least}"):
        tell(task, 0, WorldOptions(sentences=least - 1))


def _kinds_of_sentences(story: Story) -> str:
    return "".join("a" if " are " in text or " is a " in text else "b" for text in story.sentences)


def _order_of_kinds_and_members(story: Story) -> str:
    return "".join("a" if " are " in text else "b" for text in story.sentences)


def _company_and_its_colours(story: Story) -> tuple[int, int]:
    """How many others there are of the kind asked about, and how many colours they have."""
    asked = story.questions[0].text.removeprefix("What color is ").rstrip("?")
    animal = {text.split()[0]: text.split()[3] for text in story.sentences if " is a " in text}
    colour = {text.split()[0]: text.split()[2] for text in story.sentences if " is a " not in text}
    company = [name for name in colour if animal[name] == animal[asked]]
    return len(company), len({colour[name] for name in company})


def test_deduction_is_like_the_published_stories(real_babi: Path) -> None:
    assert_like_published(real_babi, 15, _order_of_kinds_and_members)


def test_induction_is_like_the_published_stories(real_babi: Path) -> None:
    assert_like_published(real_babi, 16, _kinds_of_sentences, _company_and_its_colours)


@pytest.mark.parametrize("task", [15, 16])
def test_the_published_test_file_is_solved(real_babi: Path, task: int) -> None:
    (path,) = (real_babi / "en").glob(f"qa{task}_*_test.txt")
    for story in read_file(path):
        assert_proved(story)
