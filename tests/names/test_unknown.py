from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from query_reduction.names import Symmetries, read_unknown
from query_reduction.names.contexts import find_contexts
from query_reduction.names.units import Units
from query_reduction.text.stories import Question, Story
from query_reduction.text.vocabulary import Vocabulary
from query_reduction.text.words import compose
from query_reduction.worlds import generate

PEOPLE = ("mary", "john", "sandra", "daniel")
PLACES = ("bathroom", "bedroom", "garden", "hallway", "kitchen", "office")
OPENERS = ("", "Then", "After that", "Afterwards,", "Later", "Next", "Finally", "Now", "Meanwhile", "Soon", "And then")
openers = st.sampled_from(OPENERS) | st.lists(st.text("bdfgklmnrst", min_size=2, max_size=6), max_size=3).map(" ".join)


@pytest.fixture(scope="module")
def known() -> tuple[Symmetries, tuple[str, ...]]:
    stories = generate(1, 300)
    units = Units(frozenset({("went", "back")}))
    contexts = find_contexts(stories, units, (PEOPLE, PLACES))
    return Symmetries((PEOPLE, PLACES), units=units, contexts=contexts), Vocabulary.from_stories(stories).words


def test_new_names_stand_in_for_unused_ones_and_are_named_back(known: tuple[Symmetries, tuple[str, ...]]) -> None:
    symmetries, words = known
    read = read_unknown(
        symmetries, ["Zelda went to the attic.", "Mary went back to the living room."], "Where is Zelda?", words
    )
    assert read.sentences == ("John went to the bedroom.", "Mary went back to the bathroom.")
    assert read.question == "Where is John?"
    assert read.name_back("bedroom") == "attic"
    assert read.name_back("bathroom,kitchen") == "living room,kitchen"
    assert read.in_known_names("Living Room,kitchen,attic") == "bathroom,kitchen,bedroom"
    assert read.unplaced == ()


def test_what_fits_no_kind_is_left_and_reported(known: tuple[Symmetries, tuple[str, ...]]) -> None:
    symmetries, words = known
    read = read_unknown(symmetries, ["Mary frobbed the kitchen.", "Quickly John went."], "Where is Mary?", words)
    assert read.sentences == ("Mary frobbed the kitchen.", "Quickly John went.")
    assert read.unplaced == ("frobbed", "quickly")


def test_names_run_out(known: tuple[Symmetries, tuple[str, ...]]) -> None:
    symmetries, words = known
    told = [f"{who} went to the kitchen." for who in ("Ann", "Bob", "Cleo", "Dora", "Emil")]
    read = read_unknown(symmetries, told, "Where is Emil?", words)
    assert read.unplaced == read.crowded == ("ann",) and len(read.names) == 4, "the one asked about comes first"


def test_part_of_a_known_name_is_no_known_word() -> None:
    """ "pallet 3" is a name; "pallet 7" is another one, not the word 7 after a known one."""
    stories = [
        Story((f"{who} moved the pallet {number}.",), (Question(f"Who moved the pallet {number}?", who, 1),))
        for who in ("Ann", "Bob", "Cid")
        for number in (1, 2, 3)
        for _ in range(3)
    ]
    units = Units(frozenset({("pallet", "1"), ("pallet", "2"), ("pallet", "3")}))
    kinds = (("ann", "bob", "cid"), ("pallet 1", "pallet 2", "pallet 3"))
    symmetries = Symmetries(kinds, units=units, contexts=find_contexts(stories, units, kinds))
    words = Vocabulary.from_stories(stories, phrases=units.phrases).words
    read = read_unknown(symmetries, ["Zoe\u0308 moved the pallet 7."], "Who moved the pallet 7?", words)
    assert read.unplaced == () and sorted(read.names.values()) == ["Zoë", "pallet 7"]
    assert read.sentences == ("Ann moved the pallet 1.",)


def test_known_words_stay(known: tuple[Symmetries, tuple[str, ...]]) -> None:
    symmetries, words = known
    story = ["Mary went to the kitchen."]
    read = read_unknown(symmetries, story, "Where is Mary?", words)
    assert read.sentences == tuple(story) and not read.names


def test_a_name_may_be_read_as_one_that_is_not_interchangeable(known: tuple[Symmetries, tuple[str, ...]]) -> None:
    symmetries, words = known
    lending = (PEOPLE, PLACES)
    contexts = find_contexts(generate(1, 300), symmetries.units, lending)
    part = Symmetries((PEOPLE, PLACES[:4]), units=symmetries.units, contexts=contexts, lending=lending)
    told = [f"Mary went to the {place}." for place in ("attic", "barn", "cellar", "den", "eyrie", "foyer")]
    assert read_unknown(part, told, "Where is Mary?", words).unplaced == ()


@pytest.mark.parametrize(
    ("told", "asked", "read_as", "names"),
    [
        ("The nurse went to ward 3.", "Where is the nurse?", "Mary went to the bathroom.", {"nurse", "ward 3"}),
        ("the cat went back to Paris", "Where is the cat?", "mary went back to the Bathroom", {"cat", "Paris"}),
        (
            "Mary Smith went to the office 2.",
            "Where is Mary?",
            "John went to the bathroom.",
            {"Mary Smith", "office 2"},
        ),
        ("Mary quickly went to the office.", "Where is Mary?", "Mary quickly went to the office.", set()),
        ("Mary went to sleep.", "Where is Mary?", "Mary went to sleep.", set()),
    ],
)
def test_articles_numbers_and_surnames(
    known: tuple[Symmetries, tuple[str, ...]], told: str, asked: str, read_as: str, names: set[str]
) -> None:
    symmetries, words = known
    read = read_unknown(symmetries, [told], asked, words)
    assert read.sentences == (read_as,) and set(read.names.values()) == names
    assert read.question.lower() == "where is mary?"


def test_with_and_without_its_article_a_name_is_the_same(known: tuple[Symmetries, tuple[str, ...]]) -> None:
    symmetries, words = known
    read = read_unknown(symmetries, ["The nurse went to the bay 3.", "Nurse moved to bay 3."], "Where is nurse?", words)
    assert read.sentences == ("Mary went to the bathroom.", "Mary moved to the bathroom.")
    assert read.name_back("bathroom") == "bay 3"


def test_an_unknown_verb_is_no_part_of_a_name() -> None:
    stories = generate(1, 300)
    kinds = (PEOPLE, PLACES, ("went", "went back", "moved", "journeyed", "travelled"))
    units = Units(frozenset({("went", "back")}))
    symmetries = Symmetries(kinds, units=units, contexts=find_contexts(stories, units, kinds))
    words = Vocabulary.from_stories(stories).words
    told = ["Zoë Washburne walked over to pier 4.", "Zoë Washburne went to the attic."]
    read = read_unknown(symmetries, told, "Where is Zoë Washburne?", words)
    assert read.sentences == ("Mary went back to the bedroom.", "Mary went to the bathroom.")
    assert read.name_back("bedroom") == "pier 4" and read.unplaced == ()


def test_a_word_that_other_tasks_have_in_names_alone_is_known() -> None:
    stories = generate(1, 300)
    kinds = (PEOPLE, PLACES, ("went", "went back", "moved", "journeyed", "travelled"))
    units = Units(frozenset({("went", "back")}))
    symmetries = Symmetries(kinds, units=units, contexts=find_contexts(stories, units, kinds))
    words = Vocabulary.from_stories(stories, phrases={("went", "to"), ("went", "back", "to")}).words
    assert "went" not in words
    read = read_unknown(symmetries, ["Mary went to the attic."], "Where is Mary?", words)
    assert list(read.names.values()) == ["attic"] and read.sentences == ("Mary went to the bathroom.",)


def with_capital(text: str) -> str:
    return text[:1].upper() + text[1:]


@given(
    opener=openers,
    pronoun=st.sampled_from(["she", "he", "they", "it"]),
    adverb=st.sampled_from(["", "then", "quickly"]),
    write=st.sampled_from([str.lower, str.upper, with_capital]),
)
def test_a_pronoun_is_no_part_of_a_name(
    known: tuple[Symmetries, tuple[str, ...]], opener: str, pronoun: str, adverb: str, write: Callable[[str], str]
) -> None:
    symmetries, words = known
    sentence = write(" ".join(f"{opener} {pronoun} {adverb} went to ward 5.".split()))
    read = read_unknown(symmetries, ["The nurse went to ward 3.", sentence], "Where is the nurse?", words)
    assert read.sentences == ("Mary went to the bathroom.", sentence)
    assert set(read.names.values()) == {"nurse", "ward 3"}


@given(opener=openers.filter(bool), name=st.sampled_from(["Zoë", "Zoë Washburne", "Doctor Who", "Her cat", "R2D2"]))
def test_what_opens_a_sentence_is_no_part_of_a_name_that_is_told_of_elsewhere(
    known: tuple[Symmetries, tuple[str, ...]], opener: str, name: str
) -> None:
    symmetries, words = known
    told = [f"{name} went to the kitchen.", f"{opener} {name} went to pier 4.", f"{opener} Mary moved to the IT room."]
    read = read_unknown(symmetries, told, f"{opener} where is {name}?", words)
    assert read.sentences == (
        "John went to the kitchen.",
        f"{opener} John went to the bedroom.",
        f"{opener} Mary moved to the Bathroom.",
    )
    assert {compose(found).lower() for found in read.names.values()} == {name.lower(), "pier 4", "it room"}


@pytest.mark.parametrize(
    ("told", "asked", "read_as"),
    [
        (["Zoë then went to the office.", "Zoë went to the garden."], "Where is Zoë?", "Mary then went to the office."),
        (["Then the nurse went to ward 3."], "Where is the nurse?", "Then mary went to the bathroom."),
        (["Ann Li went to the office.", "Li went to the garden."], "Where is Ann Li?", "Mary went to the office."),
        (["The nurse, who was tired, went to the office."], "Where is the nurse?", None),
        (["Mary went to its garden."], "Where is Mary?", None),
    ],
)
def test_names_apart_from_the_words_around_them(
    known: tuple[Symmetries, tuple[str, ...]], told: list[str], asked: str, read_as: str | None
) -> None:
    symmetries, words = known
    read = read_unknown(symmetries, told, asked, words)
    assert read.sentences[0] == (read_as or told[0].replace("nurse", "mary"))


def test_a_name_with_a_pronoun_is_read_as_one_that_has_it() -> None:
    stories = generate(13, 300)
    together = tuple(f"{opener} they" for opener in ("then", "afterwards", "after that", "following that"))
    units = Units(frozenset(tuple(unit.split()) for unit in together) | {("went", "back")})
    kinds = (PEOPLE, PLACES, together)
    symmetries = Symmetries(kinds, units=units, contexts=find_contexts(stories, units, kinds))
    words = Vocabulary.from_stories(stories, phrases=units.phrases).words
    told = ["Mary and John went to the garden.", "Later they went to pier 4.", "Later she went to pier 5."]
    read = read_unknown(symmetries, told, "Where is Mary?", words)
    assert read.sentences == (told[0], "Then they went to the bathroom.", told[2])
