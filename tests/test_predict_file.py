"""Answers to all questions of a file: what is in them, and that a stopped run goes on to the same bytes."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from small_networks import story_model
from story_writers import write_file

import query_reduction as qr
from query_reduction import predict_file as predicting
from query_reduction import worlds
from query_reduction.cli import main
from query_reduction.errors import InputError
from query_reduction.predict_file import predict_file
from query_reduction.reading.predictions import AT_ONCE
from query_reduction.worlds.dialogs import generate_dialogs

FEW = worlds.generate(1, 40)


@pytest.fixture(scope="module")
def task1() -> qr.StoryModel:
    model = qr.load("task1")
    assert isinstance(model, qr.StoryModel)
    return model


def run_json(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    assert main([*arguments, "--json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def rows_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def write_many(path: Path, questions: int) -> None:
    """Questions about a few hundred stories, over and over."""
    told = [
        json.dumps({"id": 7, "story": list(story.sentences[: story.questions[-1].after]), "question": "Where is Mary?"})
        for story in worlds.generate(1, 300)
    ]
    path.write_text("".join(f"{told[number % len(told)]}\n" for number in range(questions)))


def test_predictions_are_the_model_s_answers(task1: qr.StoryModel) -> None:
    predictions = list(task1.predict(FEW))
    asked = [(story.sentences[: q.after], q) for story in FEW for q in story.questions]
    answers = task1.answer_many([(sentences, question.text) for sentences, question in asked])
    assert [found.text for found in predictions] == [answer.text for answer in answers]
    for (sentences, question), found, answer in zip(asked, predictions, answers, strict=True):
        assert isinstance(found, qr.Prediction)
        assert found.confidence == pytest.approx(answer.confidence, abs=1e-5)
        assert found.sentence_count == len(sentences)
        assert found.support[0] == task1.explain(sentences, question.text).ranking()[0]
    right = [found.support[:1] == question.support for (_, question), found in zip(asked, predictions, strict=True)]
    assert sum(right) >= 0.9 * len(right), "the first sentence is nearly always the fact"


def test_supporting_sentences_are_positions_in_the_file(task1: qr.StoryModel) -> None:
    told = ("Mary went to the garden. John went to the office.", "Mary went to the kitchen.")
    asked = (qr.Question("Where is John?", "", 2), qr.Question("Where is Zelda, the lynx?", "", 2))
    john, zelda = task1.predict([qr.Story(told, asked)])
    assert (john.text, john.support) == ("office", (0,))
    assert zelda.unknown_words == ("Zelda", "lynx")


def test_stories_are_taken_as_they_are_needed(task1: qr.StoryModel) -> None:
    taken = 0

    def endless() -> Iterator[qr.Story]:
        nonlocal taken
        while True:
            taken += 1
            yield FEW[taken % len(FEW)]

    predictions = task1.predict(endless())
    for _ in range(10):
        next(predictions)
    assert taken <= AT_ONCE


def test_a_file_of_answers(task1: qr.StoryModel, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "questions.csv"
    file.write_text(
        'id,story,question\n7,"Mary went to the garden. Zoë left.",Where is Mary?\n'
        'b,"John went to the office.",Where is John?\n'
    )
    out = tmp_path / "made" / "answers.jsonl"
    said = run_json(capsys, "predict", "task1", str(file), "--out", str(out))
    assert (said["questions"], said["before"], said["out"]) == (2, 0, str(out))
    first, second = rows_of(out)
    mary = task1.answer(["Mary went to the garden.", "Zoë left."], "Where is Mary?")
    assert (first["number"], first["id"], first["question"], first["answer"]) == (1, "7", "Where is Mary?", "garden")
    assert first["confidence"] == pytest.approx(mary.confidence, abs=1e-5)
    assert (first["support"], first["sentences"]) == ([0], ["Mary went to the garden."])
    assert (first["unknown_words"], first["notes"]) == (list(mary.unknown_words), mary.notes())
    assert (second["number"], second["answer"], second["unknown_words"], second["notes"]) == (2, "office", [], [])
    assert main(["predict", "task1", str(file), "--out", str(tmp_path / "answers.csv")]) == 0
    assert "2 answers in" in capsys.readouterr().out
    with (tmp_path / "answers.csv").open(newline="") as table:
        as_table = list(csv.DictReader(table))
    assert list(as_table[0]) == list(first)
    assert (as_table[0]["answer"], as_table[0]["support"], as_table[0]["unknown_words"]) == ("garden", "0", "Zoë left")
    assert as_table[1]["sentences"] == "John went to the office."
    assert {path.name for path in tmp_path.iterdir()} == {"questions.csv", "made", "answers.csv"}


def test_a_network_that_shows_nothing_still_answers(tmp_path: Path) -> None:
    model = story_model("gru", FEW)
    assert all(found.text and not found.support for found in model.predict(FEW))


def test_a_stopped_run_goes_on_to_the_same_bytes(task1: qr.StoryModel, tmp_path: Path) -> None:
    file = tmp_path / "many.jsonl"
    write_many(file, 2 * AT_ONCE + 100)
    whole, out = tmp_path / "whole.csv", tmp_path / "answers.csv"
    assert [progress.questions for progress in predict_file(task1, file, whole)] == [
        0, AT_ONCE, 2 * AT_ONCE, 2 * AT_ONCE + 100, 2 * AT_ONCE + 100,
    ]  # fmt: skip
    stopped = predict_file(task1, file, out)
    assert [next(stopped).questions for _ in range(3)] == [0, AT_ONCE, 2 * AT_ONCE]
    del stopped
    part = tmp_path / "answers.csv.part"
    with part.open("ab") as unfinished:
        unfinished.write(b"8193,,half a li")
    assert not out.exists()
    steps = list(predict_file(task1, file, out))
    assert [(step.questions, step.before, step.finished) for step in steps] == [
        (2 * AT_ONCE, 2 * AT_ONCE, False), (2 * AT_ONCE + 100, 2 * AT_ONCE, False),
        (2 * AT_ONCE + 100, 2 * AT_ONCE, True),
    ]  # fmt: skip
    assert out.read_bytes() == whole.read_bytes()
    assert {path.name for path in tmp_path.iterdir()} == {"many.jsonl", "whole.csv", "answers.csv"}


def test_a_killed_run_goes_on_to_the_same_bytes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, out = tmp_path / "many.jsonl", tmp_path / "answers.jsonl"
    write_many(file, 4 * AT_ONCE)
    command = [sys.executable, "-m", "query_reduction", "predict", "task1", str(file), "--out", str(out)]
    running = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while not (tmp_path / "answers.jsonl.part.json").exists():
        assert running.poll() is None, "it ended without a sign of progress"
        time.sleep(0.01)
    os.kill(running.pid, signal.SIGKILL)
    running.wait()
    said = run_json(capsys, "predict", "task1", str(file), "--out", str(out))
    assert said["questions"] == 4 * AT_ONCE
    assert 0 < said["before"] < 4 * AT_ONCE
    assert [row["number"] for row in rows_of(out)] == list(range(1, 4 * AT_ONCE + 1))
    again = tmp_path / "again.jsonl"
    run_json(capsys, "predict", "task1", str(file), "--out", str(again))
    assert again.read_bytes() == out.read_bytes()


def test_answers_of_something_else_are_not_added_to(task1: qr.StoryModel, tmp_path: Path) -> None:
    file, out = tmp_path / "many.jsonl", tmp_path / "answers.jsonl"
    write_many(file, AT_ONCE + 1)

    def stop_after_one(model: qr.StoryModel) -> None:
        steps = predict_file(model, file, out)
        next(steps), next(steps)
        del steps

    stop_after_one(task1)
    with pytest.raises(InputError, match=r"answers\.jsonl\.part has answers of another model"):
        list(predict_file(story_model("2r4", FEW), file, out))
    with file.open("a") as more:
        more.write("\n")
    with pytest.raises(InputError, match=r"questions that changed; delete it to begin again"):
        list(predict_file(task1, file, out))
    kept = (tmp_path / "answers.jsonl.part.json").read_text()
    with_more = json.dumps(json.loads(kept) | {"more": 1})
    for bad in (
        "{",
        "[" * 100_000,
        "[]",
        kept.replace(str(AT_ONCE), "1e999"),
        kept.replace(str(AT_ONCE), "7"),
        with_more,
    ):
        (tmp_path / "answers.jsonl.part.json").write_text(bad)
        with pytest.raises(InputError, match=r"part\.json cannot be read; delete it"):
            list(predict_file(task1, file, out))
    (tmp_path / "answers.jsonl.part.json").unlink()
    assert list(predict_file(task1, file, out))[-1].before == 0
    with pytest.raises(InputError, match=r"answers\.jsonl is there already"):
        list(predict_file(task1, file, out))


def test_a_run_that_dies_with_its_last_step_leaves_nothing_else(
    task1: qr.StoryModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, out = tmp_path / "few.jsonl", tmp_path / "answers.jsonl"
    write_many(file, 5)

    def die(unfinished: Path, path: Path) -> None:
        unfinished.replace(path)
        raise KeyboardInterrupt

    monkeypatch.setattr(predicting, "rename", die)
    with pytest.raises(KeyboardInterrupt):
        list(predict_file(task1, file, out))
    assert {path.name for path in tmp_path.iterdir()} == {"few.jsonl", "answers.jsonl"}


def test_two_processes_never_write_the_same_answers(task1: qr.StoryModel, tmp_path: Path) -> None:
    file, out = tmp_path / "many.jsonl", tmp_path / "answers.jsonl"
    write_many(file, AT_ONCE + 1)
    first = predict_file(task1, file, out)
    next(first), next(first)
    with pytest.raises(InputError, match="another process is writing"):
        list(predict_file(task1, file, out))
    assert list(first)[-1].questions == AT_ONCE + 1
    assert len(rows_of(out)) == AT_ONCE + 1


@pytest.mark.parametrize(
    ("name", "content", "out", "complaint"),
    [
        ("q.jsonl", '{"story": "a", "question": "q"}\n{"story": "a"}\n', "a.jsonl", r"q\.jsonl:2: expected columns"),
        ("q.csv", "text,label\na,b\n", "a.jsonl", r"q\.csv:1: expected columns story"),
        ("q.jsonl", "", "a.jsonl", "no questions in this file"),
        ("q.jsonl", "{}", "a.xlsx", r"answers are written as \.jsonl or \.csv"),
        ("q.jsonl", '{"turns": [{"user": "hi", "system": "hello"}]}\n', "a.csv", "holds dialogs"),
        ("q.json", "[", "a.csv", r"q\.json:1: not JSON"),
    ],
)
def test_what_cannot_be_answered(
    name: str, content: str, out: str, complaint: str, tmp_path: Path, task1: qr.StoryModel
) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(InputError, match=complaint) as caught:
        list(predict_file(task1, tmp_path / name, tmp_path / out))
    assert "\n" not in str(caught.value)
    assert not (tmp_path / out).exists()


def test_dialogs_are_answered_turn_by_turn(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    dialogs = generate_dialogs(1, 12)
    file, out = tmp_path / "dialogs.csv", tmp_path / "answers.jsonl"
    write_file(file, dialogs, dialogs=True)
    model = qr.load("dialog")
    assert isinstance(model, qr.DialogModel)
    given = [one.answer for one in model.given(dialogs)]
    assert [found.text for found in model.predict(dialogs)] == given
    assert run_json(capsys, "predict", "dialog", str(file), "--out", str(out))["questions"] == len(given)
    rows = rows_of(out)
    assert [row["answer"] for row in rows] == given
    assert all(0 < row["confidence"] <= 1 for row in rows)
    first = model.respond([], rows[0]["question"])
    assert rows[0]["confidence"] == pytest.approx(first.confidence, abs=1e-5)
    strange = next(model.predict([qr.Story((), (qr.Question("hello zaphod", "", 0),))]))
    assert strange.unknown_words == ("zaphod",)


def test_files_of_another_kind(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_file(tmp_path / "stories.csv", FEW)
    assert main(["predict", "dialog", str(tmp_path / "stories.csv"), "--out", str(tmp_path / "a.jsonl")]) == 1
    assert capsys.readouterr().err.endswith("stories.csv holds stories, but the model was trained on dialogs\n")
    assert main(["predict", "task1", str(tmp_path / "none.csv"), "--out", str(tmp_path / "a.jsonl")]) == 1
    assert "none.csv: no such file" in capsys.readouterr().err
