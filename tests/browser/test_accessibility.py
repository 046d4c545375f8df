"""axe-core finds no fault with any page, in light and dark, on a phone and on a screen.

``axe/`` holds axe-core from npm with its licence.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("playwright.sync_api", reason="needs playwright")
from browser_steps import QRN
from playwright.sync_api import Browser, Page, expect

pytestmark = pytest.mark.browser

AXE = (Path(__file__).parent / "axe" / "axe.min.js").read_text(encoding="utf-8")
SIZES = [(400, "light"), (400, "dark"), (1280, "light"), (1280, "dark")]


@pytest.fixture(params=SIZES, ids=lambda size: f"{size[1]}-{size[0]}")
def screen(request: pytest.FixtureRequest, browser: Browser) -> Iterator[Page]:
    width, scheme = request.param
    page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
    yield page
    page.close()


def check(page: Page) -> None:
    """Let axe-core look at the page, at the end of all transitions."""
    page.evaluate("() => Promise.all(document.getAnimations().map((animation) => animation.finished))")
    page.evaluate(AXE)
    found = page.evaluate("() => axe.run()")
    assert found["passes"]
    told = [f"{fault['id']} ({fault['impact']}): {fault['nodes'][0]['html'][:200]}" for fault in found["violations"]]
    assert told == []
    assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")


def test_story(screen: Page, ready_address: str) -> None:
    screen.goto(ready_address)
    expect(screen.locator("#truth")).to_contain_text("right")
    check(screen)
    screen.locator("#sentences textarea").first.fill("Zaphod grokked a towel quickly.")
    expect(screen.locator("#unknown")).to_contain_text("left out")
    screen.locator("#time").focus()
    screen.keyboard.press("Home")
    expect(screen.locator("#sentences li.later").first).to_be_visible()
    check(screen)
    screen.goto(f"{ready_address}#damaged")
    expect(screen.locator("#notice")).to_be_visible()
    expect(screen.locator("#confidence")).to_contain_text("sure")
    check(screen)


def test_dialog(screen: Page, ready_address: str) -> None:
    screen.goto(ready_address)
    screen.get_by_role("tab", name="Dialog").click()
    expect(screen.locator(".places li").first).to_be_visible()
    screen.get_by_role("button", name="can you book a table").click()
    expect(screen.locator(".bubble.bot").first).to_contain_text("sure")
    check(screen)


def test_documentation_of_the_api(screen: Page, ready_address: str) -> None:
    screen.goto(f"{ready_address}docs")
    expect(screen.get_by_role("heading", name="/api/trace")).to_be_visible()
    check(screen)


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Explanations and an exported page, as the commands write them."""
    folder = tmp_path_factory.mktemp("pages")
    (folder / "story.txt").write_text("Mary got the milk.\nZaphod grokked a towel.\nMary went to the garden.\n")
    (folder / "long.txt").write_text("Mary got the milk.\nMary went to the garden.\n" * 40)
    for story in ("story", "long"):
        explain = ["explain", "task2", "--story", f"{story}.txt", "--question", "Where is the milk?"]
        subprocess.run([*QRN, *explain, "--html", f"{story}.html"], cwd=folder, check=True, timeout=120)
    subprocess.run([*QRN, "export", "task2", "--to", "exported.html"], cwd=folder, check=True, timeout=120)
    return folder


@pytest.mark.parametrize("name", ["story", "long", "exported"])
def test_written_pages(screen: Page, pages: Path, name: str) -> None:
    screen.goto((pages / f"{name}.html").as_uri())
    check(screen)
