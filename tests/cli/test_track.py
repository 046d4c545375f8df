"""qrn train, track, ask and evaluate with answers from the text."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from query_reduction.cli import main

PLACES = ("bazaar", "cellar", "attic", "harbour", "meadow", "orchard", "tavern", "chapel")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("track")
    lines = []
    for number, place in enumerate(PLACES * 3):
        other = PLACES[(number + 3) % len(PLACES)]
        sentences = [f"Kuku went to the {place}.", f"Lulu went to the {other}."]
        lines.append(json.dumps({"sentences": sentences, "tracks": {"Kuku": ["?", place, place]}}))
    (folder / "stories.jsonl").write_text("\n".join(lines) + "\n")
    (folder / "story.txt").write_text("Kuku went to the attic.\nLulu went to the tavern.\n")
    small = ["--dimension", "12", "--phrase-dimension", "12", "--max-epochs", "8", "--threads", "1"]
    command = ["train", "--data", str(folder / "stories.jsonl"), "--out", str(folder / "run"), *small]
    assert main(command) == 0
    return folder


def test_training_says_why_it_points(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = str(folder / "stories.jsonl")
    assert main(["train", "--data", data, "--out", str(folder / "other"), "--max-epochs", "1"]) == 0
    captured = capsys.readouterr()
    assert "answers are pointed at in the text" in captured.err and "qrn track" in captured.out
    assert main(["train", "--data", data, "--out", str(folder / "third"), "--head", "span", "--network", "2r"]) == 1
    assert "--head span is for stories" in capsys.readouterr().err


def test_a_story_is_tracked(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["track", str(folder / "run"), "--story", str(folder / "story.txt"), "--things", "Kuku"]
    assert main([*command, "--csv"]) == 0
    table = capsys.readouterr().out.splitlines()
    assert table[0] == "number,sentence,Kuku" and len(table) == 4
    assert main([*command, "--json"]) == 0
    states = json.loads(capsys.readouterr().out)["things"]["Kuku"]
    assert [state["text"] for state in states] == [row.rpartition(",")[2] for row in table[1:]]
    assert main([*command, "--out", str(folder / "t.json")]) == 0
    assert json.loads((folder / "t.json").read_text())["things"]["Kuku"] == states
    assert main(command) == 0
    assert "Kuku went to the attic." in capsys.readouterr().out


def test_asking_and_evaluating(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    story = str(folder / "story.txt")
    assert main(["ask", str(folder / "run"), "--story", story, "--question", "Kuku", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert set(answer["place"]) == {"text", "sentence", "words", "characters"}
    assert main(["evaluate", str(folder / "run"), "--data", str(folder / "stories.jsonl"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["questions"] == 3 * 3 * len(PLACES)


def test_all_questions_of_a_file(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = folder / "answers.jsonl"
    assert main(["predict", str(folder / "run"), str(folder / "stories.jsonl"), "--out", str(out)]) == 0
    answers = [json.loads(line) for line in out.read_text().splitlines()]
    assert len(answers) == 3 * 3 * len(PLACES)
    assert all(answer["support"] in ([], [0], [1]) for answer in answers)


def test_an_answer_is_explained(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["explain", str(folder / "run"), "--story", str(folder / "story.txt"), "--question", "Kuku"]
    assert main([*command, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert len(found["gates"]) == 2 and all(len(layer) == len(found["sentences"]) == 2 for layer in found["gates"])
    assert main(command) == 0
    assert "gate 2" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (["track", "task2", "--things", "Mary"], "does not track things"),
        (["track", "RUN"], "name the things"),
        (["export", "RUN", "--to", "x.html"], "points at the text"),
        (["explain", "RUN", "--story", "FILE", "--question", "Kuku", "--png", "x.png"], "pictures show answers"),
        (["ask", "RUN", "--story", "FILE", "--question", "Kuku", "--stream"], "reads it as a whole"),
    ],
)
def test_what_is_wrong_is_one_line(
    folder: Path, command: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    known = {"RUN": str(folder / "run"), "FILE": str(folder / "story.txt")}
    assert main([known.get(word, word) for word in command]) == 1
    error = capsys.readouterr().err
    assert message in error and error.count("\n") == 1
