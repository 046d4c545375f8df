"""Task 4 and the map of places it shares with tasks 17 and 19."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from world_checks import assert_like_published, assert_proved, tell, tell_many

from query_reduction.errors import InputError
from query_reduction.text.formats.readers import read_file
from query_reduction.text.stories import Question, Story
from query_reduction.worlds import WorldOptions
from query_reduction.worlds.chance import seeded
from query_reduction.worlds.relations import surrounded_path, tell_map
from query_reduction.worlds.solver import solve

SEEDS = st.integers(0, 2**32)


@settings(deadline=None)
@given(SEEDS, st.integers(3, 60))
def test_a_map_is_a_tree_whose_spots_have_every_side_once(seed: int, count: int) -> None:
    spots = surrounded_path(seeded(seed), count).spots
    assert len(spots) == count
    links = {link for neighbours in spots for _, _, _, link in neighbours}
    assert links == set(range(count - 1))
    reached, waiting = {0}, [0]
    while waiting:
        for spot, side, other, link in spots[waiting.pop()]:
            assert (other, side ^ 1, spot, link) in spots[other]
            if other not in reached:
                reached.add(other)
                waiting.append(other)
    assert len(reached) == count
    for neighbours in spots:
        assert len({side for _, side, _, _ in neighbours}) == len(neighbours)


@settings(deadline=None)
@given(SEEDS, st.integers(3, 20), st.integers(0, 40))
def test_every_link_of_a_map_is_told(seed: int, count: int, more: int) -> None:
    rng = seeded(seed)
    around = surrounded_path(rng, count)
    told, told_at = tell_map(rng, around, count - 1 + more)
    assert len(told) == count - 1 + more
    assert [told[position][3] for position in told_at] == list(range(count - 1))
    for link, position in enumerate(told_at):
        assert all(neighbour[3] != link for neighbour in told[position + 1 :])


def test_a_new_place_is_as_likely_on_every_free_side() -> None:
    rng = seeded("sides")
    middles = [len(surrounded_path(rng, 4).spots[1]) == 3 for _ in range(4000)]
    assert abs(sum(middles) / 4000 - 2 / 8) < 0.03


@settings(deadline=None)
@given(SEEDS, st.none() | st.integers(1, 60), st.none() | st.integers(2, 40))
def test_answers_follow_from_the_text(seed: int, sentences: int | None, places: int | None) -> None:
    options = WorldOptions(sentences=sentences, places=places)
    story = tell(4, seed, options)
    assert len(story.sentences) == (sentences or 2)
    assert_proved(story)
    assert story == tell(4, seed, options)


def test_long_stories() -> None:
    story = tell(4, 1, WorldOptions(sentences=10_000, places=60))
    assert len(story.sentences) == 10_000
    assert_proved(story)
    assert len(set(story.sentences)) == 2 * 59


def test_a_golden_story() -> None:
    sentences = ("The office is north of the kitchen.", "The garden is south of the kitchen.")
    for question, answer in (
        ("What is north of the kitchen?", "office"),
        ("What is the kitchen north of?", "garden"),
        ("What is the garden south of?", "kitchen"),
    ):
        assert solve(4, sentences, question) == answer
    with pytest.raises(ValueError, match="not a question of task 4"):
        solve(4, sentences, "Where is the kitchen?")


def test_the_check_notices_a_wrong_answer_and_a_wrong_proof() -> None:
    sentences = ("The office is north of the kitchen.", "The garden is south of the kitchen.")
    for answer, fact in (("garden", 1), ("office", 1)):
        with pytest.raises((AssertionError, ValueError)):
            assert_proved(Story(sentences, (Question("What is north of the kitchen?", answer, 2, (fact,)),), "4"))


def test_too_small_worlds_are_refused() -> None:
    with pytest.raises(InputError, match="places: 1 is too few"):
        tell(4, 0, WorldOptions(places=1))


def _with_letters(story: Story) -> str:
    """The whole story with places called A, B, C in the order they come up."""
    letters: dict[str, str] = {}
    text = " ".join([*story.sentences, story.questions[0].text, story.questions[0].answer])
    place = re.compile("bathroom|bedroom|garden|hallway|kitchen|office")
    return place.sub(lambda match: letters.setdefault(match[0], "ABCD"[len(letters)]), text)


def test_like_the_published_stories(real_babi: Path) -> None:
    assert_like_published(real_babi, 4, _with_letters)


def test_the_published_test_file_is_solved(real_babi: Path) -> None:
    (path,) = (real_babi / "en").glob("qa4_*_test.txt")
    for story in read_file(path):
        assert_proved(story)


def test_published_size_uses_the_published_words() -> None:
    assert {question.answer for story in tell_many(4, 500) for question in story.questions} == {
        "bathroom", "bedroom", "garden", "hallway", "kitchen", "office",
    }  # fmt: skip
