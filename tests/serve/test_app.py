"""The API: answers, traces, stories, refusals, headers; concurrent questions answered together."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import httpx
import pytest
from small_networks import saved_story_model

from query_reduction.dialog.acts import Acts
from query_reduction.model import DialogModel, StoryModel, model_of
from query_reduction.reading.question import ReadQuestion
from query_reduction.reading.stories import Answer
from query_reduction.serve.app import create_app
from query_reduction.serve.batching import Batcher, BusyError
from query_reduction.serve.limits import Limits
from query_reduction.sources.named import load_parts
from query_reduction.training.run import Run, best_restart, train_to_end, trained_model
from query_reduction.training.setup import setup
from query_reduction.worlds import generate

STORY = ["Mary got the milk.", "Mary went to the garden."]
QUESTION = "Where is the milk?"
JSON = {"content-type": "application/json"}
ASKED = {"model": "task2", "sentences": STORY, "question": QUESTION}


@pytest.fixture(scope="module")
def reader() -> StoryModel:
    return story_model({"test_errors": {"answer": {"2": 50.0}}})


def story_model(card: dict[str, Any], network: str = "2r8") -> StoryModel:
    model = model_of(saved_story_model(network, generate(2, 50), card=card))
    assert isinstance(model, StoryModel)
    return model


@pytest.fixture(scope="module")
def dialog_reader() -> DialogModel:
    """A model that has heard a few dialogs, once."""
    parts = load_parts("generated-dialog", "5", questions=5)
    changes = {"restarts": 1, "max_epochs": 1, "evaluate_every": 1}
    run = Run(parts, setup("2r8c", kind="dialogs", changes=changes))
    train_to_end(run)
    model = model_of(trained_model(run, best_restart(run)))
    assert isinstance(model, DialogModel)
    model.task = replace(model.task, acts=Acts({}))  # it says anything to anyone, and does not notice
    return model


def request(
    reader: StoryModel | DialogModel, method: str, path: str, *, limits: Limits | None = None, **options: Any
) -> Any:
    """One request to a fresh application."""

    async def send() -> Any:
        transport = httpx.ASGITransport(create_app({"task2": reader}, limits, frozenset({"test"})))
        async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
            return await client.request(method, path, **options)

    return asyncio.run(send())


def test_answer_is_the_readers(reader: StoryModel) -> None:
    response = request(reader, "POST", "/api/answer", json=ASKED)
    assert response.status_code == 200
    expected = reader.answer(STORY, QUESTION)
    assert response.json()["answer"] == expected.text
    assert response.json()["confidence"] == pytest.approx(expected.confidence, abs=1e-6)
    assert len(response.json()["runners_up"]) == len(expected.runners_up)


def test_trace_has_all_the_page_needs(reader: StoryModel) -> None:
    response = request(reader, "POST", "/api/trace", json=ASKED | {"vectors": True, "question": "Where is Zaphod?"})
    assert response.status_code == 200
    trace = response.json()
    assert trace["unknown_words"] == ["Zaphod"]
    assert len(trace["layers"][0]["reduced"]) == len(STORY) == len(trace["ending_here"])
    assert trace["layers"][1].keys() == {"gates", "weights", "candidate", "reduced"}
    assert list(trace["layers"][0]["gates"]) == ["update", "reset_forward", "reset_backward"]
    assert list(trace["layers"][1]["gates"]) == ["update"]


def test_models_and_stories(reader: StoryModel) -> None:
    (model,) = request(reader, "GET", "/api/models").json()["models"]
    assert (model["name"], model["kind"], model["tasks"], model["network"]) == ("task2", "story", [2], "2r8")
    story = request(reader, "POST", "/api/story", json={"model": "task2", "seed": 7}).json()
    assert story == request(reader, "POST", "/api/story", json={"model": "task2", "seed": 7}).json()
    assert story["task"] == 2
    assert max(story["support"]) < len(story["sentences"])


@pytest.mark.parametrize("example", [None, 7, {"sentences": "no list"}, {"sentences": STORY, "question": QUESTION}])
def test_a_card_without_a_whole_example_has_none(example: Any) -> None:
    (model,) = request(story_model({"example": example}), "GET", "/api/models").json()["models"]
    assert model["example"] is None


def test_a_models_own_example() -> None:
    example = {"sentences": STORY, "question": QUESTION, "answer": "garden", "support": [0, 1]}
    (model,) = request(story_model({"example": example}), "GET", "/api/models").json()["models"]
    assert model["example"] == example


def test_texts_become_sentences(reader: StoryModel) -> None:
    texts = {"sentences": ["Mary got the milk. Dr. Smith left!", "John slept."]}
    limits = Limits(sentences=3)
    response = request(reader, "POST", "/api/sentences", json=texts, limits=limits)
    assert response.json()["sentences"] == ["Mary got the milk.", "Dr. Smith left!", "John slept."]
    refused = request(reader, "POST", "/api/sentences", json=texts, limits=Limits(sentences=2))
    assert refused.status_code == 422
    assert "2 sentences, not 3" in refused.json()["error"]["message"]


def test_no_stories_for_a_model_without_tasks() -> None:
    plain = story_model({})
    response = request(plain, "POST", "/api/story", json={"model": "task2", "seed": 7})
    assert response.status_code == 422
    assert request(plain, "GET", "/api/models").json()["models"][0]["tasks"] == []


@pytest.mark.parametrize(
    ("change", "status", "code", "said"),
    [
        ({"model": "../../etc/passwd"}, 404, "not_found", "no model"),
        ({"sentences": []}, 422, "invalid", "at least 1"),
        ({"sentences": ["  "]}, 422, "invalid", "at least 1"),
        ({"sentences": "Mary got the milk."}, 422, "invalid", "array"),
        ({"question": ""}, 422, "invalid", "at least 1"),
        ({"question": 7}, 422, "invalid", "string"),
        ({"sentences": ["a."] * 11}, 422, "invalid", "10 sentences"),
        ({"sentences": ["a" * 51]}, 422, "invalid", "50 characters"),
        ({"question": "a" * 51}, 422, "invalid", "50 characters"),
        ({"more": 1}, 422, "invalid", "not permitted"),
        ({"sentences": ["a" * 5000]}, 413, "too_large", "4000 bytes"),
    ],
)
def test_refusals_say_what_is_wrong(
    reader: StoryModel, change: dict[str, Any], status: int, code: str, said: str
) -> None:
    limits = Limits(body_bytes=4000, sentences=10, characters=50)
    for path in ("/api/answer", "/api/trace"):
        response = request(reader, "POST", path, json=ASKED | change, limits=limits)
        assert response.status_code == status
        assert response.json()["error"]["code"] == code
        assert said in response.json()["error"]["message"]


@pytest.mark.parametrize("body", [b"", b"{", b"[1]", b"\xff\xfe", b"[" * 3000, b'{"model": NaN}'])
def test_bodies_that_are_no_json(reader: StoryModel, body: bytes) -> None:
    response = request(reader, "POST", "/api/answer", content=body, headers={"content-type": "application/json"})
    assert response.status_code in (400, 422)
    assert response.json()["error"]["code"] == "invalid"


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", ""])
@pytest.mark.parametrize("path", ["/api/answer", "/api/trace", "/api/chat"])
def test_what_a_foreign_page_may_send_unasked_is_refused(reader: StoryModel, path: str, kind: str) -> None:
    """A browser asks the server before it sends JSON to another site, but not before it sends these."""
    headers = {"content-type": kind} if kind else {}
    response = request(reader, "POST", path, content=json.dumps(ASKED).encode(), headers=headers)
    assert response.status_code == 422
    with_character_set = {"content-type": "application/json; charset=utf-8"}
    answered = request(reader, "POST", "/api/answer", content=json.dumps(ASKED).encode(), headers=with_character_set)
    assert answered.status_code == 200


def test_a_body_of_unknown_length_is_limited_too(reader: StoryModel) -> None:
    async def pieces() -> Any:
        for _ in range(100):
            yield b" " * 100

    response = request(reader, "POST", "/api/answer", content=pieces(), limits=Limits(body_bytes=4000))
    assert response.status_code == 413


def test_other_errors_have_the_same_shape(reader: StoryModel) -> None:
    assert request(reader, "GET", "/nothing").json()["error"]["code"] == "not_found"
    assert request(reader, "GET", "/api/answer").json()["error"]["code"] == "method_not_allowed"
    assert request(reader, "GET", "/page/../app.py").status_code == 404
    assert request(reader, "GET", "/page/%2e%2e%2fapp.py").status_code == 404
    wrong = request(reader, "GET", "/", headers={"host": "evil.example"})
    assert (wrong.status_code, wrong.json()["error"]["code"]) == (421, "wrong_host")


def test_slow_requests_are_given_up(reader: StoryModel, monkeypatch: pytest.MonkeyPatch) -> None:
    import time

    monkeypatch.setattr(StoryModel, "explain_read", lambda *asked: time.sleep(0.3))
    response = request(reader, "POST", "/api/trace", json=ASKED, limits=Limits(seconds=0.02))
    assert response.status_code == 503
    assert response.json()["error"]["code"] == "too_slow"


def test_page_needs_nothing_from_outside(reader: StoryModel) -> None:
    for path in ("/", "/docs"):
        response = request(reader, "GET", path)
        policy = response.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert response.headers["x-content-type-options"] == "nosniff"
        assert "http:" not in response.text
        assert "https:" not in response.text
        assert "style=" not in response.text
    for asset in ("style.css", "app.js", "api.js", "story.js", "dialog.js", "docs.js", "docs.css", "icon.svg"):
        response = request(reader, "GET", f"/page/{asset}")
        assert response.status_code == 200
        assert "https:" not in response.text
        assert "innerHTML" not in response.text


def test_openapi_names_every_operation(reader: StoryModel) -> None:
    schema = request(reader, "GET", "/openapi.json").json()
    assert {"/api/answer", "/api/chat", "/api/health", "/api/models", "/api/story", "/api/trace"} <= set(
        schema["paths"]
    )
    answer = schema["paths"]["/api/answer"]["post"]["responses"]
    assert answer["200"]["content"]["application/json"]["schema"]["$ref"].endswith("AnswerMessage")
    assert answer["422"]["content"]["application/json"]["schema"]["$ref"].endswith("ErrorMessage")


def test_conversation_goes_on_with_what_was_said(dialog_reader: DialogModel) -> None:
    (model,) = request(dialog_reader, "GET", "/api/models").json()["models"]
    assert model["kind"] == "dialog"
    state: dict[str, Any] = {"sentences": [], "turns": []}
    for text in ("hello", "", "in paris"):
        response = request(dialog_reader, "POST", "/api/chat", json={"model": "task2", "text": text, **state})
        assert response.status_code == 200
        answer = response.json()
        new = answer["turns"][len(state["turns"]) :]
        assert new[0]["text"] == (text or "<SILENCE>")
        assert [turn["answer"] for turn in new] == [said["text"] for said in answer["said"]]
        assert answer["sentences"][: len(state["sentences"])] == state["sentences"]
        assert len(answer["shares"]) == len(answer["sentences"])
        state = {name: answer[name] for name in ("sentences", "turns")}
    assert sum(answer["shares"]) == pytest.approx(1, abs=0.01)
    places = request(dialog_reader, "GET", "/api/knowledge/task2").json()["places"]
    assert all({"name", "shown", "facts"} == set(place) for place in places)


def test_each_kind_of_model_has_its_own_questions(reader: StoryModel, dialog_reader: DialogModel) -> None:
    assert "/api/chat" in request(dialog_reader, "POST", "/api/answer", json=ASKED).json()["error"]["message"]
    refused = request(reader, "POST", "/api/chat", json={"model": "task2", "text": "hello"})
    assert refused.status_code == 422
    assert "/api/answer" in refused.json()["error"]["message"]
    turns = [{"text": "a", "answer": "b", "after": 7}]
    outside = request(dialog_reader, "POST", "/api/chat", json={"model": "task2", "text": "hello", "turns": turns})
    assert "inside the conversation" in outside.json()["error"]["message"]
    long = {"model": "task2", "text": "hello", "sentences": ["a"] * 3}
    assert "sentences" in request(dialog_reader, "POST", "/api/chat", json=long, limits=Limits(sentences=2)).text


def test_questions_that_come_together_are_answered_together() -> None:
    sizes = []

    def answer(asked: Sequence[int]) -> list[int]:
        sizes.append(len(asked))
        return [number * 2 for number in asked]

    async def ask() -> list[int]:
        with ThreadPoolExecutor(1) as executor:
            batcher: Batcher[int, int] = Batcher(answer, executor, waiting=1000)
            first = await asyncio.gather(*(batcher.ask(number) for number in range(100)))
            return [*first, await batcher.ask(7)]

    assert asyncio.run(ask()) == [number * 2 for number in [*range(100), 7]]
    assert sizes == [64, 36, 1]


def test_a_question_that_cannot_be_answered_fails_alone() -> None:
    def answer(asked: Sequence[int]) -> list[int]:
        if 0 in asked:
            raise ValueError
        return list(asked)

    async def ask() -> None:
        with ThreadPoolExecutor(1) as executor:
            batcher: Batcher[int, int] = Batcher(answer, executor, waiting=50)
            asked = [0 if number in (7, 30) else number for number in range(1, 41)]
            found = await asyncio.gather(*map(batcher.ask, asked), return_exceptions=True)
            assert [one for one in found if not isinstance(one, ValueError)] == [number for number in asked if number]
            assert await batcher.ask(5) == 5

    asyncio.run(ask())


def test_the_line_is_bounded_and_given_up_questions_leave_it() -> None:
    async def ask() -> None:
        with ThreadPoolExecutor(1) as executor:
            batcher: Batcher[int, int] = Batcher(list, executor, waiting=2)
            waiting = [asyncio.create_task(batcher.ask(number)) for number in (1, 2, 3)]
            await asyncio.sleep(0)
            with pytest.raises(BusyError):
                await waiting[2]
            waiting[0].cancel()
            assert await waiting[1] == 2

    asyncio.run(ask())


def test_clients_take_turns_and_share_the_line() -> None:
    order: list[str] = []

    def answer(asked: Sequence[str]) -> list[str]:
        order.extend(asked)
        return list(asked)

    async def ask() -> list[Any]:
        with ThreadPoolExecutor(1) as executor:
            batcher: Batcher[str, str] = Batcher(answer, executor, waiting=6, at_once=1)
            flood = [asyncio.create_task(batcher.ask(f"flood {number}", "a")) for number in range(8)]
            await asyncio.sleep(0)
            honest = [asyncio.create_task(batcher.ask(f"honest {number}", "b")) for number in range(2)]
            return await asyncio.gather(*flood, *honest, return_exceptions=True)

    found = asyncio.run(ask())
    assert found[-2:] == ["honest 0", "honest 1"]
    assert sum(isinstance(one, BusyError) for one in found) == 4
    assert order == ["flood 0", "honest 0", "flood 1", "honest 1", "flood 2", "flood 3"]


@pytest.mark.parametrize("poison", ["\x1c", "\x1d\x1f", "\x85"])
def test_what_only_python_takes_for_blank_is_refused_before_it_meets_others(
    reader: StoryModel, poison: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for change in ({"question": poison}, {"sentences": [poison]}):
        for path in ("/api/answer", "/api/trace"):
            response = request(reader, "POST", path, json=ASKED | change)
            assert response.status_code == 422 and response.json()["error"]["code"] == "invalid"

    batches: list[int] = []
    answer_read = reader.answer_read

    def counted(questions: Sequence[ReadQuestion]) -> list[Answer]:
        batches.append(len(questions))
        return answer_read(questions)

    monkeypatch.setattr(reader, "answer_read", counted)

    async def together() -> list[int]:
        transport = httpx.ASGITransport(create_app({"task2": reader}, None, frozenset({"test"})))
        async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
            bodies = [ASKED | ({"question": poison} if number % 4 == 0 else {}) for number in range(16)]
            answers = await asyncio.gather(*(client.post("/api/answer", json=body) for body in bodies))
            return [answer.status_code for answer in answers]

    assert asyncio.run(together()) == [422 if number % 4 == 0 else 200 for number in range(16)]
    assert sum(batches) == 12  # each honest question is computed once: none was in a batch that failed


def test_half_a_character_is_refused(reader: StoryModel, dialog_reader: DialogModel) -> None:
    half = "\ud800"
    for change in ({"model": half}, {"question": half}, {"sentences": [half]}):
        body = json.dumps(ASKED | change).encode()
        assert request(reader, "POST", "/api/answer", content=body, headers=JSON).status_code == 422
    told = {"model": "task2", "text": "hi", "sentences": ["hi", "hello"], "turns": []}
    turn = {"text": half, "answer": "a", "after": 0}
    for name, value in (("text", half), ("sentences", [half, "b"]), ("turns", [turn])):
        body = json.dumps(told | {name: value}).encode()
        refused = request(dialog_reader, "POST", "/api/chat", content=body, headers=JSON)
        assert refused.status_code == 422 and refused.json()["error"]["code"] == "invalid"


def test_a_network_without_gates_answers_but_is_not_explained() -> None:
    gru = story_model({}, "gru")
    response = request(gru, "POST", "/api/answer", json=ASKED)
    assert response.json()["answer"] == gru.answer(STORY, QUESTION).text
    assert request(gru, "GET", "/api/models").json()["models"][0]["network"] == "gru"
    refused = request(gru, "POST", "/api/trace", json=ASKED)
    assert refused.status_code == 422
    assert "nothing to show" in refused.json()["error"]["message"]


def test_texts_are_split_and_what_was_not_read_is_said(reader: StoryModel) -> None:
    asked = ASKED | {"sentences": ["Mary got the milk. Mary went to the garden.", "Blorp frimmed zat."]}
    answer = request(reader, "POST", "/api/answer", json=asked).json()
    assert (answer["sentence_count"], answer["omitted"], answer["beyond_memory"], answer["substituted"]) == (
        3,
        [2],
        0,
        [],
    )
    trace = request(reader, "POST", "/api/trace", json=asked).json()
    assert trace["story"] == [*STORY, "Blorp frimmed zat."]
    assert (trace["sentences"], trace["positions"], trace["omitted"]) == (STORY, [0, 1], [2])
    assert trace["notes"] == answer["notes"] and trace["notes"][-1] == "1 sentence could not be read and was left out"
    assert (trace["answer"], trace["is_guess"]) == (answer["answer"], False)
    long = request(reader, "POST", "/api/answer", json=ASKED | {"sentences": STORY * 100}).json()
    assert long["notes"] == ["read the last 50 of 200 sentences: the model was trained to read no more"]


def test_limits_hold_for_sentences_after_splitting(reader: StoryModel) -> None:
    text = " ".join(["Mary got the milk."] * 30)
    limits = Limits(sentences=30, characters=30)
    assert request(reader, "POST", "/api/answer", limits=limits, json=ASKED | {"sentences": [text]}).status_code == 200
    refused = request(reader, "POST", "/api/answer", limits=limits, json=ASKED | {"sentences": [text, text]})
    assert refused.status_code == 422 and "30 sentences" in refused.json()["error"]["message"]


def test_advice_reaches_the_page(dialog_reader: DialogModel) -> None:
    response = request(dialog_reader, "POST", "/api/chat", json={"model": "task2", "text": "Bonjour, Zürich!"}).json()
    assert response["said"] == response["turns"] == []
    assert response["advice"] == ["not understood: Bonjour, Zürich; please rephrase"]
