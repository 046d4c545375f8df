"""Model files: what is saved is loaded, what is damaged is named."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from safetensors import safe_open
from safetensors.numpy import save_file
from safetensors.torch import save_file as save_with_torch
from small_networks import saved_story_model

from query_reduction import model_file as checkpoint
from query_reduction.errors import InputError
from query_reduction.files import write_atomically
from query_reduction.model_file import SavedModel, load_model, load_tensors, save_model, save_tensors
from query_reduction.models import find_model
from query_reduction.qrn.network import QRNConfig
from query_reduction.rivals.registry import config_to_json
from query_reduction.text.stories import Question, Story

STORIES = [Story(("Mary milk.",), (Question("Mary?", "garden", 1), Question("Mary?", "बगीचा", 1)))]


@pytest.fixture
def model() -> SavedModel:
    return saved_story_model("2r5", STORIES, card={"command": "qrn"})


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "model.safetensors"


def refusal(path: Path) -> str:
    """The one line with which a file is refused; it names the file."""
    with pytest.raises(InputError) as caught:
        load_model(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert "\n" not in str(caught.value)
    return str(caught.value).removeprefix(f"{path}: ")


def forge(path: Path, model: SavedModel, changes: Mapping[str, str]) -> None:
    """A model file with another header, and a checksum that fits it."""
    save_model(path, model)
    _, metadata = load_tensors(path, checkpoint._FORMAT)
    kind = metadata.pop("format")
    save_tensors(path, kind, model.weights, {**metadata, **changes})


def saved(path: Path, model: SavedModel) -> tuple[dict[str, NDArray[Any]], dict[str, str]]:
    """What a file of the model holds."""
    save_model(path, model)
    return load_tensors(path, checkpoint._FORMAT)


@pytest.mark.parametrize("network", ["2r5", "3v4", "gru", "lstm"])
def test_round_trip(network: str, path: Path) -> None:
    model = saved_story_model(network, STORIES, card={"command": "qrn"})
    save_model(path, model)
    for place in (path, path.parent):
        loaded = load_model(place)
        assert (loaded.config, loaded.task, loaded.card) == (model.config, model.task, model.card)
        assert loaded.weights.keys() == model.weights.keys()
        for name, weight in model.weights.items():
            np.testing.assert_array_equal(loaded.weights[name], weight)


@pytest.mark.parametrize("keep", [0.0, 0.02, 0.5, 0.99])
def test_cut_file(model: SavedModel, path: Path, keep: float) -> None:
    save_model(path, model)
    path.write_bytes(path.read_bytes()[: int(path.stat().st_size * keep)])
    assert "damaged" in refusal(path)


def test_no_flipped_bit_goes_unnoticed(path: Path) -> None:
    whole = find_model("task1").read_bytes()
    random = np.random.default_rng(0)
    for place in random.choice(len(whole) * 8, 200, replace=False).tolist():
        damaged = bytearray(whole)
        damaged[place // 8] ^= 1 << place % 8
        path.write_bytes(damaged)
        refusal(path)


def test_foreign_files(tmp_path: Path) -> None:
    foreign = tmp_path / "foreign.safetensors"
    save_file({"weight": np.zeros(3)}, foreign)
    assert refusal(foreign) == "not a query-reduction model"
    assert refusal(tmp_path / "absent.safetensors") == "no such file"
    assert refusal(tmp_path).startswith("no model.safetensors in this folder")


def test_the_first_format_is_refused(model: SavedModel, path: Path) -> None:
    metadata = {"format": "query-reduction model 1", "config": "{}", "vocabulary": "{}", "card": "{}"}
    save_file(dict(model.weights), path, metadata)
    assert refusal(path) == "not a query-reduction model this version reads (query-reduction model 1)"


@pytest.mark.parametrize("name", ["sha256", "network", "task", "card"])
def test_a_header_with_something_missing(model: SavedModel, path: Path, name: str) -> None:
    save_model(path, model)
    with safe_open(path, framework="np") as file:
        metadata = file.metadata()
    del metadata[name]
    save_file(dict(model.weights), path, metadata)
    assert "damaged" in refusal(path)


def test_weights_that_do_not_fit(model: SavedModel, path: Path) -> None:
    save_model(path, replace(model, config=QRNConfig(dimension=7)))
    assert "do not fit (weight answer_weight is (1, 2, 5) but the settings require (1, 2, 7))" in refusal(path)
    missing = {name: weight for name, weight in model.weights.items() if name != "embedding"}
    save_model(path, replace(model, weights=missing))
    assert "weight embedding is missing" in refusal(path)
    save_model(path, replace(model, weights={**model.weights, "more": np.zeros(1, dtype=np.float32)}))
    assert "weight more is (1,) but the settings require None" in refusal(path)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 1e7])
def test_weights_that_are_no_weights(model: SavedModel, path: Path, value: float) -> None:
    broken = {name: np.full_like(weight, value) for name, weight in model.weights.items()}
    save_model(path, replace(model, weights=broken))
    assert "not numbers, or absurdly large" in refusal(path)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"layers": "many"}, "layers must be a whole number from 1 to 64, not 'many'"),
        ({"layers": 10**9}, "layers must be a whole number from 1 to 64, not 1000000000"),
        ({"layers": 10**30, "tied": False}, "layers must be a whole number from 1 to 64"),
        ({"layers": True}, "layers must be a whole number from 1 to 64, not True"),
        ({"dimension": 4097}, "dimension must be a whole number from 1 to 4096, not 4097"),
        ({"forget_bias": float("nan")}, "forget_bias must be a number from -100 to 100, not nan"),
        ({"depth": 2}, "QRNConfig has no setting 'depth'"),
        ({"network": "transformer"}, "no network 'transformer'; choose from agru"),
        ({"layers": 64, "dimension": 4096, "tied": False}, "but the settings require"),
    ],
)
def test_a_header_that_lies(model: SavedModel, path: Path, changes: dict[str, object], message: str) -> None:
    """Settings are checked, and shapes compared, before anything is allocated: the last would take 9 GB."""
    forge(path, model, {"network": json.dumps(config_to_json(model.config) | changes)})
    assert message in refusal(path)


@pytest.mark.parametrize("text", ["", "null", "3", "[]", "{", '{"network": []}'])
def test_a_header_that_is_no_settings(model: SavedModel, path: Path, text: str) -> None:
    forge(path, model, {"network": text})
    assert "do not fit" in refusal(path)


@pytest.mark.parametrize(
    "task",
    [
        {},
        {"kind": "riddles"},
        {"vocabulary": {}},
        {"vocabulary": {"words": ["a", "a"], "answers": ["b"], "longest_sentence": 3, "tokens": "words"}},
        {"vocabulary": {"words": ["a"], "answers": ["b"], "longest_sentence": 10**12, "tokens": "words"}},
        {"learned": {"memory": -1}},
        {"learned": []},
    ],
)
def test_a_task_that_is_none(model: SavedModel, path: Path, task: dict[str, object]) -> None:
    whole = {"kind": "stories", "vocabulary": asdict(model.task.vocabulary), "learned": model.task.as_json()}
    forge(path, model, {"task": checkpoint._squeeze(json.dumps(whole | task if task else task))})
    assert "do not fit" in refusal(path)


def test_a_task_without_end(model: SavedModel, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoint, "_LONGEST_TEXT", 1000)
    forge(path, model, {"task": checkpoint._squeeze(" " * 10_000)})
    assert "cut short or too long" in refusal(path)


def test_a_file_cut_short_while_its_model_is_in_use(path: Path) -> None:
    """A mapped file would end the process with a bus error."""
    path.write_bytes(find_model("task1").read_bytes())
    model = load_model(path)
    path.write_bytes(b"")
    assert all(np.isfinite(weight).all() for weight in model.weights.values())


def test_what_is_no_file(tmp_path: Path) -> None:
    assert "no plain file" in refusal(Path("/dev/zero"))
    os.mkfifo(tmp_path / "pipe")
    assert "no plain file" in refusal(tmp_path / "pipe")


def test_full_disk_keeps_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "file"
    write_atomically(path, "old")

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(InputError, match=r"cannot write .*file: No space left on device"):
        write_atomically(path, "new")
    assert path.read_text() == "old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]


def test_places_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("old")
    for path in (tmp_path / "file" / "below", tmp_path / "file" / "far" / "below", tmp_path, Path("/"), Path()):
        with pytest.raises(InputError, match="cannot write"):
            write_atomically(path, "new")
    with pytest.raises(InputError, match=r"cannot write .*null"):
        write_atomically(tmp_path / "a\0b", "new")
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize("dtype", [np.float16, np.int64])
def test_weights_of_several_or_other_types(model: SavedModel, path: Path, dtype: type[np.generic]) -> None:
    for names in (["embedding"], list(model.weights)):
        other: dict[str, Any] = {name: model.weights[name].astype(dtype) for name in names}
        save_model(path, replace(model, weights={**model.weights, **other}))
        assert "must all be float32" in refusal(path)
    mixed = {**model.weights, "embedding": model.weights["embedding"].astype(np.float64)}
    save_model(path, replace(model, weights=mixed))
    assert "must all be float32" in refusal(path)


def test_weights_of_a_type_that_numpy_lacks(model: SavedModel, path: Path) -> None:
    save_with_torch({name: torch.from_numpy(weight).bfloat16() for name, weight in model.weights.items()}, path)
    assert "damaged or not a safetensors file" in refusal(path)


@pytest.mark.parametrize(
    "card",
    ["[]", "1.5", '{"data": []}', '{"test_errors": 7}', '{"test_errors": {"answer": true}}', '{"a": 1e999}',
     '{"a": NaN}', '{"a": "\\ud800"}', '{"errors": "none"}'],
)  # fmt: skip
def test_a_card_of_another_form(model: SavedModel, path: Path, card: str) -> None:
    forge(path, model, {"card": card})
    assert "do not fit" in refusal(path)


@pytest.mark.parametrize(
    "changes",
    [
        {"answers": []},
        {"answers": ["\ud800", "b"]},
        {"unseen_share": -1},
        {"unseen_share": 1e300},
        {"unseen_share": "1"},
    ],
)
def test_a_story_task_of_another_form(model: SavedModel, path: Path, changes: dict[str, object]) -> None:
    _, metadata = saved(path, model)
    task = json.loads(checkpoint._unsqueeze(metadata["task"]))
    for part in (task["vocabulary"], task["learned"]):
        part.update({name: value for name, value in changes.items() if name in part})
    forge(path, model, {"task": checkpoint._squeeze(json.dumps(task))})
    assert "do not fit" in refusal(path)


@pytest.mark.parametrize(
    ("name", "value"),
    [("phrases", {"<a>": [["in"], [], [{}], []]}), ("phrases", {"<a>": [[], []]}), ("goes_on", [["a"]]),
     ("goes_on", [[1, True]]), ("asks", {"a": 1}), ("names", {}), ("names", {"kinds": {"a": 1}})],
)  # fmt: skip
def test_a_dialog_task_of_another_form(path: Path, name: str, value: object) -> None:
    dialog = load_model(find_model("dialog"))
    _, metadata = saved(path, dialog)
    task = json.loads(checkpoint._unsqueeze(metadata["task"]))
    task["learned"][name] = value
    forge(path, dialog, {"task": checkpoint._squeeze(json.dumps(task))})
    assert "do not fit" in refusal(path)
