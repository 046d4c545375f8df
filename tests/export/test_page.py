"""The exported page, in a real browser and offline: it reads, answers and shows gates as Python does."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from exported import VARIANTS, model_of_prose, model_of_tables, model_of_variant, model_that_knows_names
from models.own_stories import OWN_STORIES

import query_reduction as qr
from query_reduction import worlds
from query_reduction.cli import main
from query_reduction.export.page import page_of
from query_reduction.model import StoryModel

pytest.importorskip("playwright.sync_api", reason="needs playwright")
from playwright.sync_api import Browser, Page, expect

pytestmark = pytest.mark.browser

NEAR = 1e-4
MOST_BYTES = 500_000

Opened = Callable[[StoryModel | str], Page]


@pytest.fixture
def opened(browser: Browser, tmp_path: Path) -> Iterator[Opened]:
    """Opens the page of a model, with the network cut off; complaints of the browser are failures."""
    context = browser.new_context(offline=True)
    complaints: list[str] = []

    def open_page(model: StoryModel | str) -> Page:
        path = tmp_path / "page.html"
        if isinstance(model, str):
            assert main(["export", model, "--to", str(path)]) == 0
        else:
            path.write_text(page_of(model, "A <b>title</b>", [], ""), encoding="utf-8")
        assert path.stat().st_size <= MOST_BYTES
        page = context.new_page()
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", lambda request: None if request.url.startswith("file:") else complaints.append(request.url))
        page.goto(path.as_uri())
        return page

    yield open_page
    context.close()
    assert complaints == []


def assert_same(page: Page, model: StoryModel, story: list[str], question: str) -> None:
    """Answer, probabilities, gates, contributions, and everything said about the reading."""
    found: dict[str, Any] = page.evaluate("([story, question]) => qrn.answer(story, question)", [story, question])
    trace = model.explain(story, question, endings=False)
    about = f"{story} {question}"
    expected = trace.as_json()
    for name in (*trace.read.as_json(), "story", "sentences", "positions"):
        assert found[name] == expected[name], (name, about)
    assert found["confidence"] == pytest.approx(trace.confidence, abs=NEAR), about
    for one, (_, probability) in zip(found["ranked"], trace.ranked, strict=False):
        assert one["probability"] == pytest.approx(probability, abs=NEAR), about
    if trace.ranked[0][1] - trace.ranked[min(1, len(trace.ranked) - 1)][1] > NEAR:
        assert found["answer"] == trace.answer, about
    assert found["shares"] == pytest.approx(trace.shares().tolist(), abs=NEAR), about
    for layer, read in zip(found["layers"], trace.layers, strict=True):
        for name, values in read.mean_gates().items():
            assert layer["gates"][name] == pytest.approx(values.tolist(), abs=NEAR), (name, about)


def story_model(name: str) -> StoryModel:
    model = qr.load(name)
    assert isinstance(model, StoryModel)
    return model


@pytest.mark.parametrize("name", [*dict.fromkeys(name for name, *_ in OWN_STORIES), "joint"])
def test_own_stories_are_answered_as_python_answers_them(opened: Opened, name: str) -> None:
    page, model = opened(name), story_model(name)
    own = [one for one in OWN_STORIES if name in (one[0], "joint")]
    assert own
    for _, story, question, _ in own:
        assert_same(page, model, [story], question)
    for task in [1, 2, 3] if name == "joint" else [int(name.removeprefix("task"))]:
        for told in worlds.generate(task, 6, seed=9, split="test"):
            for asked in told.questions:
                assert_same(page, model, list(told.sentences[: asked.after]), asked.text)


@pytest.mark.parametrize(("name", "changes"), VARIANTS, ids=lambda value: value if isinstance(value, str) else "")
def test_every_kind_of_network(opened: Opened, name: str, changes: dict[str, Any]) -> None:
    model = model_of_variant(name, changes)
    page = opened(model)
    for told in worlds.generate(1, 8, seed=4):
        for asked in told.questions:
            assert_same(page, model, list(told.sentences[: asked.after]), asked.text)
    long = [sentence for told in worlds.generate(1, 150, seed=5) for sentence in told.sentences][:300]
    assert_same(page, model, long, "Where is Mary?")
    assert_same(page, model, ["Mary went to the garden."], "Where is Mary?")


NAMES = ["Zelda went to the attic. Mary went back to the living room. Where?", "Zelda moved to the kitchen."]


def test_names_never_heard(opened: Opened) -> None:
    model = model_that_knows_names()
    page = opened(model)
    told = [f"{who} went to the kitchen." for who in ("Ann", "Bob", "Cleo", "Dora", "Emil")]
    for story, question in [
        (NAMES[:1], "Where is Zelda?"),
        (NAMES, "Where is zelda?"),
        (told, "Where is Emil?"),
        ([*told, "Blah blah blah blah.", "Mary frobbed the garden"], "Where is Ann?"),
        (["Zoe\u0308 went to the café de flore.", "JOHN WENT BACK TO THE GARDEN"], "Where is Zoë?"),
        (["Foo bar baz."], "Qux?"),
        (["Where is Zork.", "Mary went to the garden."], "Where is Mary?"),
        (["Where is Zork.", "Zork went to the garden."], "Where is Mary?"),
        (["Quickly Mary went.", "Mary travelled to the old office 7 🙂."], "Where is Mary?"),
        (
            ["The nurse went to ward 3.", "Mary Smith moved to the office 2.", "Nurse moved to Paris."],
            "Where is the nurse?",
        ),
        (["Mary quickly went to the office.", "Mary went to sleep.", "John is back."], "Where is Mary Smith?"),
        (["Zoë Washburne walked over to pier 4.", "Zoë Washburne went to bay 4."], "Where is Zoë Washburne?"),
        (["The nurse went to ward 3.", "Then she went to bay 4.", "HE WENT TO BAY 4."], "Where is the nurse?"),
        (["Zoë went to bay 4.", "Then Zoë moved to the IT room.", "Zoë then went to the office."], "Where is Zoë?"),
        (["Then the nurse went to bay 4.", "Later her cat went to bay 4.", "Mary moved to its bay."], "Where is it?"),
        (["Ann Li went to bay 4.", "Li went to the office.", "Li, who is old, went to bay 5."], "Then where is Ann?"),
        (["The cat 2 went to bay 3 quickly.", "Mary went to the Δ 3", "The the went to 4."], "Where is cat 2?"),
    ]:
        assert_same(page, model, story, question)


def test_words_told_apart_by_their_neighbours(opened: Opened) -> None:
    model = model_of_tables()
    page = opened(model)
    for story in (["Dan saw many sheep.", "Ann saw the sheep."], ["Eve saw many lynxes.", "Bob saw the lynx."]):
        for question in ("Who saw many sheep?", "Who saw many lynxes?", "Who saw the sheep?"):
            assert_same(page, model, story, question)


PROSE = [
    'Mr. Smith went to Washington. "Really?" she asked. He left at 5 p.m. The end.',
    "I am J. R. Hartley, of Acme Inc. The shop opened in Jan. 1999, no. 7, e.g. on p. 3. It was … odd!",
    "1. Open the lid. 2. (Pour it out.) a. done\n\nU.S. troops left; costs were $3.50, or 10:30 h – 5 %.",
    "今天下雨。明天呢？好！「是」。マリアは行った。मरियम बगीचे में गयी। وأين ماري؟ ذهبت.",
    "L’été, don't; well-known “quotes” (brackets). ÜBER Straße, STRASSE, ΟΔΟΣ οδός, İstanbul ısı ﬁne.",
    "Zoe\u0308 🙂👩‍💻👍🏽 likes C++ & C#, 50 ‰, §7, x² = 4 ½\u00a0m, a_b, naïve\u2028new line\x85next\x1cand so on.",
    "!!! ... ??? .!? …   \t \r\n . x. y.z Ph.D. students etc. And then co. The rest, al. He. I. We did.",
    "ſtrange Kelvin K, Åström, ǅ titlecase, ŉ, ΐ, ẞ ß, Ꭰ cherokee, \u1e9e.",
]


def test_any_writing(opened: Opened) -> None:
    """Prose, abbreviations, symbols, scripts, Unicode forms: sentences and words are those of Python."""
    model = model_of_prose(PROSE)
    page = opened(model)
    for text in PROSE:
        assert_same(page, model, [text], "Who is Zoe\u0308, ZOË?")
    pieces = [piece for text in PROSE for piece in text.split(" ")]
    chance = random.Random(3)
    for _ in range(150):
        story = [" ".join(chance.sample(pieces, chance.randrange(1, 12))) for _ in range(chance.randrange(1, 5))]
        if any(map(str.strip, story)):
            assert_same(page, model, story, " ".join(chance.sample(pieces, 3)))


def test_what_is_typed_is_answered_at_once(opened: Opened) -> None:
    page = opened("task2")
    expect(page.get_by_role("heading", level=1)).to_have_text("Two supporting facts")
    assert page.locator("#answer").inner_text() not in ("", "–"), "it opens with a story of its task"
    page.get_by_label("Story").fill("Mary got the milk. Mary went to the garden.\nZaphod <b>left</b>.")
    page.get_by_label("Question").fill("Where is the milk?")
    expect(page.locator("#answer")).to_have_text("garden")
    expect(page.locator("tbody tr")).to_have_count(3)
    expect(page.locator("#notes")).to_contain_text("Zaphod")
    expect(page.locator("tbody td.share")).to_have_count(2)
    expect(page.locator("tbody td.gate")).to_have_count(2 * 4)
    page.get_by_label("Story").fill("")
    expect(page.locator("#answer")).to_have_text("–")
    expect(page.locator("#reading")).to_be_hidden()


def test_a_title_is_text(opened: Opened) -> None:
    page = opened(model_of_variant("2r8", {}))
    expect(page.get_by_role("heading", level=1)).to_have_text("A <b>title</b>")
    expect(page.locator("#sure")).to_have_text("Write a story and a question.")
