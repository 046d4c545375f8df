"""What is printed: nothing in a story or a file name controls the terminal; what the system refuses is one line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from rich.table import Table
from rich.text import Text

from query_reduction.cli import main, output

NASTY = "a\x1b]0;title\x07\x9b31m\x7f\u202eb\ud800\rc"


def test_control_characters_are_not_printed(capsys: pytest.CaptureFixture[str]) -> None:
    table = Table()
    table.add_row(Text(NASTY), NASTY)
    output.console.print(NASTY, markup=False)
    output.console.print(table)
    output.notes.print(NASTY, markup=False)
    printed = "".join(capsys.readouterr())
    assert not set(printed) & set("\x1b\x07\x9b\x7f\u202e\ud800\r")
    assert "a\ufffd]0;title\ufffd31m\ufffd\ufffdb\ufffdc" in printed  # rich itself leaves out the bell and the return


def test_json_keeps_them_as_escapes(capsys: pytest.CaptureFixture[str]) -> None:
    output.print_json({"text": NASTY})
    printed = capsys.readouterr().out
    assert not set(printed) & set("\x1b\x07\x9b\x7f\u202e\ud800\r")
    assert json.loads(printed)["text"] == NASTY


def test_errors_are_shown_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ask", "task1", "--story", "no\x1b[31mfile", "--question", "Where?"]) == 1
    assert "\x1b" not in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments",
    [
        ["explain", "task1", "--story", "{story}", "--question", "Where is Mary?", "--html", "{file}/below/a.html"],
        ["data", "generate", "--tasks", "1", "--questions", "5", "--held-out-questions", "5", "--out", "{file}/below"],
        ["train", "--task", "1", "--questions", "60", "--max-epochs", "1", "--out", "{file}/below"],
        ["predict", "task1", "{questions}", "--out", "{file}/below.jsonl"],
        ["data", "generate", "--tasks", "1", "--questions", "5", "--out", "{out}", "--words", "{deep}"],
        ["data", "generate", "--tasks", "1", "--questions", "5", "--out", "{out}", "--words", "{long}"],
        ["reproduce", "qa-1k", "--out", "{file}/below", "--tasks", "1", "--json"],
    ],
)
def test_bad_places_and_files_are_one_line(
    arguments: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    contents = {
        "story": "Mary went home.\n",
        "file": "",
        "questions": '{"sentences": ["a."], "questions": [{"question": "Where?", "answer": "b"}]}\n',
        "deep": "a = " + "[" * 3000,
        "long": "a = " + "9" * 5000,
    }
    places = {"out": str(tmp_path / "out")}
    for name, text in contents.items():
        path = tmp_path / (f"{name}.jsonl" if name == "questions" else name)
        path.write_text(text)
        places[name] = str(path)
    assert main([word.format(**places) for word in arguments]) == 1
    said = capsys.readouterr().err.strip()
    assert len([line for line in said.splitlines() if line.startswith("qrn ")]) == 1
    assert "Traceback" not in said
