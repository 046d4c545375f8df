"""Nothing that cannot be undone happens on a doubt; what is not understood is said."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from query_reduction import load
from query_reduction.dialog.acts import Acts, act_of
from query_reduction.dialog.dialogs import DialogOptions, DialogParts
from query_reduction.dialog.display import Display
from query_reduction.dialog.knowledge import KnowledgeBase
from query_reduction.dialog_session import Said, Session
from query_reduction.errors import InputError
from query_reduction.model import DialogModel
from query_reduction.text.formats.dialog import SILENCE
from query_reduction.text.stories import Question, Story

REQUEST = "A table for two in Paris, Italian, cheap please."
RESERVES = "great let me do the reservation"


@pytest.fixture(scope="module")
def model() -> DialogModel:
    loaded = load("dialog")
    assert isinstance(loaded, DialogModel)
    return loaded


def offered(model: DialogModel) -> Session:
    """A conversation in which a place was just offered."""
    knowledge = KnowledgeBase(model.task.known_rows())
    session = Session(model.with_knowledge(knowledge.rows), knowledge)
    for text in ("hello", REQUEST):
        said = list(session.say(text))
    assert said[-1].response is not None and "what do you think" in said[-1].response.text
    return session


def responses(said: list[Said]) -> list[str]:
    return [one.response.text for one in said if one.response is not None]


@pytest.mark.parametrize(
    "text",
    [
        "Is it good?",
        "Who won the football?",
        "cancel that",
        "Does it have a terrace?",
        "What do others say?",
        "C'est parfait, merci",
        "Das nehmen wir",
        "Tell me a joke.",
        "Something better?",
        "How far is it from the station?",
        "maybe",
        "I am not sure",
        "wait",
        "stop",
        "asdf qwer",
        "?",
    ],
)
def test_nothing_is_reserved_unasked(model: DialogModel, text: str) -> None:
    session = offered(model)
    said = list(session.say(text))
    assert RESERVES not in responses(said)
    assert said[-1].advice or "find an other option" in " ".join(responses(said))


@pytest.mark.parametrize("text", ["I love that!", "It's perfect", "That looks great", "Let's do it."])
def test_what_training_knows_is_done_at_once(model: DialogModel, text: str) -> None:
    assert RESERVES in responses(list(offered(model).say(text)))


def test_a_doubt_is_asked_and_answered(model: DialogModel) -> None:
    session = offered(model)
    assert "before I do it" in list(session.say("I like it"))[-1].advice[0]
    assert RESERVES in responses(list(session.say("yes please")))
    session = offered(model)
    list(session.say("I like it"))
    before = len(session.questions)
    assert list(session.say("no"))[-1].advice[0] == "nothing was done"
    assert len(session.questions) == before and not session.pending


def test_what_was_said_can_be_taken_back(model: DialogModel) -> None:
    session = offered(model)
    said = list(session.say("cancel that"))
    assert said[-1].advice[0] == f"taken back, with all that followed: {REQUEST}"
    assert [turn.text for turn in session.questions] == ["hello"]
    list(session.say("start again"))
    assert not session.questions and not session.sentences
    assert list(session.say("cancel"))[-1].advice == ("nothing was done",)


def test_values_are_heard_or_asked_for_never_guessed(model: DialogModel) -> None:
    hearing = model.task.hearing
    assert set(hearing.wishes(hearing.hear("We have a moderate budget").text).values()) == {"moderate"}
    assert hearing.hear("something pricey").assumed == (("pricey", "expensive"),)
    knowledge = KnowledgeBase(model.task.known_rows())
    session = Session(model.with_knowledge(knowledge.rows), knowledge)
    list(session.say("hi"))
    said = list(session.say("a table for four with mexican food in rome"))
    assert any(line.startswith("unknown cuisine: mexican; please choose from") for one in said for line in one.advice)
    assert session.state() == ("so far: number four, location rome",)


def test_acts_are_learned_from_any_dialogs() -> None:
    """Another domain, another language: nothing in the mechanism knows restaurants or English."""
    talk = (("guten tag", "was darf es sein"), ("den termin bitte absagen", "der termin ist abgesagt"))
    dialogs = [
        Story(
            tuple(text for turn in talk for text in turn),
            tuple(Question(user, system, 2 * place) for place, (user, system) in enumerate(talk)),
        )
    ]
    task = DialogParts("own", dialogs, confirm="ist abgesagt").learn(DialogOptions(), dialogs)
    assert task.needs_certainty("der termin ist abgesagt") and not task.needs_certainty("was darf es sein")
    assert task.acts.closest("bitte den termin absagen", (), "der termin ist abgesagt").share == 1
    assert task.acts.closest("guten tag", (), "der termin ist abgesagt").share == 0
    restored = type(task).from_json(task.as_json(), task.vocabulary)
    assert restored.acts == task.acts and restored.options.confirm == "ist abgesagt"


@given(st.text(max_size=200))
def test_likeness_is_a_share(text: str) -> None:
    acts = Acts({"go": ("please go", "go now"), "stay": ("stay here",)})
    assert 0 <= acts.closest(text, text.split()[:2]).share <= 1
    assert acts.closest("please go", (), "go").share == pytest.approx(1)


def test_silence_leads_on() -> None:
    sentences = ("go please", "on it", SILENCE, "api_call a b", "thanks", "bye")
    turns = tuple(Question(sentences[at], sentences[at + 1], at) for at in (0, 2, 4))
    assert Acts.learn([Story(sentences, turns)]).utterances == {
        "on it": ("go please",),
        "api_call": ("go please",),
        "bye": ("thanks",),
    }
    assert act_of("here it is <name>") == "here it is _" == act_of("here it is the_place_phone")


def test_what_is_shown_is_a_table_one_can_edit(model: DialogModel, tmp_path: Path) -> None:
    file = tmp_path / "display.json"
    file.write_text('{"names": {"the_place": "Zur Post"}, "responses": {"here it is _": "Bitte sehr: _"}}', "utf-8")
    display = Display.read(file)
    assert display.response("here it is the_place_phone") == "Bitte sehr: phone of Zur Post"
    assert display.response("api_call thai in_the_city") == "looking for thai, in the city"
    assert display.response("what about the_place") == "what about Zur Post"
    assert model.shown_by(display=display).task.display == display
    assert replace(display) == Display.from_json(display.as_json())
    for wrong in ("[]", '{"names": []}', '{"names": {"a": 1}}', '{"x": {}}', "{", ""):
        file.write_text(wrong, "utf-8")
        with pytest.raises(InputError, match=r"display\.json"):
            Display.read(file)
    with pytest.raises(InputError, match="No such file"):
        Display.read(tmp_path / "none.json")
