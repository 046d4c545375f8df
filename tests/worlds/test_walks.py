"""Tasks 9-14: denial, doubt, pronouns, pairs of people, parts of the day."""

from __future__ import annotations

import re
from collections import defaultdict

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from world_checks import assert_proved, tell, tell_many

from query_reduction.errors import InputError
from query_reduction.worlds import WorldOptions
from query_reduction.worlds.solver import solve

TASKS = (9, 10, 11, 12, 13, 14)
SEEDS = st.integers(0, 2**32)
SIZES = st.builds(
    WorldOptions,
    sentences=st.none() | st.integers(1, 120),
    people=st.none() | st.integers(2, 20),
    places=st.none() | st.integers(3, 20),
)
PLACES = re.compile(r"the (\w+)")


@given(st.sampled_from(TASKS), SEEDS, SIZES)
def test_answers_follow_from_the_text_and_from_the_facts(task: int, seed: int, options: WorldOptions) -> None:
    story = tell(task, seed, options)
    assert story.task == str(task)
    assert len(story.questions) == 5
    assert story.questions[-1].after == len(story.sentences)
    if options.sentences:
        assert len(story.sentences) >= options.sentences
    assert_proved(story)


@given(SEEDS, SIZES)
def test_denied_is_the_place_last_told(seed: int, options: WorldOptions) -> None:
    known: dict[str, str] = {}
    for sentence in tell(9, seed, options).sentences:
        who = sentence.split()[0]
        (place,) = PLACES.findall(sentence)
        if re.search("is not|is no longer", sentence):
            assert known.pop(who, place) == place
        else:
            assert known.get(who) != place
            known[who] = place


def test_doubt_names_the_same_place_twice_as_often_as_published() -> None:
    doubts = [PLACES.findall(text) for story in tell_many(10, 5000) for text in story.sentences if "either" in text]
    assert len(doubts) / sum(first == second for first, second in doubts) == pytest.approx(6, abs=1)


@given(SEEDS, st.integers(2, 40))
def test_pronouns_fit_the_people(seed: int, people: int) -> None:
    sentences = tell(11, seed, WorldOptions(people=people, sentences=40)).sentences
    for first, second in zip(sentences[::2], sentences[1::2], strict=True):
        women = {"Mary", "Sandra", "Alice", "Nora", "Clara", "Ingrid", "Paula", "Teresa", "Wanda", "Beatrice"}
        men = {"John", "Daniel", "Oscar", "Hugo", "Felix", "Marco", "Simon", "Victor", "Walter", "Carlos"}
        who = first.split()[0]
        assert who not in women or " she " in second
        assert who not in men or " he " in second
        assert PLACES.findall(first) != PLACES.findall(second)


@given(st.sampled_from((12, 13)), SEEDS, SIZES)
def test_two_people_go_where_neither_was(task: int, seed: int, options: WorldOptions) -> None:
    place_of: dict[str, str] = {}
    pair: list[str] = []
    for sentence in tell(task, seed, options).sentences:
        (place,) = PLACES.findall(sentence)
        if " and " in sentence:
            pair = [sentence.split()[0], sentence.split()[2]]
        assert len(set(pair)) == 2
        for who in pair:
            assert place_of.get(who) != place
            place_of[who] = place


@given(SEEDS, SIZES)
def test_everybody_is_in_one_place_at_a_time(seed: int, options: WorldOptions) -> None:
    places: dict[tuple[str, str], set[str]] = defaultdict(set)
    for sentence in tell(14, seed, options).sentences:
        (time,) = re.findall("yesterday|this morning|this afternoon|this evening", sentence.lower())
        who = next(word for word in sentence.split() if word[0].isupper() and word not in ("Yesterday", "This"))
        places[who, time].update(PLACES.findall(sentence))
    assert all(len(names) == 1 for names in places.values())


def test_two_moves_of_one_person_between_questions_are_told_the_wrong_way_round() -> None:
    """As published."""
    order = ("yesterday", "this morning", "this afternoon", "this evening")
    pairs = 0
    for story in tell_many(14, 1000):
        for question in story.questions[1:]:
            moves = []
            for sentence in story.sentences[question.after - 2 : question.after]:
                who = next(word for word in sentence.split() if word[0].isupper() and word not in ("Yesterday", "This"))
                moves.append((who, next(n for n, time in enumerate(order) if time in sentence.lower())))
            (who, time), (other, other_time) = moves
            if who == other:
                pairs += 1
                assert time > other_time
    assert pairs > 50


@pytest.mark.parametrize("task", TASKS)
@settings(max_examples=3)
@given(seed=SEEDS)
def test_ten_thousand_sentences(task: int, seed: int) -> None:
    story = tell(task, seed, WorldOptions(sentences=10_000))
    assert len(story.sentences) == 10_000
    assert [question.after for question in story.questions] == [2000, 4000, 6000, 8000, 10_000]
    last = story.questions[-1]
    assert solve(task, story.sentences, last.text) == last.answer


@pytest.mark.parametrize(
    ("task", "options", "complaint"),
    [
        (12, WorldOptions(people=1), "people: 1 is too few"),
        (13, WorldOptions(places=2), "places: 2 is too few for this task, which needs at least 3"),
        (14, WorldOptions(people=85), "people: 85 are needed but words.toml has 84 for 'town'"),
    ],
)
def test_impossible_sizes(task: int, options: WorldOptions, complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        tell(task, 0, options)
