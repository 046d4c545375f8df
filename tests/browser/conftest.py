"""Servers with small models and with those of the package, and the page in a real browser."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

pytest.importorskip("playwright.sync_api", reason="needs playwright")
from browser_steps import MINUTE, QRN
from playwright.sync_api import Browser, ConsoleMessage, Page, expect

OWN_STORIES = [
    {
        "sentences": [f"Kim took the {thing}.", f"Kim walked to the {place}."],
        "questions": [{"question": f"Where is the {thing}?", "answer": place, "support": [0, 1]}],
    }
    for thing in ("lamp", "book", "ball", "cup", "key")
    for place in ("cellar", "attic", "shed", "yard")
]


@contextmanager
def serving(*models: str) -> Iterator[str]:
    """A server with these models; yields its address."""
    with subprocess.Popen(
        [*QRN, "serve", *models, "--port", "0", "--json"], stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout is not None
        yield json.loads(server.stdout.readline())["address"]
        server.terminate()
        assert server.wait(30) == 0


@pytest.fixture(scope="session")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server with a model that has learned where people are, one of own stories, and one that has heard dialogs."""
    runs = tmp_path_factory.mktemp("runs")
    own = tmp_path_factory.mktemp("own") / "own.jsonl"
    own.write_text("".join(json.dumps(story) + "\n" for story in OWN_STORIES))
    where = ["--task", "1", "--questions", "300", "--max-epochs", "60", "--decode-questions"]
    talking = [
        "--data",
        "generated-dialog",
        "--task",
        "5",
        "--network",
        "2r20c",
        "--questions",
        "120",
        "--max-epochs",
        "14",
    ]
    things = ["--data", str(own), "--max-epochs", "2"]
    for name, options in (("whereabouts", where), ("talker", talking), ("things", things)):
        command = [*QRN, "train", *options, "--restarts", "1", "--out", str(runs / name)]
        subprocess.run(command, check=True, capture_output=True, timeout=600)
    with serving(*(str(runs / name) for name in ("whereabouts", "things", "talker"))) as found:
        yield found


@pytest.fixture(scope="session")
def rivals_address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server with other networks than ours, hardly trained."""
    runs = tmp_path_factory.mktemp("rivals")
    for network, *more in (("memn2n",), ("entnet",), ("gru",), ("ut", "--halting", "--steps", "6")):
        options = ["--task", "1", "--questions", "50", "--max-epochs", "1", "--evaluate-every", "1", "--restarts", "1"]
        command = [*QRN, "train", "--network", network, *more, *options, "--out", str(runs / network)]
        subprocess.run(command, check=True, capture_output=True, timeout=600)
    with serving(str(runs)) as found:
        yield found


@pytest.fixture(scope="session")
def ready_address() -> Iterator[str]:
    """A server with the models that come with the package."""
    with serving() as found:
        yield found


@pytest.fixture
def page(browser: Browser, address: str) -> Iterator[Page]:
    """The page, ready; whatever it complains about fails the test."""
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.set_default_timeout(MINUTE)
    complaints: list[str] = []

    def heard(message: ConsoleMessage) -> None:
        # A refused request, which the page shows in its own words, is also logged by the browser.
        if message.type in ("error", "warning") and "status of 422" not in message.text:
            complaints.append(message.text)

    page.on("console", heard)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    outside: list[str] = []
    own = (address, f"blob:{address}")
    page.on("request", lambda request: None if request.url.startswith(own) else outside.append(request.url))
    page.goto(address)
    expect(page.locator("#confidence")).to_contain_text("sure")
    yield page
    assert complaints == []
    assert outside == []
    page.close()
