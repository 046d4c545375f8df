"""Pictures of a trace: terminal, HTML, PNG and SVG."""

from __future__ import annotations

import io
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from query_reduction_lab.rivals.neural_reasoner import NeuralReasonerConfig
from rich.console import Console
from small_model import QUESTION, STORY, make_model

import query_reduction
from query_reduction.errors import InputError
from query_reduction.explain.columns import gate_columns, legend, red
from query_reduction.explain.html import page
from query_reduction.explain.terminal import gate_table
from query_reduction.model import StoryModel


@pytest.fixture
def model() -> StoryModel:
    return make_model()


class _Elements(HTMLParser):
    """Elements in order, and the text of each row of the tables."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.rows: list[str] = []
        self.open: list[str] = []
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag != "meta":
            self.open.append(tag)
        if tag == "tr":
            self.rows.append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "tr" in self.open:
            self.rows[-1] += data


def test_terminal_shows_all_gates(model: StoryModel) -> None:
    console = Console(width=140, record=True, file=io.StringIO())
    trace = model.explain(STORY, QUESTION)
    console.print(gate_table(trace, width=140))
    text = console.export_text()
    for sentence in STORY:
        assert sentence in text
    for heading in ("z¹", "→r¹", "←r¹", "z²", "share", "update gate"):
        assert heading in text
    assert f"{trace.layers[0].gates['update'][2, 0]:.2f}" in text
    console.print(gate_table(trace, width=140, most=1))
    text = console.export_text()
    assert sum(sentence in text for sentence in STORY) == 1
    assert "contributed less" in text


@pytest.mark.parametrize("name", ["task2", "joint"])
def test_a_narrow_terminal_leaves_room_for_the_sentences(name: str) -> None:
    console = Console(width=80, record=True, file=io.StringIO())
    model = query_reduction.load(name)
    assert isinstance(model, StoryModel)
    console.print(gate_table(model.explain(STORY, QUESTION), width=80))
    text = console.export_text()
    assert "z¹" in text
    assert "…" not in text
    lines = text.splitlines()
    assert max(map(len, lines)) <= 80
    for sentence in STORY:
        assert any(line.startswith(sentence) for line in lines)
    assert not any(line.lstrip().startswith("%") for line in lines)
    for meaning in ("update gate", "share:", "raised number"):
        assert meaning in text


def test_the_reduced_question_in_words_stands_beside_its_trust() -> None:
    console = Console(width=80, record=True, file=io.StringIO())
    model = query_reduction.load("task2")
    assert isinstance(model, StoryModel)
    story = ["Daniel took the apple there.", "Sandra went to the hallway.", "Daniel journeyed to the garden."]
    trace = model.explain(story, "Where is the apple?")
    assert trace.in_words is not None and set(trace.in_words.queries[0]) == {"where is daniel"}
    console.print(gate_table(trace, width=80))
    assert any("here is" in line and "%" in line for line in console.export_text().splitlines())


def test_a_terminal_of_half_the_width_keeps_the_update_gates() -> None:
    console = Console(width=40, record=True, file=io.StringIO())
    console.print(gate_table(make_model().explain(STORY, QUESTION), width=40))
    lines = console.export_text().splitlines()
    assert max(map(len, lines)) <= 40
    assert "z¹" in lines[0]
    assert "r¹" not in lines[0]


@pytest.mark.parametrize(
    ("network", "mark", "name", "stage"),
    [
        ("memn2n", "p", "attention", "hop"),
        ("gmemn2n", "p", "attention", "hop"),
        ("dmn", "p", "attention", "pass"),
        ("agru", "p", "attention", "pass"),
        ("ut", "p", "attention", "step"),
        ("entnet", "g", "mean gate of the memory slots", "layer"),
        (NeuralReasonerConfig(pooling="max"), "m", "pooling", "layer"),
    ],
)
def test_columns_have_the_words_of_the_network(network: Any, mark: str, name: str, stage: str, tmp_path: Path) -> None:
    trace = make_model(network).explain(STORY, QUESTION)
    columns = gate_columns(trace)
    assert (columns[0].title, columns[0].name) == (f"{mark}¹", f"{name}, {stage} 1")
    lines = legend(columns, [])
    assert any(line.startswith(f"{mark}  ") for line in lines)
    assert f"raised number: the {stage}" in lines
    averaged = {"hop": "the hops", "pass": "the passes", "step": "the steps", "layer": "the layers"}[stage]
    assert lines[-1].endswith("the size of its updates" if mark == "g" else averaged)
    assert f">{name}, {stage} 1<" in page(trace)
    pytest.importorskip("matplotlib")
    from query_reduction.explain.picture import write_picture

    write_picture(trace, tmp_path / "trace.svg")
    assert f"<!-- {stage.capitalize()} 1 -->" in (tmp_path / "trace.svg").read_text(encoding="utf-8")


def test_paper_red() -> None:
    assert (red(0), red(1), red(0.5)) == ("#ffffff", "#ff0000", "#ff8080")


def test_html_escapes_and_needs_nothing_from_outside() -> None:
    evil = "<script>alert('x')</script> & <img src=http://example.org/x>"
    trace = make_model().explain([*STORY, evil], QUESTION + evil)
    text = page(trace)
    elements = _Elements(text)
    assert {tag for tag, _ in elements.elements} <= {
        *("html", "head", "meta", "title", "style", "body", "section", "p", "strong", "span", "div", "small", "i", "b"),
        *("table", "thead", "tbody", "tr", "th", "td", "sup", "details", "summary", "h1", "h2", "main"),
    }
    assert all(not {"src", "href"} & set(attributes) for _, attributes in elements.elements)
    assert "url(" not in text
    assert "@import" not in text
    assert any(evil in row for row in elements.rows)


def test_every_gate_of_the_page_has_a_heading_in_words(model: StoryModel) -> None:
    text = page(model.explain(STORY, QUESTION))
    for layer, name in ((1, "update gate"), (1, "forward reset gate"), (1, "backward reset gate"), (2, "update gate")):
        assert f">{name}, layer {layer}<" in text
    headings = [attributes for tag, attributes in _Elements(text).elements if tag == "th"]
    assert all(attributes.get("scope") in ("col", "row") for attributes in headings)


def test_long_story_starts_with_what_mattered() -> None:
    sentences = [f"Mary went to the garden {number}." for number in range(1200)]
    trace = make_model(memory=0).explain(sentences, QUESTION)
    elements = _Elements(page(trace))
    assert sum(tag == "details" for tag, _ in elements.elements) == 1
    rows = [row for row in elements.rows if not row.startswith("#")]
    assert len(rows) == 20 + 1200
    for number, row in zip(trace.ranking()[:20], rows[:20], strict=True):
        assert f"Mary went to the garden {number}." in row


def test_notebook_display(model: StoryModel) -> None:
    shown = model.explain(STORY, QUESTION)._repr_html_()
    assert "<section" in shown
    assert "<body" not in shown


@pytest.mark.parametrize(("ending", "start"), [("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")])
def test_pictures(model: StoryModel, tmp_path: Path, ending: str, start: bytes) -> None:
    pytest.importorskip("matplotlib")
    from query_reduction.explain.picture import write_picture

    path = tmp_path / f"trace.{ending}"
    trace = model.explain([*STORY, "It costs $5 and $6 _{x}."], QUESTION)
    write_picture(trace, path)
    assert path.read_bytes().startswith(start)
    assert list(tmp_path.iterdir()) == [path]


def test_unknown_picture_format(model: StoryModel, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    from query_reduction.explain.picture import write_picture

    with pytest.raises(InputError, match=r"end in \.png"):
        write_picture(model.explain(STORY, QUESTION), tmp_path / "trace.bmp")
