"""Output where the terminal is simple, narrow or not there: no traceback, no escape codes, no lost character."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from query_reduction.cli import main

STORY = ["Zoë got the milk there.", "Zoë went to the garden."]
QUESTION = "Where is the milk?"


@pytest.fixture
def story(tmp_path: Path) -> str:
    path = tmp_path / "story.txt"
    path.write_text("\n".join(STORY), encoding="utf-8")
    return str(path)


def printed(monkeypatch: pytest.MonkeyPatch, encoding: str, *arguments: str) -> str:
    """What a command writes to a standard output of this encoding."""
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding=encoding, write_through=True))
    monkeypatch.setenv("COLUMNS", "80")
    assert main(arguments) == 0
    return raw.getvalue().decode(encoding)


@pytest.mark.parametrize("encoding", ["cp1252", "ascii"])
def test_a_table_stays_a_table(story: str, monkeypatch: pytest.MonkeyPatch, encoding: str) -> None:
    explain = ["explain", "task2", "--story", story, "--question", QUESTION]
    plain = printed(monkeypatch, encoding, *explain).splitlines()
    full = printed(monkeypatch, "utf-8", *explain).splitlines()
    assert [len(line.rstrip()) for line in plain] == [len(line.rstrip()) for line in full]
    assert any(">r" in line and "<r" in line for line in plain)
    assert "garden" in plain[0]


@pytest.mark.parametrize("encoding", ["cp1252", "ascii"])
def test_json_loses_nothing(story: str, monkeypatch: pytest.MonkeyPatch, encoding: str) -> None:
    ask = ["ask", "task2", "--story", story, "--question", QUESTION, "--json"]
    assert json.loads(printed(monkeypatch, encoding, *ask))["trace"]["story"] == STORY


def test_help_in_plain_text(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SystemExit) as ended:
        printed(monkeypatch, "ascii", "train", "--help")
    assert ended.value.code == 0


def test_help_says_nothing_but_help(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["train", "--help"])
    assert "type: ignore" not in capsys.readouterr().out


@pytest.mark.parametrize("setting", [{"NO_COLOR": "1", "FORCE_COLOR": "1"}, {"TERM": "dumb"}, {}], ids=str)
def test_no_colour_where_none_is_wanted(story: str, setting: dict[str, str]) -> None:
    """NO_COLOR wins; a dumb terminal and a pipe get text alone."""
    command = [sys.executable, "-m", "query_reduction", "explain", "task2", "--story", story, "--question", QUESTION]
    environment = os.environ | {"COLUMNS": "80", "PYTHONIOENCODING": "cp1252", **setting}
    done = subprocess.run(command, capture_output=True, timeout=120, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    assert b"Traceback" not in done.stderr
    # Bold and italics are no colour; a colour would be  ESC [ 38 ; …  or  ESC [ 48 ; …
    assert b"38;" not in done.stdout
    assert b"48;" not in done.stdout
    if "FORCE_COLOR" not in setting:
        assert b"\x1b" not in done.stdout
