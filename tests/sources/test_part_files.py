"""A folder of one's own data: its parts are found in every format that is read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from places import ROOT
from story_writers import write_file

import query_reduction as qr
from query_reduction import worlds
from query_reduction.cli import main
from query_reduction.dialog.dialogs import DialogParts
from query_reduction.errors import InputError
from query_reduction.sources.named import load_parts
from query_reduction.text.formats.readers import SUFFIXES
from query_reduction.worlds.dialogs import generate_dialogs

ENDINGS = [f"{suffix}{packed}" for suffix in SUFFIXES for packed in ("", ".gz")]


@pytest.mark.parametrize("ending", ENDINGS)
def test_stories_in_parts(tmp_path: Path, ending: str, capsys: pytest.CaptureFixture[str]) -> None:
    told = {
        "train": worlds.generate(1, 12),
        "dev": worlds.generate(1, 5, split="valid"),
        "test": worlds.generate(1, 7, split="test"),
    }
    for part, stories in told.items():
        write_file(tmp_path / f"{part}{ending}", stories)
    (tmp_path / "notes.md").write_text("not stories")
    parts = load_parts(str(tmp_path), None)
    found = [sum(len(story.questions) for story in part) for part in (parts.train, parts.dev, parts.test)]
    assert (parts.kind, found) == ("stories", [12, 5, 7])
    assert main(["data", "check", str(tmp_path), "--json"]) == 0
    counted = json.loads(capsys.readouterr().out)["files"]
    assert [(Path(row["file"]).name, row["questions"]) for row in counted] == [
        (f"dev{ending}", 5), (f"test{ending}", 7), (f"train{ending}", 12),
    ]  # fmt: skip


@pytest.mark.parametrize("ending", [ending for ending in ENDINGS if not ending.startswith(".txt")])
def test_dialogs_in_parts(tmp_path: Path, ending: str) -> None:
    dialogs = generate_dialogs(1, 4)
    for part in ("train", "valid", "test", "unseen"):
        write_file(tmp_path / f"{part}{ending}", dialogs, dialogs=True)
    (tmp_path / "knowledge.txt").write_text("1 the_place R_rating\t8\n")
    parts = load_parts(str(tmp_path), None)
    assert isinstance(parts, DialogParts)
    assert [len(part) for part in (parts.train, parts.dev, parts.test, parts.unseen)] == [4] * 4
    assert parts.knowledge == (("the_place", "R_rating", "8"),)


def test_a_folder_that_cannot_be_read_says_why(tmp_path: Path) -> None:
    (tmp_path / "stories.csv").write_text("")
    with pytest.raises(InputError, match=r"neither bAbI files .* nor files named train or test"):
        load_parts(str(tmp_path), None)
    for name in ("valid.csv", "dev.jsonl", "train.csv"):
        (tmp_path / name).write_text("")
    with pytest.raises(InputError, match=r"two files for one part: dev\.jsonl and valid\.csv"):
        load_parts(str(tmp_path), None)


def test_read_takes_what_the_readme_says() -> None:
    rows = [{"story": "Mary left. John stayed.", "question": "How many left?", "answer": 1}]
    assert qr.read(rows) == [qr.Story(("Mary left.", "John stayed."), (qr.Question("How many left?", "1", 2),))]


def test_the_dialog_of_the_documentation_is_one(tmp_path: Path) -> None:
    readme = (ROOT / "docs" / "files.md").read_text(encoding="utf-8")
    (line,) = (line for line in readme.splitlines() if line.startswith('{"turns"'))
    (tmp_path / "own.jsonl").write_text(line)
    (dialog,) = qr.read(tmp_path / "own.jsonl")
    assert [question.answer for question in dialog.questions] == ["api_call rome", "what about the_place?"]
