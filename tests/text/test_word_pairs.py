"""Which words follow each other: sentences of training are allowed, known words in another order are not."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from query_reduction.errors import InputError
from query_reduction.text.stories import Story
from query_reduction.text.vocabulary import Vocabulary
from query_reduction.text.word_pairs import WordPairs
from query_reduction.worlds import TASKS, generate


def pairs_of(stories: list[Story]) -> tuple[WordPairs | None, Vocabulary]:
    vocabulary = Vocabulary.from_stories(stories, "text", fold_case=True)
    return WordPairs.of_stories(stories, vocabulary), vocabulary


@pytest.mark.parametrize("task", TASKS)
def test_sentences_like_those_of_training_are_allowed(task: int) -> None:
    pairs, vocabulary = pairs_of(generate(task, 1000))
    assert pairs is not None
    told = {sentence for story in generate(task, 200, split="test") for sentence in story.sentences}
    assert all(pairs.allow(vocabulary.numbers(sentence)) for sentence in told)


@pytest.mark.parametrize(
    ("text", "allowed"),
    [
        ("Mary went to the kitchen.", True),
        ("Mary quickly went to the dark kitchen.", True),
        ("Mary went to sleep.", False),
        ("Mary went.", False),
        ("John is back.", False),
        ("The kitchen went to Mary.", False),
        ("...", False),
    ],
)
def test_known_words_in_another_order_are_not(text: str, allowed: bool) -> None:
    pairs, vocabulary = pairs_of(generate(1, 1000))
    assert pairs is not None
    assert pairs.allow(vocabulary.numbers(text)) == allowed


def test_where_most_sentences_are_new_any_order_is_allowed() -> None:
    rng = random.Random(0)
    words = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"]
    free = [Story(tuple(" ".join(rng.choices(words, k=6)) for _ in range(20)), ())]
    assert pairs_of(free)[0] is None


def test_stories_told_again_add_what_they_have() -> None:
    stories = generate(1, 300)
    vocabulary = Vocabulary.from_stories(stories, "text", fold_case=True)
    more = [Story(("Mary is in the kitchen.",), ())]
    before, after = (WordPairs.of_stories(stories, vocabulary, more=told) for told in ([], more))
    assert before and after
    numbers = vocabulary.numbers(more[0].sentences[0])
    assert after.allow(numbers) and not before.allow(numbers)


@given(st.frozensets(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=30))
def test_kept_in_a_file(known: frozenset[tuple[int, int]]) -> None:
    pairs = WordPairs(known)
    assert WordPairs.from_json(pairs.as_json(), 10) == pairs


@pytest.mark.parametrize("data", [{}, "ab", [1], [[1, 10]], [[-1]], [[True, 1]], [[1.0, 2]]])
def test_anything_else_is_refused_in_one_line(data: object) -> None:
    with pytest.raises(InputError, match="pairs of words"):
        WordPairs.from_json(data, 10)
