"""Phrases of a text: words with their places, keys, and which runs may be answers."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from query_reduction.text.phrases import PhraseRule, alternatives, find_runs, phrase_key, word_key, words_of


@given(st.text(max_size=60))
def test_words_stand_where_they_say(text: str) -> None:
    words = words_of(text)
    assert all(text[word.start : word.end] == word.text for word in words)
    assert all(first.end <= second.start for first, second in pairwise(words))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("wave", "Waves"),
        ("recycle", "recycling"),
        ("city", "cities"),
        ("box", "boxes"),
        ("stop", "stopped"),
        ("Café", "café"),
    ],
)
def test_forms_of_a_word_have_one_key(one: str, other: str) -> None:
    assert word_key(one) == word_key(other)


@pytest.mark.parametrize(("one", "other"), [("glass", "gla"), ("bus", "bu"), ("sea", "seal"), ("ing", "")])
def test_other_words_have_other_keys(one: str, other: str) -> None:
    assert word_key(one) != word_key(other)


def test_a_possessive_ending_is_a_word_however_it_is_written() -> None:
    assert phrase_key("earth's crust") == phrase_key("earth 's crust") == phrase_key("Earth’s crust")
    assert [word.text for word in words_of("the earth's crust")] == ["the", "earth", "'s", "crust"]


def test_names_of_one_thing() -> None:
    assert alternatives("water; liquid ;") == (("water",), ("liquid",))


def test_right_to_left_text_keeps_its_order_and_places() -> None:
    text = "הקוף אכל בננה"
    words = words_of(text)
    assert [word.text for word in words] == text.split()
    assert list(find_runs([word.key for word in words], phrase_key("אכל בננה"))) == [1]


def test_a_rule_knows_how_answers_begin_and_end() -> None:
    texts = ["the cat sat on the old mat ."] * 20
    rule = PhraseRule.learned(texts, ["old mat", "cat"])
    keys = [word.key for word in words_of(texts[0])]
    found = {tuple(keys[first:end]) for first, end in rule.runs(keys)}
    assert ("old", "mat") in found and ("cat",) in found
    assert ("the",) not in found and ("the", "cat") not in found and ("cat", "sat") not in found
    assert PhraseRule.from_json(rule.as_json()) == rule


def test_words_met_rarely_may_be_answers_although_none_had_them() -> None:
    rule = PhraseRule.learned(["the cat sat"] * 20, ["cat"])
    assert list(rule.runs(["the", "zebra", "sat"])) == [(1, 2)]
