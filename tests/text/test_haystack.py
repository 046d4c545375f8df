"""Stories hidden in other text."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from query_reduction.errors import InputError
from query_reduction.text.haystack import halves, hide, passage, read_haystack
from query_reduction.text.stories import Question, Story

BOOK = [f"line {number}" for number in range(40)]


@given(told=st.integers(1, 12), count=st.integers(0, 40), seed=st.integers(0, 1000), data=st.data())
def test_a_hidden_story_is_still_told_in_order(told: int, count: int, seed: int, data: st.DataObject) -> None:
    after = data.draw(st.integers(1, told))
    fact = data.draw(st.integers(0, after - 1))
    sentences = tuple(f"fact {number}" for number in range(told))
    story = Story(sentences, (Question("where?", "here", after, (fact,)), Question("who?", "me", told)), "1")
    among = BOOK[:count]
    hidden = hide(story, among, random.Random(seed))
    assert [text for text in hidden.sentences if text.startswith("fact")] == list(sentences)
    assert [text for text in hidden.sentences if text.startswith("line")] == among
    first, last = hidden.questions
    assert [text for text in hidden.sentences[: first.after] if text.startswith("fact")] == list(sentences[:after])
    assert hidden.sentences[first.support[0]] == f"fact {fact}"
    assert last.after == len(hidden.sentences)
    assert (first.text, first.answer, hidden.task) == ("where?", "here", "1")


def test_stories_are_hidden_everywhere() -> None:
    story = Story(("fact",), (Question("where?", "here", 1),))
    chance = random.Random(0)
    places = {hide(story, BOOK[:4], chance).sentences.index("fact") for _ in range(200)}
    assert places == set(range(5))


@given(count=st.integers(0, 40), seed=st.integers(0, 100))
def test_a_passage_is_consecutive(count: int, seed: int) -> None:
    found = list(passage(BOOK, count, random.Random(seed)))
    start = BOOK.index(found[0]) if found else 0
    assert found == BOOK[start : start + count]


def test_a_passage_longer_than_the_text_is_refused() -> None:
    with pytest.raises(InputError, match="has 40 sentences, and 41 are needed"):
        passage(BOOK, 41, random.Random(0))


def test_halves_share_nothing() -> None:
    first, second = halves(BOOK[:7])
    assert [*first, *second] == BOOK[:7]
    assert not set(first) & set(second)


def test_a_haystack_is_read_line_by_line(tmp_path: Path) -> None:
    file = tmp_path / "book.txt"
    file.write_text("One.\n\n  Two. And more.\n", encoding="utf-8")
    assert read_haystack(file) == ["One.", "Two. And more."]
    file.write_text("One.\n", encoding="utf-8")
    with pytest.raises(InputError, match="at least two lines"):
        read_haystack(file)
    file.write_bytes(b"One.\n\xff\n")
    with pytest.raises(InputError, match="not UTF-8"):
        read_haystack(file)
