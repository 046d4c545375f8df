"""StepGame and CLUTRR: read as they are published."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from places import REAL_DATA

from query_reduction.errors import InputError
from query_reduction.sources.hops import clutrr, find_hops, stepgame
from query_reduction.sources.named import load_parts

STEP = {
    "0": {
        "story": ["X is left of K."],
        "question": "What is the relation of the agent X to the agent K?",
        "label": "left",
    }
}
ROWS = (
    "id,story,query,target,task_name,edge_types,story_edges,query_edge\n"
    """1,"[Ann]'s brother [Bob] left. [Bob] is the father of [Cy]","('Cy', 'Ann')",aunt,task_1.2,"""
    """"['father', 'sister']","[(0, 1), (1, 2)]","(0, 2)"\n"""
)


def test_stepgame(tmp_path: Path) -> None:
    for name in ("clean_k2_train", "clean_k1_train", "clean_k1_valid", "noise_k10_valid"):
        (tmp_path / f"{name}.json.gz").write_bytes(gzip.compress(json.dumps(STEP).encode()))
    parts = load_parts(str(tmp_path), None)
    assert parts.name == "stepgame"
    assert [story.task for story in parts.train] == ["1", "2"]
    assert ([story.task for story in parts.dev], [story.task for story in parts.test]) == (["1"], ["10"])
    assert parts.train[0].questions[0].answer == "left"
    with pytest.raises(InputError, match="task has no effect"):
        load_parts(str(tmp_path), "1")


def test_clutrr(tmp_path: Path) -> None:
    for name in ("1.2-1.3_train", "1.10_test"):
        (tmp_path / f"{name}.csv").write_text(ROWS)
    parts = load_parts(str(tmp_path), None)
    (story,) = parts.train
    assert story.sentences == ("[Ann]'s brother [Bob] left.", "[Bob] is the father of [Cy]")
    assert story.questions[0].text == "How is [Ann] related to [Cy]?"
    assert (story.questions[0].answer, story.task) == ("aunt", "2")
    (edges,) = clutrr(tmp_path, edges=True).test
    assert edges.sentences == ("[P1] is the father of [P0].", "[P2] is the sister of [P1].")
    assert edges.questions[0].text == "How is [P2] related to [P0]?"


def test_what_is_wrong_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "clean_k1_train.json").write_text('{"0": {"story": []}}')
    with pytest.raises(InputError, match="record 0 lacks"):
        stepgame(tmp_path)
    (tmp_path / "1.2_test.csv").write_text("id,story\n1,hello\n")
    with pytest.raises(InputError, match=r"1\.2_test\.csv:2: this is not a row of CLUTRR"):
        clutrr(tmp_path)
    monkeypatch.setenv("QRN_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(InputError, match="stepgame is not under"):
        find_hops("stepgame")


@pytest.mark.skipif(not (REAL_DATA / "stepgame").is_dir(), reason="StepGame is not here: set QRN_DATA")
def test_published_stepgame() -> None:
    parts = stepgame(REAL_DATA / "stepgame")
    assert (len(parts.train), len(parts.dev), len(parts.test)) == (50_000, 5_000, 10_000)


@pytest.mark.skipif(not (REAL_DATA / "clutrr" / "train-2-3").is_dir(), reason="CLUTRR is not here: set QRN_DATA")
def test_published_clutrr() -> None:
    parts = clutrr(REAL_DATA / "clutrr" / "train-2-3")
    assert (len(parts.train), len(parts.test)) == (10_094, 1_146)
    assert {story.task for story in parts.train} == {"2", "3"}
