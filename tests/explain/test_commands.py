"""qrn explain, and explanations scored by qrn evaluate."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest
from small_model import QUESTION, STORY, make_model

from query_reduction.cli import main


@pytest.fixture
def model(tmp_path: Path) -> Path:
    return make_model().save(tmp_path / "small.safetensors")


@pytest.fixture
def story(tmp_path: Path) -> Path:
    path = tmp_path / "story.txt"
    path.write_text("\n".join(STORY), encoding="utf-8")
    return path


def test_explain_in_the_terminal(model: Path, story: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", str(model), "--story", str(story), "--question", QUESTION]) == 0
    said = capsys.readouterr().out
    assert "share" in said
    assert "z²" in said


def test_explain_as_json(model: Path, story: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["explain", str(model), "--story", str(story), "--question", QUESTION, "--json", "--vectors"]
    assert main(arguments) == 0
    assert json.loads(capsys.readouterr().out) == make_model().explain(STORY, QUESTION).as_json(vectors=True)


def test_explain_as_files(model: Path, story: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = [tmp_path / f"trace.{ending}" for ending in ("html", "png", "svg")]
    options = [part for path in files for part in (f"--{path.suffix[1:]}", str(path))]
    assert main(["explain", str(model), "--story", str(story), "--question", QUESTION, *options]) == 0
    assert all(path.stat().st_size > 1000 for path in files)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "trace.html" in captured.err.replace("\n", "")


def test_first_story_of_a_numbered_file(
    model: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = "1 Mary got the milk.\n2 Where is the milk?\tgarden\t1\n3 John got the apple.\n1 Mary went to the garden.\n"
    monkeypatch.setattr(sys, "stdin", io.StringIO(text))
    assert main(["explain", str(model), "--story", "-", "--question", QUESTION, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["sentences"] == ["Mary got the milk.", "John got the apple."]


def test_evaluate_explanations(model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = tmp_path / "qa2_two_test.txt"
    lines = [f"{number} {sentence}\n" for number, sentence in enumerate(STORY[:3], start=1)]
    data.write_text("".join([*lines, f"4 {QUESTION}\tgarden\t1 3\n"]), encoding="utf-8")
    assert main(["evaluate", str(model), "--data", str(data), "--explanations", "--json"]) == 0
    scores = json.loads(capsys.readouterr().out)["explanations"]["2"]
    assert scores["questions"] == 1
    assert scores["random"]["precision_at_1"] == pytest.approx(66.67)
    assert scores["recency"]["precision_at_1"] == 100
    assert set(scores["model"]) == {"precision_at_1", "r_precision", "recall_at_5", "average_precision"}
    assert main(["evaluate", str(model), "--data", str(data), "--explanations"]) == 0
    assert "recency" in capsys.readouterr().out
