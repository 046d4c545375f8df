"""Both evaluations of ProPara: against the official scores, and by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from places import REAL_DATA
from query_reduction_lab.propara.document import Grid, document_scores
from query_reduction_lab.propara.recovered import named_as_in, recovered_labels
from query_reduction_lab.propara.sentence import Event, read_labels, sentence_scores
from query_reduction_lab.propara.study import controls

pytest.importorskip("snowballstemmer", reason="ProPara is scored with snowballstemmer")
FOLDER = REAL_DATA / "propara"


def _official() -> list[dict[str, Any]]:
    path = FOLDER / "scored" / "official-scores.json"
    found: list[dict[str, Any]] = json.loads(path.read_text()) if path.is_file() else []
    return found


def _grids(path: Path, names: dict[str, list[str]]) -> dict[str, Grid]:
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    return {row["para_id"]: dict(zip(names[row["para_id"]], row["states"], strict=True)) for row in rows}


@pytest.mark.skipif(not _official(), reason="needs the scored files of ProPara in shared/data")
@pytest.mark.parametrize("official", _official(), ids=lambda scores: scores["file"])
def test_the_document_level_agrees_with_the_official_scores(official: dict[str, Any]) -> None:
    part = FOLDER / f"grids.v1.{official['file'].split('.')[1]}.json"
    names = {row["para_id"]: row["participants"] for row in map(json.loads, part.read_text().splitlines())}
    scores = document_scores(_grids(part, names), _grids(FOLDER / "scored" / official["file"], names))
    found = {"precision": scores.precision, "recall": scores.recall, "f1": scores.f1}
    assert {name: round(100 * round(value, 3), 1) for name, value in found.items()} == official["document"]


@pytest.mark.skipif(not _official(), reason="needs the scored files of ProPara in shared/data")
def test_recovered_labels_come_near_the_official_sentence_level() -> None:
    part = FOLDER / "grids.v1.test.json"
    names = {row["para_id"]: row["participants"] for row in map(json.loads, part.read_text().splitlines())}
    labels = recovered_labels(FOLDER / "sentence-level-gold.test.tsv")
    for official in _official():
        if ".test." in official["file"]:
            grids = named_as_in(labels, _grids(FOLDER / "scored" / official["file"], names))
            scores = sentence_scores(labels, grids)
            assert scores.macro == pytest.approx(official["sentence"]["macro"], abs=1.5)
            assert scores.categories[0] == pytest.approx(official["sentence"]["cat1"], abs=0.8)


GOLD: dict[str, Grid] = {
    "1": {
        "water; liquid": ["soil", "root", "leaf", "-"],
        "sugar": ["-", "-", "-", "leaf"],
        "light": ["?", "?", "?", "?"],
    }
}


def test_the_truth_is_right_and_saying_nothing_is_precise() -> None:
    truth = document_scores(GOLD, GOLD)
    assert (truth.precision, truth.recall, truth.f1) == (1, 1, 1)
    for nothing in controls(GOLD).values():
        assert document_scores(GOLD, nothing).precision == 1
        assert document_scores(GOLD, nothing).recall == 0


def test_a_wrong_place_costs_a_third_of_a_move() -> None:
    moved = {"1": {**GOLD["1"], "water; liquid": ["soil", "stem", "leaf", "-"]}}
    scores = document_scores(GOLD, moved)
    assert scores.recall == pytest.approx((1 + 1 + 1 + round(2 / 3, 3)) / 4)


def test_the_sentence_level_by_hand() -> None:
    labels = {
        "1": [
            [
                Event(1, "water", "move", "soil", "root"),
                Event(3, "water", "destroy", "the leaf", "-"),
                Event(3, "sugar", "create", "-", "a leaf"),
            ]
        ]
    }
    right = sentence_scores(labels, {"1": {**GOLD["1"], "water; liquid": ["soil", "root", "root", "-"]}})
    assert right.categories == (100, 100, 75)  # it was destroyed at the root, not at the leaf
    assert right.macro == pytest.approx(275 / 3)
    late = sentence_scores(labels, {"1": {"water": ["soil", "soil", "root", "-"], "sugar": ["-", "-", "-", "-"]}})
    assert late.categories == pytest.approx((250 / 3, 100 / 3, 25))


def test_labels_are_read_annotator_by_annotator(tmp_path: Path) -> None:
    path = tmp_path / "labels.tsv"
    end = "\t\t\t\tfull grid"
    rows = [
        "PID\tSID\tStep\tParticipant\tType\tFrom\tTo\tPa\tFr\tTo\tSource",
        f"7\t2\tIt goes.\twater; rain\tmove\tsoil\troot{end}",
        "\t" * 10,
        f"7\t3\tIt goes on.\twater\tdestroy\t?\t-{end}",
        "\t" * 10,
        f"8\t1\tOther.\tx\tmove\t?\t?{end}",
        "\t" * 10,
    ]
    path.write_text("\n".join(rows) + "\n")
    labels = read_labels(path, {"7"})
    assert [[event.thing for event in events] for events in labels["7"]] == [["water", "rain"], ["water"]]
