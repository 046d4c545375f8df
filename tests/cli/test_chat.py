from __future__ import annotations

import json
import os
import pty
import select
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from query_reduction.cli import main
from query_reduction.conversation import Session
from query_reduction.data.dialog import read_dialogs
from query_reduction.data.knowledge import KnowledgeBase
from query_reduction.tasks.responder import Responder
from query_reduction.training.checkpoint import load_model

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


def test_a_table_is_booked_in_a_terminal(booking_model: Path, knowledge_file: Path, tmp_path: Path) -> None:
    wishes, places = wishes_with_choice(KnowledgeBase.read(knowledge_file))
    saved = tmp_path / "saved.txt"
    with terminal(str(booking_model), "--kb", str(knowledge_file)) as chat:
        assert chat.say("hi") == ["hello what can i help you with today"]
        assert chat.say("may i have a table in hanoi") == ["i'm on it", "any preference on a type of cuisine"]
        assert chat.say(f"with {wishes['R_cuisine']} food") == ["how many people would be in your party"]
        assert chat.say(f"for {wishes['R_number']} please") == ["which price range are looking for"]
        assert chat.say(f"in a {wishes['R_price']} price range please") == [
            "ok let me look into some options for you",
            f"api_call {wishes['R_cuisine']} hanoi {wishes['R_number']} {wishes['R_price']}",
            f"what do you think of this option: {places[0]}",
        ]
        assert chat.say("no this does not work for me") == [
            "sure let me find an other option for you",
            f"what do you think of this option: {places[1]}",
        ]
        assert chat.say("let's do it") == ["great let me do the reservation"]
        assert chat.say("do you have its phone number") == [f"here it is {places[1]}_phone"]
        assert "contributed" in chat.show("/why")
        assert "saved as" in chat.show(f"/save {saved}")
        assert "no command" in chat.show("/nonsense")
        assert chat.say("gobbledygook ŝŝ 漢字")
        assert chat.say("")
        assert "a new conversation" in chat.show("/reset")
        assert "nothing was read" in chat.show("/why")
        assert chat.say("hello") == ["hello what can i help you with today"]
        chat.show("/quit")
        assert chat.process.wait(timeout=60) == 0
    (dialog,) = read_dialogs(saved)
    assert dialog.questions[-1].answer == f"here it is {places[1]}_phone"
    assert sum("R_rating" in sentence for sentence in dialog.sentences) == len(places)


def test_the_session_tells_when_nothing_is_found(booking_model: Path) -> None:
    saved = load_model(booking_model)
    assert saved.preparation is not None
    session = Session(
        Responder(saved.network(), saved.vocabulary, saved.preparation), KnowledgeBase((("a", "R_x", "b"),))
    )
    for text in ("hi", "can you book a table in rome for two in a cheap price range with french food"):
        said = list(session.say(text))
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
    saved = load_model(booking_model)
    assert saved.preparation is not None
    preparation = saved.preparation.with_knowledge(knowledge.rows)
    session = Session(Responder(saved.network(), saved.vocabulary, preparation), knowledge)
    for text in ("hello", "can you book a table in utopia_planitia for two in a cheap price range with martian food"):
        said = [one.response.text for one in session.say(text)]
    assert said[-2:] == ["api_call martian utopia_planitia two cheap", "what do you think of this option: two_moons"]


def test_evaluation_has_all_measures(booking_model: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["evaluate", str(booking_model), "--data", "generated-dialog", "--task", "4", "--json"]) == 0
    scores = json.loads(capsys.readouterr().out)["responses"]
    assert set(scores) == {"test", "unseen names"}
    assert set(scores["test"]) == {"exact_match", "per_slot", "per_dialog", "responses", "dialogs"}
    assert main(["evaluate", str(booking_model), "--data", "generated", "--task", "1"]) == 1
    assert main(["chat", str(tmp_path / "nothing")]) == 1


def test_a_story_model_does_not_chat(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--restarts", "1", "--max-epochs", "1", "--questions", "40", "--out", str(tmp_path / "run")]
    assert main(["train", "--task", "1", *arguments]) == 0
    assert main(["chat", str(tmp_path / "run")]) == 1
    assert "qrn ask" in capsys.readouterr().err
