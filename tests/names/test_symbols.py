"""Names as symbols of their story."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from query_reduction.names.symbols import MOST_NAMES, as_symbols, name_spans, symbol, symbol_number


@pytest.mark.parametrize(
    ("sentences", "question", "expected"),
    [
        (
            ["[Dorothy]'s brother [Michael] and her went to Rome."],
            "How is [Michael] related to [Dorothy]?",
            ["name_2 's brother name_1 and her went to Rome.", "How is name_1 related to name_2?"],
        ),
        (
            ["A is over there with D below.", "I is left to A."],
            "What is the relation of the agent D to the agent I?",
            [
                "name_3 is over there with name_1 below.",
                "name_2 is left to name_3.",
                "What is the relation of the agent name_1 to the agent name_2?",
            ],
        ),
        (
            ["Then Mary Ann met Kim. She left.", "The box is red."],
            "Where is Kim, seen from Zoë?",
            ["Then name_3 met name_1. She left.", "The box is red.", "Where is name_1, seen from name_2?"],
        ),
    ],
)
def test_names_are_found_and_numbered(sentences: list[str], question: str, expected: list[str]) -> None:
    read = as_symbols(sentences, question)
    assert [*read.sentences, read.question] == expected


def test_answers_are_named_back() -> None:
    read = as_symbols(["Kim met Lee."], "Whom did Kim meet?")
    assert read.name_back("name_2") == "Lee"
    assert read.in_known_names("Lee") == "name_2"


def test_symbols_are_not_read_again() -> None:
    read = as_symbols(["[Kim] met [Lee] in Paris."], "How is [Kim] related to [Lee]?")
    again = as_symbols(read.sentences, read.question)
    assert (again.sentences, again.question) == (read.sentences, read.question)


def test_another_rule_may_take_its_place() -> None:
    read = as_symbols(
        ["kim met lee."], "whom did kim meet?", lambda texts: [[(0, 3, "kim"), (8, 11, "lee")], [(9, 12, "kim")]]
    )
    assert read.sentences == ("name_1 met name_2.",)
    assert read.question == "whom did name_1 meet?"


def test_more_names_than_symbols_stay_as_they_are() -> None:
    told = [f"[P{number}] is here." for number in range(MOST_NAMES + 2)]
    read = as_symbols(told, "Who is [P0]?")
    assert read.sentences[MOST_NAMES - 1] == f"{symbol(MOST_NAMES)} is here."
    assert read.sentences[MOST_NAMES] == f"[P{MOST_NAMES}] is here."


def test_numbers_of_symbols() -> None:
    assert symbol_number(symbol(7)) == 7
    assert symbol_number("name_0") == symbol_number("name") == symbol_number("rename_1") == 0


@given(
    st.lists(st.sampled_from(["Kim", "Lee", "Max", "Bo"]), min_size=2, max_size=6),
    st.permutations(["Ada", "Eve", "Ian", "Uma"]),
)
def test_what_a_name_is_makes_no_difference(told: list[str], others: list[str]) -> None:
    renamed = dict(zip(["Kim", "Lee", "Max", "Bo"], others, strict=True))
    story = [f"It is said that {a} met {b}." for a, b in pairwise(told)]
    retold = [f"It is said that {renamed[a]} met {renamed[b]}." for a, b in pairwise(told)]
    one, two = as_symbols(story, f"Who is {told[0]}?"), as_symbols(retold, f"Who is {renamed[told[0]]}?")
    assert (one.sentences, one.question) == (two.sentences, two.question)


@given(st.lists(st.text(max_size=30), min_size=1, max_size=4))
def test_spans_are_in_order_and_within_their_text(texts: list[str]) -> None:
    for text, spans in zip(texts, name_spans(texts), strict=True):
        done = 0
        for start, end, name in spans:
            assert done <= start < end <= len(text)
            assert name in text[start:end]
            done = end
