"""The ready model books with ordinary sentences, and says so when nothing fits."""

from __future__ import annotations

import io
from dataclasses import replace
from itertools import product

import pytest
from written_turns import FIRST, NOTHING_FITS, SECOND, THIRD, Written

from query_reduction import load
from query_reduction.cli import main
from query_reduction.dialog.acts import Acts
from query_reduction.dialog.knowledge import NO_RESULT, KnowledgeBase
from query_reduction.dialog.responses import Response
from query_reduction.dialog_session import Said, Session
from query_reduction.model import DialogModel
from query_reduction.text.stories import Question, Story

CUISINES = ("british", "french", "indian", "italian", "spanish")
CITIES = ("bombay", "london", "madrid", "paris", "rome")
NUMBERS = ("two", "four", "six", "eight")
PRICES = ("cheap", "moderate", "expensive")
UPDATE = "anything else to update"
OFFER = "what do you think of this option: "


@pytest.fixture(scope="module")
def model() -> DialogModel:
    loaded = load("dialog")
    assert isinstance(loaded, DialogModel)
    return loaded


def hold(model: DialogModel, written: Written) -> tuple[str, list[Said]]:
    """The place that was offered last when the reservation was made, and all that the system said."""
    knowledge = KnowledgeBase(model.task.known_rows())
    session = Session(model.with_knowledge(knowledge.rows), knowledge)
    offered = booked = ""
    said: list[Said] = []
    for turn in written.turns:
        if turn.startswith("(") and UPDATE not in session.sentences[-1]:
            continue
        turns = list(session.say(turn.strip("()")))
        if session.pending:  # asked whether that is meant, people who meant it say yes
            turns += session.say("yes")
        for one in turns:
            said.append(one)
            text = one.response.text if one.response else ""
            if text.startswith(OFFER):
                offered, booked = text.removeprefix(OFFER), ""
            elif text == "great let me do the reservation":
                booked = offered
    return booked, said


def test_there_are_enough_turns() -> None:
    assert sum(len(written.turns) for written in (*FIRST, *SECOND, *THIRD, *NOTHING_FITS)) >= 60


def test_nearly_all_dialogs_end_in_the_right_booking(model: DialogModel) -> None:
    wrong = []
    for written in (*FIRST, *SECOND, *THIRD):
        booked, said = hold(model, written)
        if booked != written.place:
            wrong.append((written.turns, written.place, booked))
            assert any(one.advice for one in said), (
                "where it goes wrong, it must have said that it is not sure or that nothing fits"
            )
    assert len(wrong) <= 0.05 * len(FIRST + SECOND + THIRD), wrong


@pytest.mark.parametrize("written", NOTHING_FITS, ids=lambda written: written.turns[-1])
def test_what_to_change_is_said_when_nothing_fits(model: DialogModel, written: Written) -> None:
    booked, said = hold(model, written)
    assert not booked
    assert any("what you could change" in line for line in said[-1].advice)


def test_every_wish_that_nothing_fits_has_a_way_out(model: DialogModel) -> None:
    """The change that is advised first leads to an offer."""
    knowledge = KnowledgeBase(model.task.known_rows())
    met = model.with_knowledge(knowledge.rows)
    nothing = [wishes for wishes in product(CUISINES, CITIES, NUMBERS, PRICES) if is_empty(knowledge, wishes)]
    assert len(nothing) > 50
    for cuisine, city, number, price in nothing[::8]:
        session = Session(met, knowledge)
        said = list(session.say(f"Hello, a table for {number} in {city} please, {cuisine} food, {price}."))
        assert said[-1].advice[0] == f"nothing fits {cuisine}, {city}, {number}, {price}"
        relation, values = next(iter(knowledge.other_values(f"api_call {cuisine} {city} {number} {price}").items()))
        assert f"{relation.removeprefix('r_')}: {values[0]}" in said[-1].advice[1]
        said = list(session.say(f"{values[0].capitalize()}, then."))
        if UPDATE in session.sentences[-1]:
            said = list(session.say("No."))
        assert said[-1].response is not None and said[-1].response.text.startswith(OFFER)


def is_empty(knowledge: KnowledgeBase, wishes: tuple[str, ...]) -> bool:
    return knowledge.query(f"api_call {' '.join(wishes)}") == [NO_RESULT]


def test_a_refused_sole_option_is_not_offered_again(model: DialogModel) -> None:
    _, said = hold(model, NOTHING_FITS[-1])
    offers = [one.response.text for one in said if one.response and one.response.text.startswith(OFFER)]
    assert len(offers) == len(set(offers)) == 1
    assert said[-1].advice[0] == "that was the last one that fits"


def test_whoever_is_asked_again_is_told_what_there_is(model: DialogModel) -> None:
    session = Session(model, KnowledgeBase())
    asked = [list(session.say(turn)) for turn in ("hi", "a table in paris", "british", "3 people")]
    assert asked[-1][-1].advice == ("unknown: 3", "please choose from eight, four, six, two")


def test_nothing_is_said_twice_in_a_row(model: DialogModel) -> None:
    """A model that only ever looks for options cannot go on: what it was not told is said instead."""
    session = Session(Stubborn(model), KnowledgeBase())  # type: ignore[arg-type]
    greeted = list(session.say("hi"))
    assert len(greeted[-1].advice) == 4
    said = list(session.say("british food in paris, cheap"))
    assert [one.response.text for one in said if one.response] == [Stubborn.says]
    assert said[-1].response is None and said[-1].advice == ("please choose from eight, four, six, two",)
    assert len(session.questions) == 2


class Stubborn:
    """A model that looks for options whatever it is told."""

    says = "ok let me look into some options for you"

    def __init__(self, model: DialogModel) -> None:
        self.task = replace(model.task, acts=Acts({}))  # a model of an older version, that knows nothing of acts

    def respond_to(self, dialog: Story) -> Response:
        return Response(self.says, 1.0, ())


class Forgetful:
    """A model that asks for a place as long as it is not told everything at once."""

    def __init__(self, model: DialogModel) -> None:
        self.task = model.task
        self._asks = next(response for response, kind in model.task.asks.items() if kind == model_kind(model, "paris"))

    def respond_to(self, dialog: Story) -> Response:
        heard = self.task.understand(dialog).questions[-1].text
        text = "i'm on it" if len(self.task.hearing.wishes(heard)) == 3 else self._asks
        return Response(text, 1.0, ())


def model_kind(model: DialogModel, name: str) -> str:
    (kind,) = model.task.hearing.wishes(name)
    return kind


def test_what_is_asked_though_it_was_said_is_said_again(model: DialogModel) -> None:
    session = Session(Forgetful(model), KnowledgeBase())  # type: ignore[arg-type]
    assert list(session.say("Hi")) and list(session.say("for 4 people, cheap"))
    said = list(session.say("In Paris!"))
    assert said[0].advice == ("you said for four in a cheap price range in paris",) and said[0].response is None
    assert said[1].response is not None and said[1].response.text == "i'm on it"
    assert session.questions[-2].text == "for four in a cheap price range in paris"


def test_whoever_says_all_again_starts_over(model: DialogModel) -> None:
    told = ("Hi", "hello", "in paris", "how many people would be in your party", "cheap", "i'm on it")
    turns = [Question(told[place], told[place + 1], place) for place in (0, 2, 4)]
    again = Question("cheap, in Paris, for 4", "", 6)
    heard = model.task.understand(Story(told, (*turns, again)))
    assert heard.sentences == ("hi", "hello") and [turn.text for turn in heard.questions[:1]] == ["hi"]
    assert len(heard.questions) == 2 and heard.questions[1].after == 2
    changed = Question("cheap, in Rome, for 4", "", 6)
    assert len(model.task.understand(Story(told, (*turns, changed))).questions) == 4


def test_what_is_not_understood_is_no_turn(model: DialogModel) -> None:
    session = Session(model, KnowledgeBase())
    (said,) = session.say("Bonjour, Zürich 漢字!")
    assert said.response is None and said.advice[0].startswith("not understood: Bonjour, Zürich, 漢字")
    assert session.questions == []


def test_the_conversation_is_kept_as_it_was_held(model: DialogModel) -> None:
    session = Session(model, KnowledgeBase())
    assert [one.response.text for one in session.say("Hello!") if one.response] == [
        "hello what can i help you with today"
    ]
    list(session.say("In Paris, for 4."))
    assert [turn.text for turn in session.questions][:2] == ["Hello!", "In Paris, for 4."]
    assert "In Paris, for 4.\t" in session.as_text()


@pytest.mark.parametrize("ending", ["quit", "exit", "Bye!", "/quit"])
def test_words_that_end_a_chat(
    ending: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(f"hi\n{ending}\nhello\n"))
    assert main(["chat", "dialog", "--json"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 1


def test_advice_is_printed(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("Hi, french food in paris for 4, cheap\n"))
    assert main(["chat", "dialog"]) == 0
    assert "what you could change: price: moderate" in capsys.readouterr().out
