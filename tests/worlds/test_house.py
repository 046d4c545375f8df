"""Tasks 1-3 and 5-8: people who move, take, put down and give things."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from world_checks import tell, tell_many

from query_reduction.errors import InputError
from query_reduction.text.stories import Question, Story
from query_reduction.worlds import WorldOptions
from query_reduction.worlds.solver import solve
from query_reduction.worlds.solver.reading import read_events

TASKS = (1, 2, 3, 5, 6, 7, 8)
SEEDS = st.integers(0, 2**32)
SIZES = st.builds(
    WorldOptions,
    sentences=st.none() | st.integers(1, 120),
    people=st.none() | st.integers(2, 20),
    places=st.none() | st.integers(2, 20),
    things=st.none() | st.integers(1, 20),
)


def proof(story: Story, question: Question) -> list[str]:
    return [story.sentences[fact] for fact in sorted(question.support)]


@given(st.sampled_from(TASKS), SEEDS, SIZES)
def test_answers_follow_from_the_text(task: int, seed: int, options: WorldOptions) -> None:
    story = tell(task, seed, options)
    assert story.task == str(task)
    assert len(story.questions) == 5
    assert story.questions[-1].after == len(story.sentences)
    if options.sentences:
        assert len(story.sentences) >= options.sentences
    for question in story.questions:
        told = story.sentences[: question.after]
        assert solve(task, told, question.text) == question.answer, (told, question)
        assert all(0 <= fact < question.after for fact in question.support)
        assert len(set(question.support)) == len(question.support) > 0


@given(st.sampled_from([task for task in TASKS if task != 3]), SEEDS, SIZES)
def test_the_supporting_facts_alone_prove_the_answer(task: int, seed: int, options: WorldOptions) -> None:
    story = tell(task, seed, options)
    for question in story.questions:
        facts = proof(story, question)
        assert solve(task, facts, question.text) == question.answer, (facts, question)


@given(SEEDS, SIZES)
def test_three_facts_are_the_thing_the_move_and_the_move_before_it(seed: int, options: WorldOptions) -> None:
    story = tell(3, seed, options)
    for question in story.questions:
        handled, arrival, before = read_events(story.sentences[fact] for fact in question.support)
        assert question.text == f"Where was the {handled.thing} before the {arrival.place}?"
        assert handled.kind in ("get", "drop")
        assert handled.who == arrival.who == before.who
        assert question.answer == before.place != arrival.place
        assert question.support[2] < question.support[1]
        if handled.kind == "drop":
            assert question.support[1] < question.support[0]
        else:
            assert question.support[0] < question.support[2]


def test_of_several_visits_the_last_is_meant() -> None:
    """On long trips through three places the same place comes again and again."""
    options = WorldOptions(sentences=60, people=2, places=3, things=2)
    for seed in range(100):
        story = tell(3, seed, options)
        for question in story.questions:
            assert solve(3, story.sentences[: question.after], question.text) == question.answer


@given(st.sampled_from(TASKS), SEEDS, SIZES)
def test_only_what_can_happen_is_told(task: int, seed: int, options: WorldOptions) -> None:
    """Nobody moves to where he is, takes what is elsewhere or held, drops or gives what he has not."""
    place_of: dict[str, str] = {}
    holder_of: dict[str, str] = {}
    lies_in: dict[str, str] = {}
    for event in read_events(tell(task, seed, options).sentences):
        here = place_of.get(event.who)
        if event.kind == "move":
            assert event.place != here
            place_of[event.who] = event.place
        elif event.kind == "get":
            assert event.thing not in holder_of
            assert here is None or lies_in.get(event.thing, here) == here
            holder_of[event.thing] = event.who
        else:
            assert holder_of.pop(event.thing) == event.who
            if event.kind == "give":
                assert event.whom != event.who
                there = place_of.get(event.whom)
                assert None in (here, there) or here == there
                holder_of[event.thing] = event.whom
            elif here is not None:
                lies_in[event.thing] = here
        if event.kind == "drop" and here is None:
            lies_in.pop(event.thing, None)


@pytest.mark.parametrize("task", TASKS)
def test_published_stories_ask_about_one_of_the_last_five_facts(task: int) -> None:
    for story in tell_many(task, 500):
        assert all(question.after - max(question.support) <= 5 for question in story.questions)
        assert all(later.after - earlier.after >= 2 for earlier, later in pairwise(story.questions))
        assert all(question.after % 2 == 0 for question in story.questions)


@pytest.mark.parametrize("task", TASKS)
@settings(max_examples=3)
@given(seed=SEEDS)
def test_ten_thousand_sentences(task: int, seed: int) -> None:
    story = tell(task, seed, WorldOptions(sentences=10_000))
    assert 10_000 <= len(story.sentences) < 10_100
    assert [question.after // 1900 for question in story.questions] == [1, 2, 3, 4, 5]
    last = story.questions[-1]
    assert solve(task, story.sentences, last.text) == last.answer


def test_a_gift_is_the_first_possible_thing_to_the_first_person_there() -> None:
    """As published: of the things that could be given, the first of the table; of those present, the first."""
    given_things = [
        event.thing for story in tell_many(5, 4000) for event in read_events(story.sentences) if event.kind == "give"
    ]
    apples, milks = given_things.count("apple"), given_things.count("milk")
    assert apples > 1.2 * milks


@pytest.mark.parametrize(
    ("task", "options", "complaint"),
    [
        (5, WorldOptions(people=1), "people: 1 is too few for this task, which needs at least 2"),
        (1, WorldOptions(places=1), "places: 1 is too few for this task, which needs at least 2"),
        (2, WorldOptions(things=999), "things: 999 are needed but words.toml has 63"),
    ],
)
def test_impossible_sizes(task: int, options: WorldOptions, complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        tell(task, 0, options)
