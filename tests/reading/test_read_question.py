"""A question is read once, into one value that answers, traces and JSON have."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import FrozenInstanceError
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

import query_reduction as qr
from query_reduction.model import StoryModel
from query_reduction.reading import reading
from query_reduction.serve.app import create_app
from query_reduction.text.vocabulary import Vocabulary

STORY = ["Zoë went to the attic.", "Blorp frimmed zat.", "Zoë went to the attic.", "John went to the garden."]
QUESTION = "Where is Zoë?"


@pytest.fixture
def model() -> StoryModel:
    found = qr.load("task1")
    assert isinstance(found, StoryModel)
    return found


def counting(monkeypatch: pytest.MonkeyPatch, owner: object, name: str) -> Counter[str]:
    """Counts by text what a function is called with."""
    calls: Counter[str] = Counter()
    function: Callable[..., Any] = getattr(owner, name)

    def counted(*given: Any) -> Any:
        calls[given[-1]] += 1
        return function(*given)

    monkeypatch.setattr(owner, name, counted)
    return calls


def test_every_text_is_cut_into_words_once(model: StoryModel, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = counting(monkeypatch, Vocabulary, "_words_and_ids")
    trace = model.explain_read(model.read(STORY, QUESTION))
    assert trace.answer == "attic"
    # As written, and once more with known names: nothing else.
    assert set(calls) >= {*STORY, QUESTION} and len(calls) == 6
    assert set(calls.values()) == {1}


@pytest.mark.parametrize("path", ["/api/answer", "/api/trace"])
def test_a_request_is_split_into_sentences_once(model: StoryModel, path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    import asyncio

    calls = counting(monkeypatch, reading, "split_sentences")
    app = create_app({"task1": model}, None, frozenset({"test"}))

    async def ask() -> httpx.Response:
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://test") as client:
            return await client.post(path, json={"model": "task1", "sentences": STORY[:2], "question": QUESTION})

    assert asyncio.run(ask()).status_code == 200
    assert calls == Counter(STORY[:2])


def test_one_value_says_the_same_everywhere(model: StoryModel) -> None:
    read = model.read(STORY, QUESTION)
    answer, trace = model.answer(STORY, QUESTION), model.explain(STORY, QUESTION)
    assert answer.read == trace.read == trace.result.read == read
    assert trace.as_json().items() >= answer.as_json().items() >= read.as_json().items()
    assert (read.omitted, read.kept, read.sentence_count) == ((1,), (0, 2, 3), 4)
    assert [sentence.text for sentence in read.sentences][1] == read.sentences[0].text
    assert read.sentences[0].words[0] != "Zoë" and read.story[0].startswith("Zoë")
    assert hash(answer) == hash(model.answer(STORY, QUESTION))
    with pytest.raises(FrozenInstanceError):
        read.omitted = ()  # type: ignore[misc]


def test_old_names_say_what_they_are_called_now(model: StoryModel) -> None:
    answer = model.answer(STORY, QUESTION)
    old = {
        "told": "sentence_count",
        "skipped": "beyond_memory",
        "left_out": "omitted",
        "read_as": "substituted",
        "untold": "unmentioned",
        "guess": "is_guess",
    }
    for before, now in old.items():
        with pytest.warns(DeprecationWarning, match=f"{before} is called {now}"):
            assert getattr(answer, before) == getattr(answer, now)
    trace = model.explain(STORY, QUESTION)
    with pytest.warns(DeprecationWarning, match="called result"):
        assert trace.as_answer() == trace.result
    with pytest.warns(DeprecationWarning, match=r"called in_words\.queries"):
        assert trace.queries_in_words == (trace.in_words.queries if trace.in_words else None)


def test_a_possessive_holds_its_name(model: StoryModel) -> None:
    owner = model.answer(["Benjamin went to the attic.", "Benjamin’s cat went to the office."], "Where is Benjamin?")
    assert owner.text == "attic" and owner.unknown_words == ()
    assert [name for name, _ in owner.substituted] == ["Benjamin’s cat", "Benjamin"]
    told = ["Benjamin went to the attic.", "Benjamin's cat went to the office."]
    cat = model.answer(told, "Where is Benjamin's cat?")
    assert cat.text == "office" and cat.unknown_words == ()
    vocabulary = model.task.vocabulary
    assert vocabulary.numbers("Mary's office") == vocabulary.numbers("Mary office")


def test_a_sentence_may_be_too_long(model: StoryModel) -> None:
    long = "Mary " * 2001
    assert model.answer([long, "Mary went to the garden."], "Where is Mary?").omitted == (0,)
    with pytest.raises(qr.InputError, match="sentence 1 has 2001 words, and at most 2000 can be read"):
        model.answer(long, "Where is Mary?")
    with pytest.raises(qr.InputError, match="the question has 2001 words"):
        model.answer("Mary went to the garden.", long)


@given(st.lists(st.sampled_from([*STORY, "Mary moved to pier 4.", "Then she left.", "Zoë's cat went to the attic."])))
def test_positions_are_those_of_the_story(told: list[str]) -> None:
    model = qr.load("task1")
    assert isinstance(model, StoryModel)
    read = model.task.reader.read(told, QUESTION)
    assert sorted((*read.kept, *read.omitted)) == list(range(len(told)))
    assert len(read.kept) == len(read.sentences) and read.sentence_count == len(told)
