"""What the README says works: its commands run, its example runs, its files exist."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from places import ROOT

from query_reduction.cli import main

README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


def commands(text: str) -> list[tuple[str, str]]:
    """The commands of the console blocks of a text, each with the output that is shown below it."""
    parts = re.split(r"^\$ ", "\n".join(re.findall(r"```console\n(.*?)```", text, re.DOTALL)), flags=re.MULTILINE)[1:]
    return [(command, shown.strip("\n")) for command, _, shown in (part.partition("\n") for part in parts)]


def test_commands_and_example_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each command works on what the commands before it made, and prints what is shown below it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    assert commands(README)
    for command, shown in commands(README):
        program, *arguments = shlex.split(command)
        assert program == "qrn"
        assert main(arguments) == 0, command
        assert shown in capsys.readouterr().out, command
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
