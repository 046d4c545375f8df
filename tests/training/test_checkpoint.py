"""Model files: what is saved is loaded, what is damaged is named."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

from query_reduction.config import ModelConfig
from query_reduction.data.vocabulary import Vocabulary
from query_reduction.errors import InputError
from query_reduction.files import write_atomically
from query_reduction.networks.qrn import QueryReductionNetwork
from query_reduction.training.checkpoint import SavedModel, load_model, save_model


@pytest.fixture
def model() -> SavedModel:
    config = ModelConfig(dimension=5, layers=2)
    vocabulary = Vocabulary(("Mary", "milk"), ("garden", "बगीचा"), 4)
    network = QueryReductionNetwork(config, vocabulary.size, 2, longest_sentence=4)
    return SavedModel(config, vocabulary, {n: p.detach() for n, p in network.named_parameters()}, {"command": "qrn"})


def test_round_trip(model: SavedModel, tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    save_model(path, model)
    for place in (path, tmp_path):
        loaded = load_model(place)
        assert (loaded.config, loaded.vocabulary, loaded.card) == (model.config, model.vocabulary, model.card)
        for name, weight in model.weights.items():
            assert torch.equal(loaded.weights[name], weight)


@pytest.mark.parametrize("keep", [0.0, 0.02, 0.5, 0.99])
def test_cut_file(model: SavedModel, tmp_path: Path, keep: float) -> None:
    path = tmp_path / "model.safetensors"
    save_model(path, model)
    path.write_bytes(path.read_bytes()[: int(path.stat().st_size * keep)])
    with pytest.raises(InputError, match="damaged") as caught:
        load_model(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_foreign_files(model: SavedModel, tmp_path: Path) -> None:
    foreign = tmp_path / "foreign.safetensors"
    save_file({"weight": torch.zeros(3)}, foreign)
    with pytest.raises(InputError, match="not a query-reduction model"):
        load_model(foreign)
    with pytest.raises(InputError, match="no such file"):
        load_model(tmp_path / "absent.safetensors")
    with pytest.raises(InputError, match=r"no model\.safetensors in this folder"):
        load_model(tmp_path)


def test_weights_that_do_not_fit(model: SavedModel, tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    save_model(path, SavedModel(ModelConfig(dimension=7), model.vocabulary, model.weights))
    with pytest.raises(InputError, match="do not fit"):
        load_model(path)
    broken = {name: torch.full_like(weight, float("nan")) for name, weight in model.weights.items()}
    save_model(path, SavedModel(model.config, model.vocabulary, broken))
    with pytest.raises(InputError, match="not numbers"):
        load_model(path)


def test_header_that_lies(model: SavedModel, tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    metadata = {
        "format": "query-reduction model 1",
        "config": json.dumps({"layers": "many"}),
        "vocabulary": "{}",
        "card": "{}",
    }
    save_file(dict(model.weights), path, metadata)
    with pytest.raises(InputError, match="do not fit"):
        load_model(path)


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
