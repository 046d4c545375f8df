"""Stories of one's own on the command line: prose, what cannot be read, mistakes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from small_networks import saved_story_model

from query_reduction.cli import main
from query_reduction.model_file import save_model
from query_reduction.worlds import generate


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("models") / "small.safetensors"
    save_model(path, saved_story_model("2r8", generate(1, 50)))
    return path


def run_json(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    assert main([*arguments, "--json"]) == 0
    value: dict[str, Any] = json.loads(capsys.readouterr().out)
    return value


def test_mistakes_and_kinds_of_questions(capsys: pytest.CaptureFixture[str], model: Path, tmp_path: Path) -> None:
    own = tmp_path / "own.jsonl"
    asked = [("Where is Mary?", "garden"), ("Where is John?", "no such place"), ("What is it?", "neither")]
    questions = [{"question": text, "answer": answer} for text, answer in asked]
    story = {"sentences": ["Mary went to the garden.", "John went to the office."], "questions": questions}
    own.write_text(json.dumps(story) + "\n")
    result = run_json(capsys, "evaluate", str(model), "--data", str(own), "--mistakes", "1")
    assert result["by_kind"]["what is"] == {"questions": 1, "error": 100.0}
    assert result["by_kind"]["where is"]["questions"] == 2 and result["by_kind"]["where is"]["error"] >= 50
    (mistake,) = result["mistakes"]
    assert mistake["sentences"] == story["sentences"] and mistake["given"] != mistake["answer"]
    assert run_json(capsys, "evaluate", str(model), "--data", str(own))["mistakes"] == []
    assert main(["evaluate", str(model), "--data", str(own), "--mistakes", "9"]) == 0
    shown = capsys.readouterr().out
    assert "right: no such place   given: " in shown and "where is" in shown and str(own) in shown.replace("\n", "")


def test_a_story_in_quotes(capsys: pytest.CaptureFixture[str], model: Path, tmp_path: Path) -> None:
    asked = ["--question", "Where is Mary?"]
    story = "Mary went to the garden. John went to the office."
    value = run_json(capsys, "ask", str(model), "--story", story, *asked)
    assert value["sentence_count"] == 2
    long = " ".join([story] * 200)  # longer than a file's name can be
    assert run_json(capsys, "ask", str(model), "--story", long, *asked)["sentence_count"] == 400
    assert main(["ask", str(model), "--story", story, *asked, "--stream"]) == 0
    capsys.readouterr()
    for text in ("Mary went to the garden", "story.txt", "a" * 5000, "Mary\0went."):
        assert main(["ask", str(model), "--story", text, *asked]) == 1
        (line,) = capsys.readouterr().err.splitlines()
        assert "no such file; give a file, - for standard input, or whole sentences in quotes" in line
        assert len(line) < 250
    named = tmp_path / "a story, told."
    named.write_text("Mary went to the office.\n")
    assert run_json(capsys, "ask", str(model), "--story", str(named), *asked)["sentence_count"] == 1


def test_a_model_with_a_typo_is_suggested(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ask", "taks2", "--story", "-", "--question", "Where?"]) == 1
    assert "no ready model of that name (did you mean task2? available: " in capsys.readouterr().err
    assert main(["ask", "nothing-like-it", "--story", "-", "--question", "Where?"]) == 1
    assert "(available: " in capsys.readouterr().err


def test_ask_takes_prose_and_says_what_it_left_out(
    capsys: pytest.CaptureFixture[str], model: Path, tmp_path: Path
) -> None:
    story = tmp_path / "story.txt"
    story.write_text("Mary went to the garden. John went to the office.\nBlorp frimmed zat. Zot blee.\n")
    arguments = ["ask", str(model), "--story", str(story), "--question", "Where is Mary?"]
    value = run_json(capsys, *arguments)
    assert (value["sentence_count"], value["omitted"]) == (4, [2, 3])
    assert main(arguments) == 0
    shown = capsys.readouterr().out
    assert "2 sentences could not be read and were left out" in shown
    story.write_text("Mary went to the garden.\n" * 1000)
    assert main(arguments) == 0
    assert "read the last 50 of 1000 sentences" in capsys.readouterr().out
