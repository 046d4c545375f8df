"""What people say, in words a dialog model knows."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from query_reduction.dialog.mentions import Lexicon
from query_reduction.dialog.phrases import Phrase, learn_asks, learn_phrases, phrases_from_json, phrases_to_json
from query_reduction.dialog.utterances import Hearing, understood
from query_reduction.sources.named import load_parts
from query_reduction.text.formats.dialog import SILENCE
from query_reduction.text.formats.stored import Bounds
from query_reduction.text.stories import Question, Story

WORDS = [
    "i",
    "i'd",
    "like",
    "a",
    "table",
    "in",
    "with",
    "food",
    "for",
    "people",
    "please",
    "price",
    "range",
    "no",
    "not",
    "hello",
    "don't",
    "do",
    "you",
    "have",
    "option:",
    "ok",
]
KINDS = {
    **dict.fromkeys(("italian", "french", "spanish"), "<r_cuisine>"),
    **dict.fromkeys(("paris", "rome", "new_york"), "<r_location>"),
    **dict.fromkeys(("two", "four", "six"), "<r_number>"),
    **dict.fromkeys(("cheap", "moderate", "expensive"), "<r_price>"),
    **dict.fromkeys(("1", "4", "8"), "<r_rating>"),
    **dict.fromkeys(("the_place", "other_place"), "<name>"),
}
RESPONSES = ("api_call <r_cuisine> <r_location> <r_number> <r_price>", "what do you think of this option: <name>")


def hearing(phrases: dict[str, Phrase] | None = None, responses: tuple[str, ...] = RESPONSES) -> Hearing:
    return Hearing.of(WORDS, responses, Lexicon(KINDS, {"moderately": "moderate"}), phrases or {})


@pytest.mark.parametrize(
    ("said", "heard"),
    [
        ("In Paris.", "in paris"),
        ("IN PARIS!!!", "in paris"),
        ("I’d like a table, please", "i'd like a table please"),
        ("id like a table", "i'd like a table"),
        ("for 4 people", "for four people"),
        ("Not French, Italian.", "italian"),
        ("I don't like French food, but Spanish", "i food spanish"),
        ("no i'd like paris", "no i'd like paris"),
        ("Italian, no wait, French", "no french"),
        ("Italian instead of French", "italian"),
        ("itallian food", "italian food"),
        ("in New York", "in new_york"),
        ("moderately please", "moderately please"),
        ("option", "option:"),
        ("Hi!", "hello"),
        ("nope", "no"),
        (SILENCE, SILENCE),
    ],
)
def test_heard(said: str, heard: str) -> None:
    assert hearing().hear(said).text == heard


def test_what_means_nothing_is_said() -> None:
    heard = hearing().hear("Bonjour, a table in Timbuktu 🙂 for 5")
    assert heard.text == "a table in for"
    assert heard.unknown == ("Bonjour", "Timbuktu", "5"), "4 is a rating, and nobody asks for one"


def test_an_opposite_is_no_slip_of_the_pen() -> None:
    assert hearing().hear("inexpensive").text == "cheap"
    assert hearing().hear("unmoderate").text == ""


def test_a_numeral_stays_where_dialogs_use_it() -> None:
    rated = hearing(responses=("api_call <r_rating>",))
    assert rated.hear("4").text == "4"
    plain = Hearing.of(["4", "four"], (), None, {})
    assert plain.hear("4").text == "4" and plain.hear("Four.").text == "four"


def test_two_names_of_a_kind_stay_where_a_response_has_both() -> None:
    route = hearing(responses=("from <r_location> to <r_location>",))
    assert route.hear("paris rome").text == "paris rome"
    assert hearing().hear("paris rome").text == "rome"


@given(st.text(max_size=80))
def test_any_text_can_be_heard(text: str) -> None:
    heard = hearing().hear(text)
    assert all(word in WORDS or word in KINDS or word == "moderately" for word in heard.text.split())
    assert hearing().hear(heard.text).text == heard.text or "not" in heard.text.split() or "no" in heard.text.split()


@given(st.lists(st.sampled_from([word for word in WORDS if word not in ("no", "not", "don't", "option:")]), min_size=1))
def test_writing_makes_no_difference(words: list[str]) -> None:
    plain = " ".join(words)
    for written in (plain.upper(), f"{plain}.", f"“{plain}!”", ", ".join(words), unicodedata.normalize("NFD", plain)):
        assert hearing().hear(written).text == plain


def test_training_dialogs_are_heard_as_they_are() -> None:
    """What was learned from is understood as it stands, and a dialog that needs nothing is left alone."""
    parts = load_parts("generated-dialog", "5", questions=40)
    options = parts.options_type(copying=True)
    task = parts.learn(options, parts.train)
    for dialog in parts.train:
        for turn in dialog.questions:
            assert task.hearing.hear(turn.text).text == turn.text  # type: ignore[attr-defined]
    assert set(task.asks.values()) == {"<r_cuisine>", "<r_location>", "<r_number>", "<r_price>"}  # type: ignore[attr-defined]


def test_names_are_heard_in_the_phrases_of_training() -> None:
    learned = learn_phrases(
        ["a table in <r_location> in a <r_price> price range"] * 3
        + ["in a <r_price> price range please", "a <r_price> one", "in <r_location>"]
        + ["have you something in <r_location>", "i'd like to be in <r_location>", "<r_location> please"]
    )
    assert (learned["<r_price>"].before, learned["<r_price>"].after) == (("in", "a"), ("price", "range"))
    assert (learned["<r_location>"].before, learned["<r_location>"].after) == (("in",), ())
    assert phrases_from_json(phrases_to_json(learned), Bounds(100, 100)) == learned
    heard = hearing(learned).hear
    assert heard("Paris, cheap").text == "in paris in a cheap price range"
    assert heard("cheap price please").text == "in a cheap price range please"
    assert heard("a table in paris in a cheap price range").text == "a table in paris in a cheap price range"


def test_what_a_response_asks_for_is_learned() -> None:
    def dialog(answer: str) -> Story:
        turns = (Question("hi", "where?", 0), Question(answer, "how many?", 2), Question("ok", "fine", 4))
        return Story(("hi", "where?", answer, "how many?", "ok", "fine"), turns)

    assert learn_asks([dialog("in <r_location>")] * 9 + [dialog("hm")]) == {"where?": "<r_location>"}
    assert learn_asks([dialog("in <r_location>")] * 7 + [dialog("hm")] * 3) == {}


CALL = "api_call french paris four cheap"
SHOWN = ("hello", CALL, "the_place R_cuisine french", SILENCE, "what do you think of this option: the_place")


def shown_then(*said: str) -> Story:
    turns = [Question("hello", CALL, 0), Question(SILENCE, SHOWN[4], 3)]
    sentences = list(SHOWN)
    for text in said[:-1]:
        turns.append(Question(text, "sure", len(sentences)))
        sentences += (text, "sure")
    return Story(tuple(sentences), (*turns, Question(said[-1], "", len(sentences))))


def test_a_changed_wish_makes_shown_options_idle() -> None:
    read = understood(shown_then("Italian, please."), hearing())
    assert read.sentences == ("hello", CALL)
    assert [turn.text for turn in read.questions] == ["hello", "italian please"]
    again = understood(shown_then("Italian, please.", "and Rome"), hearing())
    assert again.sentences == ("hello", CALL, "italian please", "sure"), "the first change is not forgotten"
    assert [turn.text for turn in again.questions] == ["hello", "italian please", "rome"]


@pytest.mark.parametrize("said", ["no", "French food", SILENCE, "ok please"])
def test_other_words_leave_the_options(said: str) -> None:
    read = understood(shown_then(said), hearing())
    assert read.sentences == SHOWN and len(read.questions) == 3
