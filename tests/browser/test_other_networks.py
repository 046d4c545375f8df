"""The page with networks that show other things than gates, or nothing."""

from __future__ import annotations

import re

import pytest

pytest.importorskip("playwright.sync_api", reason="needs playwright")
from browser_steps import MINUTE, tell
from playwright.sync_api import Browser, Page, expect

pytestmark = pytest.mark.browser


@pytest.fixture
def rivals(browser: Browser, rivals_address: str) -> Page:
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.set_default_timeout(MINUTE)
    page.goto(rivals_address)
    expect(page.locator("#confidence")).to_contain_text("sure")
    return page


@pytest.mark.parametrize(("network", "heads", "meaning"), [("memn2n", 3, "attention"), ("entnet", 1, "memory slots")])
def test_the_legend_is_about_what_is_shown(rivals: Page, network: str, heads: int, meaning: str) -> None:
    rivals.locator("#model").select_option(network)
    legend = rivals.locator("#legend")
    expect(legend).to_contain_text(meaning)
    expect(legend).not_to_contain_text("update gate")
    expect(rivals.locator("#heads .gates span")).to_have_count(heads)
    # It reduces no query, so there is none to follow, only the answer.
    expect(rivals.locator("#time-title")).to_have_text("The answer over time")
    expect(rivals.locator("#queries")).to_be_empty()


def test_a_network_with_nothing_to_show_answers(rivals: Page) -> None:
    rivals.locator("#model").select_option("gru")
    tell(rivals, "Mary went to the garden. John went to the office.", "Blorp frimmed zat.", question="Where is Mary?")
    expect(rivals.locator("#unknown")).to_contain_text("nothing to show")
    expect(rivals.locator("#answer")).to_have_text(re.compile(r"^(\w+|I don't know)$"))
    expect(rivals.locator("#problem")).to_be_hidden()
    expect(rivals.locator("#sentences li")).to_have_count(3)
    expect(rivals.locator("#sentences li.unread")).to_have_count(1)
    expect(rivals.locator("#time-card")).to_be_hidden()
    expect(rivals.locator("#legend")).to_be_empty()
    expect(rivals.get_by_role("button", name="Copy link")).to_be_enabled()
    expect(rivals.get_by_role("button", name="Data (JSON)")).to_be_disabled()


def test_many_columns_stay_inside_the_card(rivals: Page) -> None:
    rivals.locator("#model").select_option("ut")
    expect(rivals.locator("#legend")).to_contain_text("halting")
    expect(rivals.locator("#heads .gates span").nth(1)).to_have_text("h1")
    card = rivals.locator(".card.story").bounding_box()
    assert card is not None
    for cell in rivals.locator("#sentences li .delete").all():
        box = cell.bounding_box()
        assert box is not None
        assert box["x"] + box["width"] <= card["x"] + card["width"]
    assert rivals.locator(".card.story").evaluate("card => card.scrollWidth <= card.clientWidth")
