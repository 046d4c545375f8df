"""Models are used without PyTorch: nothing loads it, and nothing misses it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Sequence
from pathlib import Path

import pytest

from query_reduction.errors import install

STORY = "Mary got the milk.\nJohn went to the office.\nMary went to the garden.\n"
ASKED = ["--question", "Where is the milk?"]

BLOCKED = """
import sys

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("jaxtyping", "torch"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Blocked())
"""
MAIN = "from query_reduction.cli import main; sys.exit(main(sys.argv[1:]))"
LOADED = """
import atexit, sys
heavy = ("asyncio", "fastapi", "jaxtyping", "matplotlib", "requests", "torch")
atexit.register(lambda: print("loaded:", *(name for name in heavy if name in sys.modules)))
"""


def python(code: str, arguments: Sequence[str] = (), text: str = "") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.run(command, input=text, capture_output=True, text=True, timeout=120)


def qrn(*arguments: str, text: str = "") -> str:
    done = python(BLOCKED + MAIN, arguments, text)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def story(tmp_path: Path) -> str:
    path = tmp_path / "story.txt"
    path.write_text(STORY)
    return str(path)


@pytest.mark.parametrize("verb", ["ask", "explain"])
def test_a_question_loads_nothing_heavy(verb: str, story: str) -> None:
    done = python(LOADED + MAIN, [verb, "task2", "--story", story, *ASKED])
    assert done.stdout.startswith("garden"), done.stderr
    assert done.stdout.splitlines()[-1] == "loaded:"


def test_the_package_loads_nothing_heavy() -> None:
    done = python(LOADED + 'import query_reduction as qr; qr.load("task2").answer("Mary sat.", "Where is Mary?")')
    assert done.stdout == "loaded:\n", done.stderr


def test_ask_and_explain(story: str, tmp_path: Path) -> None:
    assert qrn("ask", "task2", *ASKED, "--story", "-", text=STORY).startswith("garden")
    assert qrn("ask", "task2", *ASKED, "--story", story, "--stream").startswith("garden")
    page = tmp_path / "page.html"
    qrn("explain", "task2", *ASKED, "--story", story, "--html", str(page))
    assert "Mary went to the garden." in page.read_text()
    trace = json.loads(qrn("explain", "joint", *ASKED, "--story", story, "--json"))
    assert trace["answer"] == "garden"
    assert len(trace["ending_here"]) == 3


def test_predict_evaluate_and_export(tmp_path: Path, story_file: Path) -> None:
    out = tmp_path / "answers.jsonl"
    qrn("predict", "task2", str(story_file), "--out", str(out))
    assert [json.loads(line)["answer"] for line in out.read_text().splitlines()][:2] == ["garden", "office"]
    assert json.loads(qrn("evaluate", "task2", "--data", str(story_file), "--json"))["questions"] == 3
    qrn("export", "task2", "--to", str(tmp_path / "page.html"))


def test_chat() -> None:
    said = qrn("chat", "dialog", text="hello\ni would like italian food in rome\n/why\n")
    assert said.startswith("bot: Hello!")


def test_serve() -> None:
    pytest.importorskip("fastapi")
    command = [sys.executable, "-c", BLOCKED + MAIN, "serve", "task2", "dialog", "--port", "0", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            address = json.loads(server.stdout.readline())["address"]
            body = {"model": "task2", "sentences": STORY.splitlines(), "question": "Where is the milk?"}
            for path in ("api/answer", "api/trace"):
                request = urllib.request.Request(
                    f"{address}{path}", json.dumps(body).encode(), {"content-type": "application/json"}
                )
                with urllib.request.urlopen(request, timeout=60) as response:
                    assert json.load(response)["answer"] == "garden"
        finally:
            server.send_signal(signal.SIGTERM)
        assert server.wait(30) == 0


@pytest.mark.parametrize(
    "arguments", [["train", "--task", "1"], ["reproduce", "table1"], ["demo"], ["train", "--help-all"]]
)
def test_training_says_in_one_line_what_to_install(arguments: list[str]) -> None:
    done = python(BLOCKED + MAIN, arguments)
    assert done.returncode == 1
    assert done.stderr.startswith(f"qrn {arguments[0]}: ")
    assert done.stderr.endswith(f" needs PyTorch: {install('train')}\n")
    assert done.stderr.count("\n") == 1


def test_from_python_training_says_what_to_install() -> None:
    for name in ("train", "scan"):
        done = python(BLOCKED + f"import query_reduction as qr; qr.{name}")
        assert f"query_reduction.{name} needs PyTorch: {install('train')}" in done.stderr


def test_a_model_of_another_network_says_what_to_install(tmp_path: Path, story: str) -> None:
    from small_networks import saved_story_model

    from query_reduction.model_file import save_model
    from query_reduction.worlds import generate

    save_model(tmp_path / "gru.safetensors", saved_story_model("gru", generate(1, 8)))
    done = python(BLOCKED + MAIN, ["ask", str(tmp_path / "gru.safetensors"), "--story", story, *ASKED])
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert f"needs PyTorch: {install('train')}" in done.stderr


def test_without_native_code_either(story: str) -> None:
    command = [sys.executable, "-c", BLOCKED + MAIN, "ask", "task2", "--story", story, *ASKED]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, env={**os.environ, "QRN_NATIVE": "0"})
    assert done.stdout.startswith("garden"), done.stderr
