"""The ready model books with ordinary sentences, and says so when nothing fits."""

from __future__ import annotations

import pytest
from written_turns import FIRST, NOTHING_FITS, SECOND, Written

from query_reduction import load
from query_reduction.conversation import Said, Session
from query_reduction.data.knowledge import KnowledgeBase
from query_reduction.model import DialogModel

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
        for one in session.say(turn.strip("()")):
            said.append(one)
            text = one.response.text if one.response else ""
            if text.startswith(OFFER):
                offered, booked = text.removeprefix(OFFER), ""
            elif text == "great let me do the reservation":
                booked = offered
    return booked, said


def test_there_are_enough_turns() -> None:
    assert sum(len(written.turns) for written in (*FIRST, *SECOND, *NOTHING_FITS)) >= 60


def test_nearly_all_dialogs_end_in_the_right_booking(model: DialogModel) -> None:
    wrong = []
    for written in (*FIRST, *SECOND):
        booked, said = hold(model, written)
        if booked != written.place:
            wrong.append((written.turns, written.place, booked))
            assert any(one.advice for one in said), "what is not booked must at least end in advice"
    assert len(wrong) <= 0.05 * len(FIRST + SECOND), wrong


@pytest.mark.parametrize("written", NOTHING_FITS, ids=lambda written: written.turns[-1])
def test_what_to_change_is_said_when_nothing_fits(model: DialogModel, written: Written) -> None:
    booked, said = hold(model, written)
    assert not booked
    assert any("what you could change" in line for line in said[-1].advice)
