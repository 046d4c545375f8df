"""Whatever is passed to a public call, the outcome is a result or one line that says what is wrong."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import query_reduction as qr
from query_reduction.errors import InputError
from query_reduction.model import DialogModel, StoryModel
from query_reduction.text.stories import Question, Story

STORY = Story(("Mary went to the garden.",), (Question("Where is Mary?", "garden", 1, (0,)),))
TOLD = ["Mary went to the garden.", "John left."]


class _Odd:
    """An object that cannot even be shown."""

    def __repr__(self) -> str:
        raise RuntimeError("not to be shown")


def _generator() -> Iterator[object]:
    yield None


plain: st.SearchStrategy[Any] = st.one_of(
    st.sampled_from(
        [
            None,
            True,
            0,
            -1,
            10**400,
            math.nan,
            math.inf,
            1.5,
            1j,
            b"",
            b"Mary",
            bytearray(b"x"),
            "",
            " ",
            "\0",
            "\ud800",
        ]
    ),
    st.sampled_from(["Where is Mary?", "x" * 5000, "\u0301" * 99, "no/such/file", ".", Path("/"), Path("a\0"), ...]),
    st.sampled_from([str, len, STORY, STORY.questions[0], torch.zeros(2), np.array(["a"]), np.float32(1), np.int64(2)]),
    st.builds(_Odd),
    st.builds(_generator),
    st.builds(object),
    st.text(max_size=8),
    st.integers(),
    st.floats(),
)
junk = st.recursive(
    plain,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.lists(inner, max_size=3).map(tuple),
        st.lists(inner, max_size=3).map(iter),
        st.dictionaries(st.text(max_size=3), inner, max_size=2),
        st.frozensets(st.text(max_size=2), max_size=2),
    ),
    max_leaves=4,
)

Call = tuple[Callable[..., object], dict[str, Any]]
"""A public call, and arguments that are fine."""


def _calls(story_model: StoryModel, dialog_model: DialogModel, folder: Path) -> dict[str, Call]:
    answer = story_model.answer(TOLD, "Where is Mary?")
    trace = story_model.explain(TOLD, "Where is Mary?")
    dialog = Story(("hi", "hello"), (Question("hi", "hello", 0), Question("bye", "", 2)))
    tensor = torch.zeros(1, 2, 3)
    return {
        "load": (qr.load, {"name": "task1"}),
        "read": (qr.read, {"source": [STORY], "unanswered": False}),
        "Question": (Question, {"text": "a", "answer": "b", "after": 1, "support": (0,), "id": ""}),
        "Story": (Story, {"sentences": ("a",), "questions": (), "task": ""}),
        "answer": (story_model.answer, {"story": TOLD, "question": "Where is Mary?"}),
        "answer_many": (story_model.answer_many, {"asked": [(TOLD, "Where is Mary?")]}),
        "answer_from": (story_model.answer_from, {"lines": TOLD, "question": "Where is Mary?", "progress": None}),
        "answer_read": (story_model.answer_read, {"questions": [answer.read]}),
        "explain": (story_model.explain, {"story": TOLD, "question": "Where is Mary?", "endings": True}),
        "explain_read": (story_model.explain_read, {"read": answer.read, "endings": False}),
        "model.read": (story_model.read, {"story": TOLD, "question": "Where is Mary?"}),
        "evaluate": (story_model.evaluate, {"stories": [STORY]}),
        "given": (story_model.given, {"stories": [STORY]}),
        "predict": (lambda stories: list(story_model.predict(stories)), {"stories": [STORY]}),
        "save": (story_model.save, {"path": folder / "model.safetensors"}),
        "respond": (dialog_model.respond, {"history": ["hi", "hello"], "utterance": "bye"}),
        "respond_to": (dialog_model.respond_to, {"dialog": dialog}),
        "explain_dialog": (dialog_model.explain_dialog, {"dialog": dialog}),
        "with_knowledge": (dialog_model.with_knowledge, {"rows": [("a", "r_b", "c")]}),
        "trace.as_json": (trace.as_json, {"vectors": True}),
        "trace.save": (trace.save, {"path": folder / "trace.json", "vectors": False}),
        "scan": (qr.scan, {"z": tensor, "v": tensor, "lengths": None, "initial": None, "backend": "loop"}),
    }


_TRAINING = {
    "stories": [STORY], "network": "2r5", "recipe": "original", "restarts": 1, "start_from": None, "dev": (),
    "test": (), "kind": "stories", "knowledge": (), "haystack": (), "on_epoch": None, "folder": None, "threads": 1,
    "max_epochs": 1, "dimension": 5,
}  # fmt: skip


@pytest.fixture(scope="module")
def calls(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Call]:
    story_model, dialog_model = qr.load("task1"), qr.load("dialog")
    assert isinstance(story_model, StoryModel) and isinstance(dialog_model, DialogModel)
    return _calls(story_model, dialog_model, tmp_path_factory.mktemp("misuse"))


@given(data=st.data())
@settings(max_examples=4000, suppress_health_check=list(HealthCheck), deadline=None)
def test_a_misuse_is_an_input_error(
    data: st.DataObject, calls: dict[str, Call], tmp_path_factory: pytest.TempPathFactory
) -> None:
    name = data.draw(st.sampled_from(sorted(calls)))
    function, arguments = calls[name]
    wrong = data.draw(st.sets(st.sampled_from(sorted(arguments)), min_size=1, max_size=2))
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.getbasetemp())
        outcome(function, arguments | {argument: data.draw(junk, label=argument) for argument in sorted(wrong)})


@given(name=st.sampled_from(sorted(set(_TRAINING) - {"progress"})), value=junk)
@settings(max_examples=500, suppress_health_check=list(HealthCheck), deadline=None)
def test_training_is_refused_before_it_begins(
    name: str, value: Any, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """A value that happens to be fine is not trained with: that would take long."""
    monkeypatch.setattr("query_reduction.training.api.Run", _no_run)
    monkeypatch.chdir(tmp_path_factory.getbasetemp())
    outcome(qr.train, {**_TRAINING, name: value, "progress": False})


def _no_run(*arguments: object, **named: object) -> None:
    raise InputError("nothing is trained here")


def outcome(function: Callable[..., object], arguments: dict[str, Any]) -> None:
    """Call; an ``InputError`` of one line is as good as a result."""
    try:
        function(**arguments)
    except InputError as error:
        assert str(error) and "\n" not in str(error)


@pytest.mark.parametrize(
    ("function", "arguments", "message"),
    [
        ("answer", {"story": None}, "story: it must be a text or a list of texts, not None"),
        ("answer", {"story": ["a", 3]}, "story[1]: it must be a text, not 3"),
        ("answer_many", {"asked": "Where?"}, "asked: it must be a list of items that are each a tuple of"),
        ("load", {"name": None}, "name: it must be a text or a path, not None"),
        ("read", {"source": "\0"}, "source: a path cannot hold a zero character"),
        ("Question", {"after": math.nan}, "after: it must be a whole number, not nan"),
        ("evaluate", {"stories": "stories.jsonl"}, "stories: it must be a list of Story objects, not"),
        ("respond", {"history": "hi"}, "history: it must be a list of texts, not 'hi'"),
    ],
)  # fmt: skip
def test_the_line_names_the_argument(
    calls: dict[str, Call], function: str, arguments: dict[str, Any], message: str
) -> None:
    called, fine = calls[function]
    with pytest.raises(InputError) as raised:
        called(**fine | arguments)
    assert str(raised.value).startswith(message)
