"""The page in a real browser: ask, edit, paste, watch the answer change."""

from __future__ import annotations

import re

import pytest

pytest.importorskip("playwright.sync_api", reason="needs playwright")
from browser_steps import MINUTE, paste, tell
from playwright.sync_api import Browser, Page, Route, expect

pytestmark = pytest.mark.browser


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
    paste(page, "1 Mary went to the garden.\n2 John went to the office.\n3 Where is John?\toffice\t2\n")
    page.locator("#question").fill("Where is John?")
    expect(page.locator("#answer")).to_have_text("office")
    assert page.locator("#sentences textarea").first.input_value() == "Mary went to the garden."
    expect(page.locator("#sentences li")).to_have_count(2)


def test_paste_leaves_the_caret_where_one_has_gone(page: Page) -> None:
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.route("**/api/sentences", hold)
    page.get_by_role("button", name="Clear").click()
    page.locator("#sentences textarea").first.focus()
    with page.expect_request("**/api/sentences"):
        paste(page, "Mary went to the garden.\nJohn went to the office.")
    page.locator("#question").focus()
    page.keyboard.type("Where is ")
    with page.expect_response("**/api/sentences"):
        held[0].continue_()
    expect(page.locator("#sentences li")).to_have_count(2)
    page.keyboard.type("John?")
    expect(page.locator("#question")).to_have_value("Where is John?")
    expect(page.locator("#answer")).to_have_text("office")


def test_a_pasted_paragraph_becomes_sentences(page: Page) -> None:
    page.get_by_role("button", name="Clear").click()
    page.locator("#sentences textarea").first.focus()
    paste(page, "Mary went to the garden. Mr. Smith said hello! John went to the office.")
    rows = page.locator("#sentences textarea")
    expect(rows).to_have_count(3)
    assert rows.nth(1).input_value() == "Mr. Smith said hello!"
    page.locator("#question").fill("Where is John?")
    expect(page.locator("#answer")).to_have_text("office")


def test_the_error_of_a_long_pasted_story_is_in_sight(page: Page) -> None:
    page.get_by_role("button", name="Clear").click()
    page.locator("#sentences textarea").first.focus()
    paste(page, "Mary went to the garden.\n" * 200)
    rows = page.locator("#sentences textarea")
    expect(rows).to_have_count(200)
    expect(rows.last).to_be_focused()
    expect(page.locator("#sentences li").last).to_be_in_viewport()
    paste(page, "Mary went to the garden.\n" * 1200)
    problem = page.get_by_role("alert")
    expect(problem).to_have_text("Not pasted: a story may have 1000 sentences, not 1200")
    expect(problem).to_be_in_viewport()
    paste(page, f"Mary {'really ' * 200}went to the garden. John went to the office.")
    expect(problem).to_contain_text("sentence 1 may have 1000 characters")
    expect(problem).to_be_in_viewport()
    expect(rows).to_have_count(200)


def test_own_model_opens_with_an_example_of_its_data(page: Page) -> None:
    page.locator("#model").select_option("things")
    expect(page.locator("#question")).to_have_value(re.compile("Where is the (lamp|book|ball|cup|key)"))
    expect(page.locator("#sentences textarea")).to_have_count(2)
    expect(page.locator("#sentences textarea").first).to_have_value(re.compile("Kim took the"))
    expect(page.locator("#sentences li.fact")).to_have_count(2)
    expect(page.locator("#truth")).not_to_be_empty()
    expect(page.get_by_role("button", name="Another story")).to_be_disabled()


def test_ready_models_open_where_something_is_reduced(browser: Browser, ready_address: str) -> None:
    page = browser.new_page()
    page.goto(ready_address)
    expect(page.locator("#model")).to_have_value("task2")
    expect(page.locator("#truth")).to_have_text("✓ right")
    expect(page.locator("#task-title")).to_have_text("Two supporting facts")
    expect(page.get_by_text("Each stripe is one unit")).to_be_visible()
    page.close()


def test_every_gate_says_which_it_is(page: Page) -> None:
    tell(page, "Mary went to the garden.", "Mary went to the office.", question="Where is Mary?")
    expect(page.locator("#answer")).to_have_text("office")
    row = page.locator("#sentences li").first
    for name in (
        "update gate, layer 1",
        "forward reset gate, layer 1",
        "backward reset gate, layer 1",
        "update gate, layer 2",
    ):
        expect(row.get_by_role("img", name=re.compile(rf"^{name}: [01]\.\d\d$"))).to_have_count(1)
    page.set_viewport_size({"width": 400, "height": 800})
    for heading in ("Story", "Answer", "The query over time"):
        expect(page.get_by_role("heading", name=heading, exact=True)).to_be_visible()
    marks = row.locator(".gates span").evaluate_all(
        "(cells) => cells.map((cell) => getComputedStyle(cell, '::before').content)"
    )
    assert [mark.strip('" ') for mark in marks] == ["z¹", "→r¹", "←r¹", "z²"]


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
