"""The page in a real browser: train a tiny model, ask, edit, watch the answer change.

Needs playwright and a chromium; QRN_CHROMIUM names another one than Debian's.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("playwright.sync_api", reason="needs playwright")
from playwright.sync_api import Browser, Page, expect, sync_playwright

pytestmark = pytest.mark.browser

CHROMIUM = os.environ.get("QRN_CHROMIUM", "/usr/bin/chromium")
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking"]
MINUTE = 60_000


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    if not Path(CHROMIUM).exists():
        pytest.skip(f"no chromium at {CHROMIUM}")
    with sync_playwright() as running:
        browser = running.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server with a model that has learned where people are, and one that has heard a few dialogs."""
    runs = tmp_path_factory.mktemp("runs")
    run = runs / "whereabouts"
    qrn = [sys.executable, "-m", "query_reduction"]
    options = ["--task", "1", "--questions", "300", "--restarts", "1", "--max-epochs", "60", "--out", str(run)]
    subprocess.run([*qrn, "train", "--decode-questions", *options], check=True, capture_output=True, timeout=600)
    talking = [
        "--data",
        "generated-dialog",
        "--task",
        "5",
        "--network",
        "2r20c",
        "--questions",
        "30",
    ]
    options = [*talking, "--restarts", "1", "--max-epochs", "5", "--out", str(runs / "talker")]
    subprocess.run([*qrn, "train", *options], check=True, capture_output=True, timeout=600)
    with subprocess.Popen(
        [*qrn, "serve", str(runs), "--port", "0", "--json"], stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout is not None
        yield json.loads(server.stdout.readline())["address"]
        server.terminate()
        assert server.wait(30) == 0


@pytest.fixture
def page(browser: Browser, address: str) -> Iterator[Page]:
    """The page, ready; whatever it complains about fails the test."""
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.set_default_timeout(MINUTE)
    expect.set_options(timeout=MINUTE)
    complaints: list[str] = []
    page.on(
        "console", lambda message: complaints.append(message.text) if message.type in ("error", "warning") else None
    )
    page.on("pageerror", lambda error: complaints.append(str(error)))
    outside: list[str] = []
    page.on("request", lambda request: None if request.url.startswith(address) else outside.append(request.url))
    page.goto(address)
    expect(page.locator("#confidence")).to_contain_text("sure")
    yield page
    assert complaints == []
    assert outside == []
    page.close()


def tell(page: Page, *sentences: str, question: str) -> None:
    """Write a story by keyboard."""
    page.get_by_role("button", name="Clear").click()
    page.locator("#sentences textarea").first.focus()
    for number, sentence in enumerate(sentences):
        if number:
            page.keyboard.press("Enter")
        page.keyboard.type(sentence)
    page.locator("#question").fill(question)
    page.keyboard.press("Enter")


def test_ask_edit_and_delete(page: Page) -> None:
    tell(page, "Mary went to the garden.", "John went to the office.", question="Where is Mary?")
    answer = page.locator("#answer")
    expect(answer).to_have_text("garden")
    page.get_by_label("sentence 1", exact=True).fill("Mary went to the kitchen.")
    expect(answer).to_have_text("kitchen")
    page.locator("#add").click()
    page.keyboard.type("Mary moved to the hallway.")
    expect(answer).to_have_text("hallway")
    shares = page.locator("#sentences .share b").all_inner_texts()
    assert max(range(3), key=lambda row: float(shares[row].rstrip(" %"))) == 2
    page.get_by_role("button", name="delete sentence 3").click()
    expect(answer).to_have_text("kitchen")
    expect(page.locator("#sentences li")).to_have_count(2)
    gates = page.locator("#sentences li").first.locator(".gates span")
    expect(gates).to_have_count(4)
    assert re.fullmatch(r"[01]\.\d\d", gates.first.inner_text())


def test_slider_shows_the_query_over_time(page: Page) -> None:
    tell(page, "Mary went to the garden.", "Mary went to the office.", question="Where is Mary?")
    expect(page.locator("#answer")).to_have_text("office")
    ending = page.locator("#ending div").first
    expect(ending).to_contain_text("office")
    page.locator("#time").focus()
    page.keyboard.press("ArrowLeft")
    expect(page.locator("#now")).to_contain_text("garden")
    expect(ending).to_contain_text("garden")
    expect(page.locator("#sentences li").nth(1)).to_have_class(re.compile("later"))
    expect(page.locator("#queries canvas")).to_have_count(2)
    expect(page.locator("#queries .words").first).to_have_text("where is mary", ignore_case=True)
    page.get_by_role("button", name="play").click()
    expect(page.get_by_role("button", name="pause")).to_be_visible()
    expect(page.get_by_role("button", name="play")).to_be_visible()
    expect(ending).to_contain_text("office")


def test_another_story_and_unknown_words(page: Page) -> None:
    before = page.locator("#sentences").inner_text()
    page.get_by_role("button", name="Another story").click()
    expect(page.locator("#sentences")).not_to_have_text(before)
    expect(page.locator("#truth")).not_to_be_empty()
    expect(page.locator("#sentences li.fact")).not_to_have_count(0)
    tell(page, "Zaphod went to the garden.", question="Where is Zaphod?")
    expect(page.locator("#unknown")).to_contain_text("Zaphod")


def test_story_text_stays_text(page: Page) -> None:
    evil = "Mary went to the garden <img>"
    tell(page, "Mary went to the garden.", evil, "<img src=x onerror=alert(1)>", question=f"Where is Mary? {evil}")
    expect(page.locator("#unknown")).to_contain_text("img")
    expect(page.locator("#unknown")).to_contain_text("could not be read")
    assert page.locator("#sentences textarea").nth(1).input_value() == evil
    assert page.locator("main img").count() == 0


def test_pasted_story(page: Page) -> None:
    page.get_by_role("button", name="Clear").click()
    page.locator("#sentences textarea").first.focus()
    page.evaluate(
        """(story) => {
          const clipboardData = new DataTransfer();
          clipboardData.setData("text", story);
          const paste = new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true });
          document.activeElement.dispatchEvent(paste);
        }""",
        "1 Mary went to the garden.\n2 John went to the office.\n3 Where is John?\toffice\t2\n",
    )
    page.locator("#question").fill("Where is John?")
    expect(page.locator("#answer")).to_have_text("office")
    assert page.locator("#sentences textarea").first.input_value() == "Mary went to the garden."
    expect(page.locator("#sentences li")).to_have_count(2)


def test_conversation(page: Page) -> None:
    page.get_by_role("tab", name="Dialog").click()
    expect(page.locator(".places li").first).to_be_visible()
    page.locator("#utterance").fill("hello")
    page.keyboard.press("Enter")
    expect(page.locator(".bubble.user")).to_have_text("hello")
    expect(page.locator(".bubble.bot").first).to_contain_text("sure")
    page.get_by_role("button", name="can you book a table").click()
    expect(page.locator(".bubble.user")).to_have_count(2)
    page.get_by_role("searchbox").fill("no place is called this")
    expect(page.locator(".places li")).to_have_count(0)
    page.get_by_role("button", name="New conversation").click()
    expect(page.locator(".bubble")).to_have_count(0)
    page.get_by_role("tab", name="Dialog").press("ArrowRight")
    expect(page.get_by_role("tab", name="Story")).to_be_focused()
    expect(page.locator("#sentences")).to_be_visible()


def test_dark_and_light(page: Page) -> None:
    background = "() => getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(background)
    page.locator("#theme").click()
    assert page.evaluate(background) != light
    page.reload()
    expect(page.locator("#confidence")).to_contain_text("sure")
    assert page.evaluate(background) != light


def test_fits_a_phone(browser: Browser, address: str) -> None:
    phone = browser.new_page(viewport={"width": 360, "height": 740}, has_touch=True, is_mobile=True)
    phone.goto(address)
    expect(phone.locator("#confidence")).to_contain_text("sure", timeout=MINUTE)
    assert phone.evaluate("() => document.documentElement.scrollWidth") <= 360
    # The answer stays in sight while the end of the story is edited.
    phone.locator("#question").scroll_into_view_if_needed()
    expect(phone.locator("#answer")).to_be_in_viewport()
    phone.close()


def test_documentation_of_the_api(browser: Browser, address: str) -> None:
    page = browser.new_page()
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.goto(f"{address}docs")
    expect(page.get_by_role("heading", name="/api/trace")).to_be_visible(timeout=MINUTE)
    assert complaints == []
    page.close()
