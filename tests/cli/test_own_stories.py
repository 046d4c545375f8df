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
