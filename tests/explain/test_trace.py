"""What a trace says is what the network did."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from small_model import QUESTION, STORY, make_reader

from query_reduction.model import Reader


@pytest.fixture
def reader() -> Reader:
    return make_reader()


@pytest.mark.parametrize("variant", ["1r", "2", "2r", "3rv", "2v"])
def test_answer_and_last_ending_agree_with_the_reader(variant: str) -> None:
    reader = make_reader(variant)
    answer = reader.answer(STORY, QUESTION)
    trace = reader.trace(STORY, QUESTION)
    assert trace.answer == answer.text
    assert trace.confidence == pytest.approx(answer.confidence, abs=1e-5)
    assert trace.ending_here is not None
    for ranked in (trace.ranked, trace.ending_here[-1], trace.so_far[-1]):
        assert [text for text, _ in ranked] == [text for text, _ in trace.ranked]
        assert [p for _, p in ranked] == pytest.approx([p for _, p in trace.ranked], abs=1e-5)
    assert sum(p for _, p in trace.ranked) == pytest.approx(1)


def test_endings_are_answers_to_the_story_up_to_there(reader: Reader) -> None:
    trace = reader.trace(STORY, QUESTION)
    assert trace.ending_here is not None
    for after, ranked in enumerate(trace.ending_here, start=1):
        answer = reader.answer(STORY[:after], QUESTION)
        assert ranked[0][0] == answer.text
        assert ranked[0][1] == pytest.approx(answer.confidence, abs=1e-5)


def test_a_short_memory_is_respected() -> None:
    reader = make_reader(memory=2)
    trace = reader.trace(STORY, QUESTION)
    assert trace.sentences == STORY[2:]
    assert trace.skipped == 2
    assert trace.ending_here is not None
    assert trace.ending_here[0][0][0] == reader.answer(STORY[1:3], QUESTION).text
    assert trace.ending_here[0][0][1] == pytest.approx(reader.answer(STORY[:3], QUESTION).confidence, abs=1e-5)


def test_long_stories_have_no_endings_but_all_else() -> None:
    trace = make_reader(memory=0).trace(STORY * 300, QUESTION)
    assert trace.ending_here is None
    assert len(trace.so_far) == len(trace.contributions) == 1200


def test_gates_have_one_value_a_sentence_and_vectors_all_units() -> None:
    trace = make_reader("2rv8").trace(STORY, QUESTION)
    first, last = trace.layers
    assert first.update.shape == first.candidate.shape == first.reduced.shape == (4, 8)
    assert list(first.gates()) == ["update", "reset_forward", "reset_backward"]
    assert list(last.gates()) == ["update"]
    np.testing.assert_allclose(first.gates()["update"], first.update.mean(1))
    assert trace.ranking()[0] == int(trace.contributions.argmax())
    assert trace.shares().sum() == pytest.approx(1, abs=1e-5)


def test_json_round_trip(reader: Reader, tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    trace = reader.trace(STORY, QUESTION)
    trace.save(path)
    read = json.loads(path.read_text(encoding="utf-8"))
    assert read == trace.as_json(vectors=True)
    assert np.array(read["layers"][0]["reduced"]).shape == (4, 50)
    assert "reduced" not in trace.as_json()["layers"][0]
    vector = make_reader("2rv8").trace(STORY, QUESTION).as_json(vectors=True)
    assert np.array(vector["layers"][0]["units"]["reset_backward"]).shape == (4, 8)
