from __future__ import annotations

import json
import os
import pty
import select
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from query_reduction.cli import main
from query_reduction.dialog import mentions
from query_reduction.dialog.display import Display
from query_reduction.dialog.knowledge import KnowledgeBase
from query_reduction.dialog_session import Session
from query_reduction.model import DialogModel, load
from query_reduction.text.formats.dialog import read_dialogs
from query_reduction.text.stories import Question, Story
from query_reduction.worlds.dialogs import DISPLAYED_RESPONSES, display_names

PROMPT = "you: "


class Terminal:
    """A real terminal with ``qrn chat`` in it."""

    def __init__(self, *arguments: str) -> None:
        self._ours, theirs = pty.openpty()
        environment = os.environ | {"TERM": "dumb", "COLUMNS": "200", "PYTHONWARNINGS": "ignore"}
        command = [sys.executable, "-m", "query_reduction", "chat", *arguments]
        self.process = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=environment)
        os.close(theirs)
        self.read_to_prompt()

    def read_to_prompt(self) -> str:
        shown = ""
        deadline = time.monotonic() + 120
        while not shown.endswith(PROMPT) and time.monotonic() < deadline:
            if not select.select([self._ours], [], [], 1)[0]:
                continue
            try:
                shown += os.read(self._ours, 65536).decode(errors="replace")
            except OSError:  # the program has ended
                break
        return shown

    def say(self, text: str) -> list[str]:
        """What the bot says to this."""
        os.write(self._ours, f"{text}\n".encode())
        return [line[5:].strip() for line in self.read_to_prompt().splitlines() if line.startswith("bot: ")]

    def show(self, text: str) -> str:
        os.write(self._ours, f"{text}\n".encode())
        return self.read_to_prompt()

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self._ours)


@contextmanager
def terminal(*arguments: str) -> Iterator[Terminal]:
    opened = Terminal(*arguments)
    try:
        yield opened
    finally:
        opened.close()


def wishes_with_choice(knowledge: KnowledgeBase) -> tuple[dict[str, str], list[str]]:
    """A cuisine and so on in Hanoi for which there are several places; and these, from the best down."""
    places: dict[str, dict[str, str]] = {}
    for subject, relation, value in knowledge.rows:
        places.setdefault(subject, {})[relation] = value
    for about in places.values():
        found = [
            name
            for name, other in places.items()
            if all(other[key] == about[key] for key in ("R_cuisine", "R_location", "R_number", "R_price"))
        ]
        if about["R_location"] == "hanoi" and len(found) > 1:
            return about, sorted(found, key=lambda name: -int(places[name]["R_rating"]))
    raise AssertionError("no such wishes")


def dialog_model(path: Path) -> DialogModel:
    model = load(path)
    assert isinstance(model, DialogModel)
    return model


def test_a_table_is_booked_in_a_terminal(booking_model: Path, knowledge_file: Path, tmp_path: Path) -> None:
    wishes, places = wishes_with_choice(KnowledgeBase.read(knowledge_file))
    saved = tmp_path / "saved.txt"
    shown = Display(display_names(), DISPLAYED_RESPONSES).response
    with terminal(str(booking_model), "--kb", str(knowledge_file)) as chat:
        assert chat.say("hi") == ["Hello! What can I help you with today?"]
        assert chat.say("may i have a table in hanoi") == [
            "I'm on it.",
            "Any preference on a type of cuisine?",
        ]
        assert chat.say(f"with {wishes['R_cuisine']} food") == ["How many people will be in your party?"]
        assert chat.say(f"for {wishes['R_number']} please") == ["Which price range are you looking for?"]
        assert chat.say(f"in a {wishes['R_price']} price range please") == [
            "OK, let me look into some options for you.",
            f"looking for {wishes['R_cuisine']}, hanoi, {wishes['R_number']}, {wishes['R_price']}",
            shown(f"what do you think of this option: {places[0]}"),
        ]
        assert chat.say("no this does not work for me") == [
            "Sure, let me find another option for you.",
            shown(f"what do you think of this option: {places[1]}"),
        ]
        assert chat.say("let's do it") == ["Great, let me make the reservation."]
        assert chat.say("do you have its phone number") == [shown(f"here it is {places[1]}_phone")]
        assert "before I do it" not in chat.show("thank you")
        assert "share" in chat.show("/why")
        assert "saved as" in chat.show(f"/save {saved}")
        for nowhere in (saved / "in" / "a" / "file", saved.parent, "/", "."):
            assert "cannot write" in chat.show(f"/save {nowhere}")
        assert "no command" in chat.show("/nonsense")
        assert "not understood: gobbledygook, ŝŝ, 漢字" in chat.show("gobbledygook ŝŝ 漢字")
        assert chat.say("")
        assert "a new conversation" in chat.show("/reset")
        assert "the network read nothing" in chat.show("/why")
        assert chat.say("hello") == ["Hello! What can I help you with today?"]
        chat.show("/quit")
        assert chat.process.wait(timeout=60) == 0
    (dialog,) = read_dialogs(saved)
    assert dialog.questions[-2].answer == f"here it is {places[1]}_phone"
    assert sum("R_rating" in sentence for sentence in dialog.sentences) == len(places)


def test_the_session_tells_when_nothing_is_found(booking_model: Path) -> None:
    session = Session(dialog_model(booking_model), KnowledgeBase((("a", "R_x", "b"),)))
    for text in ("hi", "can you book a table in rome for two in a cheap price range with french food"):
        said = [one for one in session.say(text) if one.response is not None]
    assert said[-1].response is not None
    assert said[-1].response.text == "api_call french rome two cheap"
    assert said[-1].rows == ()
    assert all("<" not in answer.answer for answer in session.questions)


def test_a_knowledge_base_of_ones_own(booking_model: Path, tmp_path: Path) -> None:
    """Cities, cuisines and places of another world than the one the model has learned in."""
    place = {"R_cuisine": "martian", "R_location": "utopia_planitia", "R_number": "two", "R_price": "cheap"}
    path = tmp_path / "mars.jsonl"
    lines = [
        {"name": name, **place, "R_rating": rating, "R_phone": f"{name}_phone", "R_address": f"{name}_address"}
        for name, rating in (("red_dust", 3), ("two_moons", 6))
    ]
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    knowledge = KnowledgeBase.read(path)
    session = Session(dialog_model(booking_model).with_knowledge(knowledge.rows), knowledge)
    for text in ("hello", "can you book a table in utopia_planitia for two in a cheap price range with martian food"):
        said = [one.response.text for one in session.say(text) if one.response is not None]
    assert said[-2:] == ["api_call martian utopia_planitia two cheap", "what do you think of this option: two_moons"]


def test_evaluation_has_all_measures(booking_model: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["evaluate", str(booking_model), "--data", "generated-dialog", "--task", "4", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert set(result["errors"]) == {"exact match", "per slot", "per dialog"}
    for rows in result["errors"].values():
        assert set(rows) == {"4", "4-OOV"}
    assert result["error"] == result["errors"]["exact match"]["4"]
    assert result["questions"] > 0
    assert main(["evaluate", str(booking_model), "--data", "generated", "--task", "1"]) == 1
    assert "holds stories, but" in capsys.readouterr().err.replace("\n", " ")
    assert main(["chat", str(tmp_path / "nothing")]) == 1


def test_a_story_model_does_not_chat(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--restarts", "1", "--max-epochs", "1", "--questions", "40", "--out", str(tmp_path / "run")]
    assert main(["train", "--task", "1", *arguments]) == 0
    assert main(["chat", str(tmp_path / "run")]) == 1
    assert "qrn ask" in capsys.readouterr().err


def test_each_turn_reads_the_dialog_once(booking_model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    session = Session(dialog_model(booking_model), KnowledgeBase(()))
    read: list[int] = []
    follow = mentions.follow

    def counted(dialog: Story, known: Sequence[mentions.Lexicon]) -> Iterator[tuple[Question, mentions.MentionLog]]:
        read.append(len(dialog.questions))
        return follow(dialog, known)

    monkeypatch.setattr("query_reduction.dialog.copying.follow", counted)
    said = [list(session.say(text)) for text in ("hi", "may i have a table in hanoi")]
    turns = sum(map(len, said))
    assert read == list(range(1, turns + 1))


def test_dialogs_of_ones_own_are_evaluated_whatever_the_file_is_called(
    booking_model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own = tmp_path / "own.txt"
    own.write_text("1 hi\thello what can i help you with today\n")
    assert main(["evaluate", str(booking_model), "--data", str(own), "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert (result["questions"], result["error"]) == (1, 0)
    assert main(["evaluate", str(booking_model), "--data", str(own), "--task", "1"]) == 1
    assert "task has no effect on" in capsys.readouterr().err


def test_a_story_model_is_not_evaluated_on_dialogs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    own = tmp_path / "own.jsonl"
    own.write_text('{"turns": [{"user": "hi", "system": "hello"}]}\n')
    assert main(["evaluate", "task1", "--data", str(own)]) == 1
    assert "holds dialogs, but task1 was trained on stories" in capsys.readouterr().err.replace("\n", " ")
