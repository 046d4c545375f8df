from __future__ import annotations

from query_reduction.names.discovery.candidates import find_candidates
from query_reduction.names.discovery.columns import find_columns
from query_reduction.names.discovery.corpus import read_corpus
from query_reduction.names.units import Units, find_phrases, plain
from query_reduction.text.stories import Question, Story
from query_reduction.worlds import generate


def test_names_of_several_words_are_found_by_what_else_fills_their_gap() -> None:
    assert ("box", "of", "chocolates") in find_phrases(generate(18, 200))
    assert {("to", "the", "left", "of"), ("pink", "rectangle"), ("red", "square"), ("red", "sphere")} <= find_phrases(
        generate(17, 800)
    )
    assert ("picked", "up") in find_phrases(generate(2, 500))


def test_names_that_all_have_two_words_are_found_where_these_never_part() -> None:
    people = ["Ann Lee", "Bob Ray", "Cy Young"]
    places = ["attic", "barn", "cellar", "den"]
    sentences = tuple(f"{who} went to the {place}." for who in people for place in places)
    assert {("ann", "lee"), ("bob", "ray"), ("cy", "young")} <= find_phrases([Story(sentences, ())])


def test_an_answer_of_several_words_is_one_unit_and_a_list_is_several() -> None:
    story = Story(("Ann is in the living room.",), (Question("Where is Ann?", "living room", 1),))
    units = Units(find_phrases([story]))
    assert units.of_text("Ann left the living room.", "sentence") == ["ann", "left", "the", "living room"]
    assert units.of_text("living room,ann", "answer") == ["living room", "ann"]


def test_the_longest_phrase_is_taken() -> None:
    units = Units(frozenset({("went", "back"), ("went", "back", "to")}))
    assert units.of_text("Ann went back to bed", "sentence") == ["ann", "went back to", "bed"]


def test_a_word_that_is_the_same_in_two_columns_is_two_units() -> None:
    stories = generate(15, 400)
    corpus = read_corpus(stories, Units())
    columns = find_columns(corpus, find_candidates(corpus))
    assert set(columns) == {"sheep"}
    units = Units(frozenset(), columns)
    one, many = (
        units.of_text("Emily is a sheep.", "sentence")[-1],
        units.of_text("Sheep are afraid of cats.", "sentence")[0],
    )
    assert plain(one) == plain(many) == "sheep" and one != many
    assert units.of_text("sheep", "answer") == [one]
