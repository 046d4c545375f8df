"""The documentation: its examples run in the order of the page, its commands exist, its reference is complete.

A block with a title is a file. ``console`` and ``python`` blocks run. Commands in ``sh`` blocks would need a network,
a cluster or hours: they are read, but not run.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from places import ROOT

from query_reduction.cli import options_of, parse, verb_of, verbs
from query_reduction.cli.arguments import options_in
from query_reduction.cli.reference import reference

DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
_BLOCK = re.compile(r"^```(\w+)([^\n]*)\n(.*?)^```", re.DOTALL | re.MULTILINE)

# What a page's script begins with: a command ends the script if it fails; a server stops when the script ends.
_BEGIN = """
import atexit, socket, subprocess, sys, time
from query_reduction.cli import main

def _run(*arguments):
    if main(arguments) != 0:
        sys.exit(f"failed: qrn {' '.join(arguments)}")

def _start(*arguments):
    server = subprocess.Popen([sys.executable, "-m", "query_reduction", *arguments])
    atexit.register(lambda: (server.terminate(), server.wait()))
    port = int(arguments[arguments.index("--port") + 1])
    for _ in range(600):
        with socket.socket() as connection:
            if connection.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.2)
    sys.exit("the server did not start")
"""


@dataclass(frozen=True)
class Block:
    language: str
    title: str
    text: str


def blocks(page: Path) -> Iterator[Block]:
    for language, rest, text in _BLOCK.findall(page.read_text(encoding="utf-8")):
        title = re.search(r'title="([^"]+)"', rest)
        yield Block(language, title.group(1) if title else "", text)


def script_of(page: Path, folder: Path) -> str:
    """The examples of a page as one script; its files are written."""
    parts = []
    for block in blocks(page):
        if block.title:
            (folder / block.title).parent.mkdir(parents=True, exist_ok=True)
            (folder / block.title).write_text(block.text, encoding="utf-8")
        elif block.language == "python":
            parts.append(block.text)
        elif block.language == "console":
            for line in block.text.splitlines():
                program, *arguments = shlex.split(line)
                assert program == "qrn", line
                if arguments[-1] == "&":
                    parts.append(f"_start(*{arguments[:-1]})")
                else:
                    parts.append(f"_run(*{arguments})")
    return "\n".join(parts)


WITH_EXAMPLES = [page for page in PAGES if {"console", "python"} & {block.language for block in blocks(page)}]


@pytest.mark.parametrize("page", WITH_EXAMPLES, ids=lambda page: page.stem)
def test_the_examples_of_a_page_run(page: Path, tmp_path: Path) -> None:
    script = tmp_path / "examples.py"
    script.write_text(_BEGIN + script_of(page, tmp_path), encoding="utf-8")
    done = subprocess.run([sys.executable, script], cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_commands_that_are_not_run_exist(page: Path) -> None:
    for block in blocks(page):
        if block.language == "sh":
            for line in block.text.splitlines():
                program, *arguments = shlex.split(line)
                if "query_reduction" in arguments:  # python -m query_reduction …
                    program, arguments = "qrn", arguments[arguments.index("query_reduction") + 1 :]
                if program == "qrn":
                    verb = verb_of(arguments)
                    assert verb is not None, line
                    parse(verb, arguments[len(verb.split()) :])


def test_the_tutorial_adds_a_network_in_sixty_lines() -> None:
    first = next(block for block in blocks(DOCS / "adding-a-network.md") if block.language == "python")
    assert len(first.text.splitlines()) <= 60


def test_the_reference_has_every_option_with_its_text() -> None:
    text = reference()
    for verb in verbs():
        section = text.split(f"\n## qrn {verb}\n")[1].split("\n## ")[0]
        for option in options_in(options_of(verb), everything=True):
            assert f"| `{option.flag}` |" in section
            assert option.text, f"qrn {verb} {option.flag}"


def test_pages_are_in_the_navigation_and_links_lead_somewhere() -> None:
    """mkdocs checks both and more (make docs); this is the part that needs nothing installed."""
    navigation = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").split("\nnav:")[1]
    for page in PAGES:
        assert f": {page.relative_to(DOCS)}\n" in navigation, page
        for target in re.findall(r"\]\(((?!https?:)[^)#]+)", page.read_text(encoding="utf-8")):
            made = (page.parent / target).resolve() == DOCS / "reference" / "command-line.md"
            assert made or (page.parent / target).exists(), f"{page}: {target}"
