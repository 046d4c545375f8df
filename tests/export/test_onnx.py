"""The ONNX file, run by onnxruntime: the same probabilities and gates as the network, for any length."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from exported import VARIANTS, model_of_variant
from models.own_stories import OWN_STORIES
from numpy.typing import NDArray

import query_reduction as qr
from query_reduction.cli import main
from query_reduction.errors import install
from query_reduction.export.onnx_graph import onnx_of
from query_reduction.heads.softmax import softmax
from query_reduction.model import StoryModel
from query_reduction.text.batch import Batch

pytest.importorskip("onnx", reason="needs the extra export")
runtime = pytest.importorskip("onnxruntime", reason="needs onnxruntime")

NEAR = 1e-4


def session(file: bytes | str) -> Any:
    options = runtime.SessionOptions()
    options.intra_op_num_threads = 1
    return runtime.InferenceSession(file, options, providers=["CPUExecutionProvider"])


def padded(rows: list[list[int]]) -> NDArray[np.int64]:
    longest = max(map(len, rows))
    return np.array([row + [0] * (longest - len(row)) for row in rows], np.int64)


@torch.inference_mode()
def by_the_network(
    model: StoryModel, story: NDArray[np.int64], lengths: NDArray[np.int64], asked: NDArray[np.int64]
) -> tuple[Any, Any]:
    """Probabilities, and update gates (question, sentence, layer), with every sentence a row of its own."""
    questions, sentences, words = story.shape
    width = max(words, asked.shape[1])
    rows = np.zeros((questions * sentences + questions, width), np.int64)
    rows[: questions * sentences, :words] = story.reshape(-1, words)
    rows[questions * sentences :, : asked.shape[1]] = asked
    batch = Batch(
        rows,
        np.arange(questions * sentences).reshape(questions, sentences),
        lengths,
        np.arange(questions) + questions * sentences,
        np.zeros(questions, np.int64),
    )
    read = model.network.trace(batch)
    assert read is not None
    gates = np.stack([layer.gates["update"].mean(-1) for layer in read.layers], axis=-1)
    told = np.arange(sentences) < lengths[:, None]
    return softmax(read.scores), gates * told[:, :, None]


@pytest.mark.parametrize(("name", "changes"), VARIANTS, ids=lambda value: value if isinstance(value, str) else "")
def test_every_kind_of_network_at_any_length(name: str, changes: dict[str, Any]) -> None:
    model = model_of_variant(name, changes)
    running = session(onnx_of(model))
    chance = np.random.default_rng(7)
    for questions, sentences, words in ((1, 1, 1), (3, 2, 5), (2, 57, 7), (1, 1000, 6)):
        story = chance.integers(1, model.task.vocabulary.size, (questions, sentences, words))
        story[:, :, words // 2 + 1 :] = 0  # half of each sentence is padding
        asked = chance.integers(2, model.task.vocabulary.size, (questions, 4))
        lengths = np.array([sentences, *chance.integers(1, sentences + 1, questions - 1)], np.int64)
        found = running.run(None, {"story": story, "lengths": lengths, "question": asked})
        for ours, expected in zip(found, by_the_network(model, story, lengths, asked), strict=True):
            np.testing.assert_allclose(ours, expected, atol=NEAR, rtol=0)


@pytest.mark.parametrize("name", ["task1", "task2", "task17", "task19"])
def test_own_stories_are_answered_alike(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As somebody would without this package: words and answers are in the file."""
    path = tmp_path / "model.onnx"
    assert main(["export", name, "--to", str(path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["files"] == {str(path): path.stat().st_size}
    running = session(str(path))
    known = json.loads(running.get_modelmeta().custom_metadata_map["vocabulary"])
    number = {word.lower(): place for place, word in enumerate(known["words"], start=2)}
    names = sorted((" ".join(phrase) for phrase in known["phrases"]), key=len, reverse=True)
    words = re.compile("|".join([*(rf"\b{re.escape(name)}\b" for name in names), r"\w+"]))

    def numbers(text: str) -> list[int]:
        return [number.get(word, 1) for word in words.findall(text.lower())]

    model = qr.load(name)
    assert isinstance(model, StoryModel)
    for _, told, question, answer in (one for one in OWN_STORIES if one[0] == name):
        sentences = told.rstrip(".").split(". ")
        feed = {"story": padded(list(map(numbers, sentences)))[None], "lengths": np.array([len(sentences)])}
        probabilities, _ = running.run(
            ["probabilities", "update_gates"], feed | {"question": padded([numbers(question)])}
        )
        assert known["answers"][int(probabilities[0].argmax())] == answer
        confidence = model.task.calibration.confidence(float(probabilities.max()))
        assert confidence == pytest.approx(model.answer(told, question).confidence, abs=10 * NEAR)


def test_without_onnx_it_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "onnx", None)
    assert main(["export", "task1", "--to", str(tmp_path / "model.onnx")]) == 1
    assert capsys.readouterr().err == f"qrn export: ONNX is not installed: {install('export')}\n"
