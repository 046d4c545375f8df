"""Models and training states as safetensors files: written atomically, checked when read, never pickle.

A model is one file: its weights, and in the header its network's settings, its task, a checksum of the weights, and a
card (where it comes from and what it scored). One file cannot be half replaced.
"""

from __future__ import annotations

import base64
import hashlib
import json
import zlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load, save

from query_reduction.errors import InputError
from query_reduction.files import write_atomically
from query_reduction.network import Floats, Network
from query_reduction.reading.protocol import Task
from query_reduction.rivals.registry import config_from_json, config_to_json, open_network
from query_reduction.text.vocabulary import Vocabulary

__all__ = [
    "MODEL_FILE",
    "SavedModel",
    "file_format",
    "fingerprint",
    "load_model",
    "load_tensors",
    "save_model",
    "save_tensors",
]

MODEL_FILE = "model.safetensors"
_FORMAT = "query-reduction model 2"
_LONGEST_TEXT = 200_000_000
_LARGEST_FILE = 8_000_000_000
_LARGEST_WEIGHT = 1e6


@dataclass(frozen=True)
class SavedModel:
    """A trained network with everything needed to use it."""

    config: Any
    """The settings of its network."""
    task: Task
    weights: Mapping[str, Floats]
    """By name, each with a leading dimension of one."""
    card: Mapping[str, Any] = field(default_factory=dict)
    """Where it comes from: data, settings, command, measured errors."""

    def network(self) -> Network:
        """The network with these weights, to be used; it is made once."""
        return self._network

    @cached_property
    def _network(self) -> Network:
        return open_network(self.config, self.task.vocabulary, self.task.head, self.weights)


def save_tensors(path: Path, kind: str, arrays: Mapping[str, NDArray[Any]], metadata: Mapping[str, str]) -> None:
    """Write named arrays and texts as one safetensors file with a checksum, atomically."""
    texts = {"format": kind, **metadata}
    texts["sha256"] = _checksum(arrays, texts)
    write_atomically(path, save({name: np.asarray(array, order="C") for name, array in arrays.items()}, texts))


def load_tensors(path: Path, kind: str) -> tuple[dict[str, NDArray[Any]], dict[str, str]]:
    """Read a file written by ``save_tensors``; a damaged one, or one of another kind, is an error."""
    if not path.exists():
        raise InputError(f"{path}: no such file")
    try:
        if not path.is_file() or path.stat().st_size > _LARGEST_FILE:
            raise ValueError("no plain file, or too large")
        # Read, not mapped: a file that is replaced in place while its model is in use must not change it, or worse.
        data = path.read_bytes()
        arrays = load(data)
        header = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])
        metadata: dict[str, str] = header.get("__metadata__", {})
    except (SafetensorError, OSError, ValueError, TypeError, RuntimeError, KeyError, RecursionError) as error:
        about = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise InputError(f"{path}: damaged or not a safetensors file ({about})") from error
    found = metadata.get("format")
    if found != kind:
        name = kind.rpartition(" ")[0]
        raise InputError(f"{path}: not a {name}" + (f" this version reads ({found})" if found else ""))
    said = metadata.pop("sha256", None)
    if _checksum(arrays, metadata) != said:
        raise InputError(f"{path}: damaged (its content does not match its checksum)")
    return arrays, metadata


def file_format(path: Path) -> str:
    """What a file says that it holds; empty if it does not say, or is no such file."""
    try:
        with path.open("rb") as file:
            length = int.from_bytes(file.read(8), "little")
            found = json.loads(file.read(min(length, _LONGEST_TEXT))).get("__metadata__", {}).get("format", "")
    except (OSError, ValueError, AttributeError, RecursionError):
        return ""
    return found if isinstance(found, str) else ""


def save_model(path: Path, model: SavedModel) -> None:
    """Write a model file."""
    save_tensors(path, _FORMAT, model.weights, _metadata(model))


def fingerprint(model: SavedModel) -> str:
    """The sha256 of everything a model consists of."""
    return _checksum(model.weights, {"format": _FORMAT, **_metadata(model)})


def _metadata(model: SavedModel) -> dict[str, str]:
    task = {"kind": model.task.kind, "vocabulary": asdict(model.task.vocabulary), "learned": model.task.as_json()}
    return {
        "network": json.dumps(config_to_json(model.config)),
        "task": _squeeze(json.dumps(task, ensure_ascii=False)),
        "card": json.dumps(dict(model.card), ensure_ascii=False, allow_nan=False),
    }


def _checksum(arrays: Mapping[str, NDArray[Any]], metadata: Mapping[str, str]) -> str:
    """The sha256 of arrays and their metadata."""
    digest = hashlib.sha256()
    for name, text in sorted(metadata.items()):
        digest.update(f"{name}\0{text}\0".encode())
    for name, array in sorted(arrays.items()):
        # Types have the names that PyTorch gives them: the first files were written with it.
        digest.update(f"{name}\0torch.{array.dtype}\0{array.shape}\0".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()


def _squeeze(text: str) -> str:
    """Compress a text: a knowledge base repeats itself, and shrinks to a tenth."""
    return base64.b85encode(zlib.compress(text.encode(), 9)).decode()


def _unsqueeze(squeezed: str) -> str:
    """Decompress the output of ``_squeeze``; a text that expands beyond the limit is an error."""
    unfolding = zlib.decompressobj()
    text = unfolding.decompress(base64.b85decode(squeezed), _LONGEST_TEXT)
    if not unfolding.eof:
        raise ValueError("a compressed text is cut short or too long")
    return text.decode()


def load_model(path: Path) -> SavedModel:
    """Read a model file, or the model in a run's folder; everything is checked before it is used."""
    if path.is_dir():
        if not (path / MODEL_FILE).exists():
            raise InputError(f"{path}: no {MODEL_FILE} in this folder (was the training finished?)")
        path = path / MODEL_FILE
    weights, metadata = load_tensors(path, _FORMAT)
    _check_weights(path, weights)
    try:
        config = config_from_json(json.loads(metadata["network"]))
        task = _parsed(_unsqueeze(metadata["task"]))
        vocabulary = Vocabulary.from_json(task["vocabulary"])
        learned = _read_task(task["kind"], task["learned"], vocabulary)
        model = SavedModel(config, learned, weights, _card(_parsed(metadata["card"])))
        model.network()
    except (InputError, KeyError, TypeError, ValueError, AttributeError, RecursionError, zlib.error) as error:
        about = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise InputError(f"{path}: weights and settings do not fit ({about})") from error
    return model


def _read_task(kind: str, values: Mapping[str, Any], vocabulary: Vocabulary) -> Task:
    """A task of this kind; the code of the other kind is not loaded."""
    if kind == "stories":
        from query_reduction.reading.stories import StoryTask

        return StoryTask.from_json(values, vocabulary)
    if kind == "dialogs":
        from query_reduction.dialog.dialogs import DialogTask

        return DialogTask.from_json(values, vocabulary)
    raise ValueError(f"no task {kind!r}")


def _check_weights(path: Path, weights: Mapping[str, Floats]) -> None:
    kinds = {weight.dtype for weight in weights.values()}
    if kinds not in ({np.dtype(np.float32)}, {np.dtype(np.float64)}):
        raise InputError(f"{path}: the weights must all be float32, or all float64")
    for name, weight in weights.items():
        if not (np.abs(weight) <= _LARGEST_WEIGHT).all():
            raise InputError(f"{path}: weight {name} holds values that are not numbers, or absurdly large ones")


def _parsed(text: str) -> Any:
    """JSON of unknown origin; what could not be written again (NaN, half a character) is an error."""
    value = json.loads(text)
    json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    return value


def _card(values: Any) -> dict[str, Any]:
    """A card may hold anything, but what is looked up in it has a form."""
    if not isinstance(values, dict):
        raise InputError("the card must be an object")
    for name in ("data", "errors", "test_errors"):
        if not isinstance(values.get(name, {}), dict):
            raise InputError(f"{name} in the card must be an object")
    if not all(isinstance(errors, dict) for errors in values.get("test_errors", {}).values()):
        raise InputError("test_errors in the card must be an object for each measure")
    return values
