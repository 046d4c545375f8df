"""Models and training states as safetensors files: written atomically, checked when read, never pickle.

A model is one file: its weights, and in the header its configuration, vocabulary and card (where it comes from and
what it scored). One file cannot be half replaced.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from query_reduction.config import ModelConfig
from query_reduction.data.vocabulary import Vocabulary
from query_reduction.errors import InputError
from query_reduction.files import write_atomically
from query_reduction.networks.qrn import QueryReductionNetwork
from query_reduction.tasks.preparation import Preparation

__all__ = ["MODEL_FILE", "SavedModel", "load_model", "load_tensors", "save_model", "save_tensors"]

MODEL_FILE = "model.safetensors"
_FORMAT = "query-reduction model 1"
_LONGEST_TEXT = 200_000_000


@dataclass(frozen=True, slots=True)
class SavedModel:
    """A trained network with all it takes to use it."""

    config: ModelConfig
    vocabulary: Vocabulary
    weights: Mapping[str, Tensor]
    card: Mapping[str, Any] = field(default_factory=dict)
    """Where it comes from: data, recipe, command, measured errors."""
    preparation: Preparation | None = None
    """Of dialog models: what is done with dialogs before the network reads them."""

    def network(self) -> QueryReductionNetwork:
        """The network, a stack of one, with these weights."""
        network = QueryReductionNetwork(
            self.config,
            self.vocabulary.size,
            len(self.vocabulary.answers),
            longest_sentence=self.vocabulary.longest_sentence,
            vocabulary=self.vocabulary,
        )
        network.load_state_dict(dict(self.weights))
        return network.eval()


def save_tensors(path: Path, tensors: Mapping[str, Tensor], metadata: Mapping[str, str]) -> None:
    """Write named tensors and texts as one safetensors file, atomically."""
    write_atomically(path, save({name: tensor.contiguous() for name, tensor in tensors.items()}, dict(metadata)))


def load_tensors(path: Path) -> tuple[dict[str, Tensor], dict[str, str]]:
    """Read what ``save_tensors`` wrote; a damaged file gives an error that names it."""
    try:
        with safe_open(path, framework="pt") as file:
            return {name: file.get_tensor(name) for name in file.keys()}, file.metadata() or {}  # noqa: SIM118
    except FileNotFoundError as error:
        raise InputError(f"{path}: no such file") from error
    except (SafetensorError, OSError) as error:
        raise InputError(f"{path}: damaged or not a safetensors file ({str(error).splitlines()[0]})") from error


def save_model(path: Path, model: SavedModel) -> None:
    """Write a model file."""
    vocabulary = asdict(model.vocabulary)
    metadata = {
        "format": _FORMAT,
        "config": json.dumps(asdict(model.config)),
        "vocabulary": json.dumps(vocabulary, ensure_ascii=False),
        "card": json.dumps(dict(model.card), ensure_ascii=False),
    }
    if model.preparation is not None:
        metadata["dialog"] = _squeeze(json.dumps(model.preparation.as_json(), ensure_ascii=False))
    save_tensors(path, model.weights, metadata)


def _squeeze(text: str) -> str:
    """The places of a knowledge base repeat each other: compressed they are a tenth."""
    return base64.b85encode(zlib.compress(text.encode(), 9)).decode()


def _unsqueeze(squeezed: str) -> str:
    """What ``_squeeze`` made; a text that unfolds without end is an error."""
    unfolding = zlib.decompressobj()
    text = unfolding.decompress(base64.b85decode(squeezed), _LONGEST_TEXT)
    if not unfolding.eof:
        raise ValueError("a compressed text is cut short or too long")
    return text.decode()


def load_model(path: Path) -> SavedModel:
    """Read a model file, or the model of a run's folder."""
    if path.is_dir():
        if not (path / MODEL_FILE).exists():
            raise InputError(f"{path}: no {MODEL_FILE} in this folder (was the training finished?)")
        path = path / MODEL_FILE
    weights, metadata = load_tensors(path)
    if metadata.get("format") != _FORMAT:
        found = metadata.get("format")
        raise InputError(f"{path}: not a query-reduction model" + (f" this version reads ({found})" if found else ""))
    try:
        config = ModelConfig(**json.loads(metadata["config"]))
        fields = json.loads(metadata["vocabulary"])
        vocabulary = Vocabulary(**fields | {"words": tuple(fields["words"]), "answers": tuple(fields["answers"])})
        preparation = (
            Preparation.from_json(json.loads(_unsqueeze(metadata["dialog"]))) if "dialog" in metadata else None
        )
        model = SavedModel(config, vocabulary, weights, json.loads(metadata["card"]), preparation)
        network = model.network()
    except (KeyError, TypeError, ValueError, RuntimeError, zlib.error) as error:
        raise InputError(f"{path}: weights and configuration do not fit ({str(error).splitlines()[0]})") from error
    if not all(torch.isfinite(weight).all() for weight in network.parameters()):
        raise InputError(f"{path}: holds weights that are not numbers (NaN or infinite)")
    return model
