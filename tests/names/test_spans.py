"""Names in stories: discovered, given, or found by another function."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from query_reduction.errors import InputError
from query_reduction.names import Symmetries
from query_reduction.names.spans import discovered_names, read_names, spans_by
from query_reduction.names.symbols import Span
from query_reduction.names.units import Units
from query_reduction.reading.stories import StoryOptions, StoryParts
from query_reduction.text.stories import Question, Story
from query_reduction.worlds import generate, load_language

FOUND = Symmetries(
    kinds=(("иван", "анна"), ("кухня", "сад"), ("пошёл", "поехал")),
    units=Units(names={"кухню": "кухня", "кухня": "кухня", "пошла": "пошёл", "пошёл": "пошёл"}),
    contexts={"@question где @_": (0,), "@sentence @0 @2 в @_": (1,), "@question был @0 в @_": (1,)},
)
STORY = ["Анна пошла в кухню.", "Где Анна?"]


def nothing(texts: Sequence[str]) -> list[list[Span]]:
    return [[] for _ in texts]


def test_kinds_that_are_asked_about_are_names() -> None:
    assert discovered_names(FOUND) == {"иван", "анна", "кухня", "сад"}
    told, asked = spans_by(FOUND, (), nothing)(STORY)
    assert told == [(0, 4, "анна"), (13, 18, "кухня")]
    assert asked == [(4, 8, "анна")]


def test_given_names_come_after_discovered_ones_and_before_others(tmp_path: Path) -> None:
    path = tmp_path / "names.txt"
    path.write_text("Ann Smith\nBenjamin\nWien\tWiener\n", encoding="utf-8")
    spans = spans_by(FOUND, read_names(path), lambda texts: [[(0, 1, "other")] for _ in texts])
    told, asked = spans(["Benjamin's aunt is Ann Smith.", "Where is the Wiener?"])
    assert told == [(0, 8, "benjamin"), (19, 28, "ann smith")]
    assert asked == [(13, 19, "wien")]
    assert spans(["Kim is here.", "Where is Kim?"]) == [[(0, 1, "other")], [(0, 1, "other")]]
    assert spans(STORY)[1] == [(4, 8, "анна")]


def test_a_file_without_names_is_named(tmp_path: Path) -> None:
    (tmp_path / "empty.txt").write_text("\n \n", encoding="utf-8")
    for name, complaint in (("empty.txt", "1 to 1000000 names"), ("none.txt", "no such file")):
        with pytest.raises(InputError, match=complaint):
            read_names(tmp_path / name)


def test_names_that_are_found_become_symbols_in_any_script() -> None:
    stories = generate(1, 400, seed=3, words=load_language("chinese"))
    parts = StoryParts("worlds", stories)
    task = parts.learn(StoryOptions(names="symbols", symmetries=True), stories)
    read = task.read(["玛丽去了花园。", "约翰走到厨房。"], "玛丽在哪里？")
    assert read.asked.text == "name_1在哪里？"
    assert read.sentences[0].text.startswith("name_1去了") and read.sentences[1].text.startswith("name_2走到")


def test_a_given_list_says_what_becomes_a_symbol() -> None:
    story = Story(("the hall sensor saw tom.",), (Question("where is tom?", "hall", 1),))
    task = StoryParts("own", [story]).learn(StoryOptions(names="symbols", name_list="tom\nhall sensor"), [story])
    assert task.read(story.sentences, "where is tom?").sentences[0].text == "the name_2 saw name_1."
