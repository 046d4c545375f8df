"""What the README says works: its commands run, its example runs, its files exist."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest
from places import ROOT

from query_reduction import worlds
from query_reduction.cli import main
from query_reduction.text.formats.jsonl import format_stories

README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


def test_commands_and_example_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("story.txt").write_text("Mary got the milk.\nMary went to the garden.\n")
    example = json.loads(blocks("json")[0])
    own = worlds.generate(2, 60)
    Path("stories.jsonl").write_text(json.dumps(example) + "\n" + "".join(format_stories(own)))
    commands = [line for block in blocks("console") for line in block.splitlines()]
    assert commands
    for command in commands:
        program, *arguments = shlex.split(command)
        assert program == "qrn"
        assert main(arguments) == 0, command
    capsys.readouterr()
    (code,) = blocks("python")
    exec(compile(code, "README.md", "exec"), {})
    assert "garden" in capsys.readouterr().out


def test_make_targets_exist() -> None:
    makefile = (ROOT / "Makefile").read_text()
    for block in blocks("sh"):
        for target in re.findall(r"^make (\w+)", block, re.MULTILINE):
            assert f"\n{target}:" in makefile


def test_named_files_exist() -> None:
    for name in re.findall(r"^\| `([^`]+)` \|", README, re.MULTILINE):
        if "/" in name:
            assert (ROOT / name).exists(), name
    for name in re.findall(r"\]\(((?!http)[^)]+)\)", README):
        assert (ROOT / name).exists(), name


def test_version_is_one() -> None:
    from query_reduction import __version__

    assert f'version = "{__version__}"' in (ROOT / "pyproject.toml").read_text()
    assert f"version: {__version__}" in (ROOT / "CITATION.cff").read_text()
