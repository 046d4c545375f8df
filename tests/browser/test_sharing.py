"""Links, pictures and data to take along from the page."""

from __future__ import annotations

import json
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

pytest.importorskip("playwright.sync_api", reason="needs playwright")
from browser_steps import tell
from playwright.sync_api import Browser, Page, expect

pytestmark = pytest.mark.browser

STORY = ("Mary went to the garden.", "John & went to the office.", "Mary travelled to the hallway.")
QUESTION = "Where is Mary?"


def shown(page: Page) -> tuple[list[str], str, str, str, str]:
    """Sentences, question, model, answer and how sure it is."""
    expect(page.locator("#confidence")).to_contain_text("sure")
    return (
        [row.input_value() for row in page.locator("#sentences textarea").all()],
        page.locator("#question").input_value(),
        page.locator("#model").input_value(),
        page.locator("#answer").inner_text(),
        page.locator("#confidence").inner_text(),
    )


def test_a_link_shows_the_same_in_a_fresh_browser(browser: Browser, address: str) -> None:
    ours = browser.new_context(permissions=["clipboard-read", "clipboard-write"])
    page = ours.new_page()
    page.goto(address)
    expect(page.locator("#confidence")).to_contain_text("sure")
    page.locator("#model").select_option("things")
    tell(page, *STORY, question=QUESTION)
    expect(page.locator("#sentences li")).to_have_count(3)
    before = shown(page)
    page.get_by_role("button", name="Copy link").click()
    expect(page.get_by_role("status").filter(has_text="Link copied.")).to_be_visible()
    link = page.evaluate("() => navigator.clipboard.readText()")
    assert link == page.url
    assert len(link) < 300
    page.reload()
    assert shown(page) == before
    ours.close()
    theirs = browser.new_context()
    other = theirs.new_page()
    other.goto(link)
    assert shown(other) == before
    assert before[:3] == (list(STORY), QUESTION, "things")
    theirs.close()


def test_reload_keeps_what_is_unfinished(page: Page) -> None:
    page.get_by_role("button", name="Clear").click()
    page.locator("#sentences textarea").first.fill("Mary went to the garden.")
    empty = page.url
    expect(page).not_to_have_url(empty)
    page.reload()
    expect(page.locator("#sentences textarea").first).to_have_value("Mary went to the garden.")
    expect(page.locator("#question")).to_have_value("")
    page.locator("#question").fill(QUESTION)
    expect(page.locator("#answer")).to_have_text("garden")


def test_reload_keeps_the_dialog(page: Page) -> None:
    page.get_by_role("tab", name="Dialog").click()
    expect(page.locator(".places li").first).to_be_visible()
    page.reload()
    expect(page.get_by_role("tab", name="Dialog")).to_have_attribute("aria-selected", "true")


def test_bad_links_say_so(page: Page, address: str) -> None:
    tell(page, *STORY, question=QUESTION)
    expect(page.locator("#answer")).to_have_text("hallway")
    notice = page.locator("#notice")
    for damaged in (page.url[:-9], f"{address}#1%%%", f"{address}#9abc", f"{address}#1S0ktLgEA"):
        page.goto(damaged)
        expect(notice).to_contain_text("This link is damaged")
        expect(page.locator("#confidence")).to_contain_text("sure")
    pack = """async (texts) => (await import("/page/share.js")).pack(texts)"""
    page.goto(address + page.evaluate(pack, ["elsewhere", QUESTION, STORY[0]]))
    expect(notice).to_contain_text("no model “elsewhere”")
    expect(page.locator("#answer")).to_have_text("garden")
    # A link that unpacks to gigabytes is given up early.
    huge = page.evaluate(pack, ["whereabouts", QUESTION, "a" * 3_000_000])
    assert len(huge) < 10_000
    page.goto(address + huge)
    expect(notice).to_contain_text("This link is damaged")


def test_pictures_and_data(page: Page, tmp_path: Path) -> None:
    tell(page, *STORY, question=QUESTION)
    expect(page.locator("#answer")).to_have_text("hallway")
    files = {}
    for name, ending in (("Picture (SVG)", "svg"), ("Picture (PNG)", "png"), ("Data (JSON)", "json")):
        with page.expect_download() as download:
            page.get_by_role("button", name=name).click()
        assert download.value.suggested_filename == f"where-is-mary.{ending}"
        files[ending] = tmp_path / f"picture.{ending}"
        download.value.save_as(files[ending])
    drawn = ElementTree.parse(files["svg"]).getroot()
    texts = ["".join(element.itertext()) for element in drawn.iter("{http://www.w3.org/2000/svg}text")]
    assert {*STORY, QUESTION, "hallway", "layer 1", "layer 2"} <= set(texts)
    assert sum(bool(re.fullmatch(r"[01]\.\d\d", text)) for text in texts) == 4 * len(STORY)
    png = files["png"].read_bytes()
    assert png.startswith(b"\x89PNG")
    width, height = (int.from_bytes(png[start : start + 4], "big") for start in (16, 20))
    assert (width, height) == tuple(2 * int(drawn.attrib[name]) for name in ("width", "height"))
    data = json.loads(files["json"].read_text(encoding="utf-8"))
    assert (data["model"], data["answer"], data["story"]) == ("whereabouts", "hallway", list(STORY))
