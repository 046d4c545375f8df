"""Files with the states of things, and places of answers in SQuAD's."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from query_reduction.errors import InputError
from query_reduction.sources.named import load_parts
from query_reduction.text.formats.readers import read_file
from query_reduction.text.tracks import tracks_of

OWN = {"sentences": ["Rain falls.", "Plants drink."], "tracks": {"water": ["cloud", "soil", "plants"]}}
PROPARA = {
    "para_id": "7",
    "sentence_texts": ["Rain falls.", "Plants drink."],
    "participants": ["water"],
    "states": [["cloud", "soil", "plants"]],
}


@pytest.mark.parametrize("record", [OWN, PROPARA])
def test_states_of_things_are_read(record: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "stories.jsonl"
    path.write_text(json.dumps(record) + "\n")
    (story,) = read_file(path)
    assert story.sentences == ("Rain falls.", "Plants drink.")
    assert tracks_of(story) == {"water": {0: "cloud", 1: "soil", 2: "plants"}}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"tracks": {"water": ["cloud"]}}, "has 1 states; 2 or 3 are needed"),
        ({"tracks": {"water": ["cloud", "soil", 3]}}, "must be a text"),
        ({"tracks": {"": ["cloud", "soil"]}}, "needs a name"),
        ({"tracks": ["water"]}, "'tracks' must be an object"),
        ({"sentences": []}, "at least one sentence"),
        ({"sentences": "Rain falls."}, "must be a list of texts"),
    ],
)
def test_bad_states_are_named(changes: dict[str, Any], message: str, tmp_path: Path) -> None:
    path = tmp_path / "stories.jsonl"
    path.write_text(json.dumps({**OWN, **changes}) + "\n")
    with pytest.raises(InputError, match=message):
        read_file(path)


def test_the_files_of_propara_are_a_source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for part in ("train", "dev", "test"):
        (tmp_path / f"grids.v1.{part}.json").write_text(json.dumps(PROPARA) + "\n" + json.dumps(PROPARA) + "\n")
    monkeypatch.setenv("QRN_DATA", str(tmp_path))
    parts = load_parts("propara", None)
    assert [len(stories) for stories in (parts.train, parts.dev, parts.test)] == [2, 2, 2]
    assert load_parts(str(tmp_path), None).checksum() == parts.checksum()
    monkeypatch.setenv("QRN_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(InputError, match="ProPara is not under"):
        load_parts("propara", None)


def _squad(context: str, answer: str, start: int, path: Path) -> tuple[int, int, int] | None:
    qas = [{"id": "1", "question": "Where?", "answers": [{"text": answer, "answer_start": start}]}]
    value = {"data": [{"title": "", "paragraphs": [{"context": context, "qas": qas}]}]}
    path.write_text(json.dumps(value))
    (story,) = read_file(path)
    return story.questions[0].span


def test_squad_keeps_where_an_answer_stands(tmp_path: Path) -> None:
    context = "  The cat sat on the mat.  The mat was red."
    assert _squad(context, "mat", context.rindex("mat"), tmp_path / "a.json") == (1, 4, 7)
    assert _squad(context, "mat", context.index("mat"), tmp_path / "a.json") == (0, 19, 22)
    assert _squad(context, "mat", 0, tmp_path / "a.json") is None
    assert _squad(context, "mat", -1, tmp_path / "a.json") is None
    assert _squad(context, "mat.  The", context.index("mat"), tmp_path / "a.json") is None
