"""What a trace says is what the network did."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from small_model import QUESTION, STORY, make_model

from query_reduction.explain.columns import word_columns
from query_reduction.explain.html import page
from query_reduction.explain.trace import LEAST_TRUST
from query_reduction.model import StoryModel
from query_reduction.network import QueryWords


@pytest.fixture
def model() -> StoryModel:
    return make_model()


@pytest.mark.parametrize("network", ["1r", "2", "2r", "3rv", "2v"])
def test_answer_and_last_ending_agree_with_the_model(network: str) -> None:
    model = make_model(network)
    answer = model.answer(STORY, QUESTION)
    trace = model.explain(STORY, QUESTION)
    assert trace.answer == answer.text
    assert trace.confidence == pytest.approx(answer.confidence, abs=1e-5)
    assert trace.ending_here is not None
    assert trace.so_far is not None
    for ranked in (trace.ranked, trace.ending_here[-1], trace.so_far[-1]):
        assert [text for text, _ in ranked] == [text for text, _ in trace.ranked]
        assert [p for _, p in ranked] == pytest.approx([p for _, p in trace.ranked], abs=1e-5)
    assert sum(p for _, p in trace.ranked) == pytest.approx(1)


def test_endings_are_answers_to_the_story_up_to_there(model: StoryModel) -> None:
    trace = model.explain(STORY, QUESTION)
    assert trace.ending_here is not None
    for after, ranked in enumerate(trace.ending_here, start=1):
        answer = model.answer(STORY[:after], QUESTION)
        assert ranked[0][0] == answer.text
        assert ranked[0][1] == pytest.approx(answer.confidence, abs=1e-5)


def test_a_short_memory_is_respected() -> None:
    model = make_model(memory=2)
    trace = model.explain(STORY, QUESTION)
    assert trace.sentences == STORY[2:]
    assert trace.beyond_memory == 2
    assert trace.ending_here is not None
    assert trace.ending_here[0][0][0] == model.answer(STORY[1:3], QUESTION).text
    assert trace.ending_here[0][0][1] == pytest.approx(model.answer(STORY[:3], QUESTION).confidence, abs=1e-5)


def test_long_stories_have_no_endings_but_all_else() -> None:
    trace = make_model(memory=0).explain(STORY * 300, QUESTION)
    assert trace.ending_here is None
    assert trace.so_far is not None
    assert len(trace.so_far) == len(trace.contributions) == 1200


def test_gates_have_one_value_a_sentence_and_vectors_all_units() -> None:
    trace = make_model("2rv8").explain(STORY, QUESTION)
    first, last = trace.layers
    assert first.candidate is not None and first.reduced is not None
    assert first.gates["update"].shape == first.candidate.shape == first.reduced.shape == (4, 8)
    assert list(first.gates) == list(first.mean_gates()) == ["update", "reset_forward", "reset_backward"]
    assert list(last.gates) == ["update"]
    np.testing.assert_allclose(first.mean_gates()["update"], first.gates["update"].mean(1))
    assert trace.ranking()[0] == int(trace.contributions.argmax())
    assert trace.shares().sum() == pytest.approx(1, abs=1e-5)


def test_json_round_trip(model: StoryModel, tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    trace = model.explain(STORY, QUESTION)
    trace.save(path)
    read = json.loads(path.read_text(encoding="utf-8"))
    assert read == trace.as_json(vectors=True)
    assert np.array(read["layers"][0]["reduced"]).shape == (4, 50)
    assert "reduced" not in trace.as_json()["layers"][0]
    vector = make_model("2rv8").explain(STORY, QUESTION).as_json(vectors=True)
    assert np.array(vector["layers"][0]["units"]["reset_backward"]).shape == (4, 8)


def test_words_that_would_mislead_are_not_shown() -> None:
    trace = make_model().explain(STORY, QUESTION)
    layer = tuple("Where is Mary" for _ in trace.sentences)
    trust = tuple(LEAST_TRUST + (0.05 if place % 2 else -0.05) for place in range(len(layer)))
    words = QueryWords("Where is Mary", (layer,), (layer,), (trust,), (tuple(0.0 for _ in layer),))
    spoken = replace(trace, in_words=words)
    so_far, whole = (texts for _, texts in word_columns(spoken))
    assert set(so_far) == {""}
    assert whole == tuple("Where is Mary 75%" if place % 2 else "" for place in range(len(layer)))
    assert spoken.as_json()["queries_trust"] == [[pytest.approx(value) for value in trust]]
    assert "Where is Mary 75%" in page(spoken)
