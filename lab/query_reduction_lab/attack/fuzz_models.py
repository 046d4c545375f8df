"""Fuzzing of model files and training states: their bytes, and forged ones with a fitting checksum."""

from __future__ import annotations

import json
import math
import random
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import save

from query_reduction import model_file as checkpoint
from query_reduction.errors import InputError
from query_reduction.export.targets import export_model
from query_reduction.model import DialogModel, StoryModel, model_of
from query_reduction.model_file import SavedModel, load_model, load_tensors, save_model
from query_reduction.models import find_model
from query_reduction.reading.stories import StoryOptions, StoryParts
from query_reduction.rivals.registry import build_network, config_to_json, kinds, resolve
from query_reduction.serve.catalog import describe
from query_reduction.sources.named import load_parts
from query_reduction.training import state
from query_reduction.training.recipes import Recipe
from query_reduction.training.restarts import epochs
from query_reduction.training.run import Run, best_restart, run_result, train_to_end, trained_model
from query_reduction.training.run_folder import STATE_FILE, RunFolder
from query_reduction.training.setup import Setup, setup
from query_reduction.worlds import generate

__all__ = ["Target", "models", "states"]

_WHOLE = 0
_TENSORS = 1
_TEXTS = 2
_NETWORK = 3
"""The second of a model's texts, which are in the order of their names."""
_PARTS = 16
"""What the first byte of an input says it is, in steps of ``_PARTS`` for each model: the whole file, a seed of changes
to the tensors, or a text of the header."""


@dataclass(frozen=True)
class Target:
    """Seeds, and what is done with an input made from them."""

    seeds: tuple[bytes, ...]
    attempt: Callable[[bytes], object]


class _Forger:
    """Writes a safetensors file as an input says."""

    def __init__(self, path: Path, kind: str) -> None:
        self._path, self._kind = path, kind
        self._tensors, metadata = load_tensors(path, kind)
        self._texts = {name: text for name, text in metadata.items() if name != "format"}
        self._names = sorted(self._texts)
        self._whole = path.read_bytes()

    def seeds(self, model: int = 0) -> list[bytes]:
        """The file, a few changes to tensors, and each text of the header."""
        parts = [self._whole[:100_000], b"0123", *(self._plain(name).encode() for name in self._names)]
        return [bytes([_PARTS * model + number]) + part for number, part in enumerate(parts)]

    def forge(self, data: bytes) -> None:
        """Write it."""
        number, rest = data[0] % _PARTS % (_TEXTS + len(self._names)), data[1:]
        if number == _WHOLE:
            self._path.write_bytes(rest)
            return
        tensors, texts = self._tensors, dict(self._texts)
        if number == _TENSORS:
            tensors = _other_tensors(tensors, random.Random(rest))
        else:
            name, text = self._names[number - _TEXTS], rest.decode("utf-8", "replace")
            texts[name] = checkpoint._squeeze(text) if name == "task" else text
        texts["format"] = self._kind
        texts["sha256"] = checkpoint._checksum(tensors, texts)
        # Not by save_tensors, which waits for the disk.
        self._path.write_bytes(save({name: np.asarray(array, order="C") for name, array in tensors.items()}, texts))

    def _plain(self, name: str) -> str:
        return checkpoint._unsqueeze(self._texts[name]) if name == "task" else self._texts[name]


def _other_tensors(arrays: dict[str, NDArray[Any]], chance: random.Random) -> dict[str, NDArray[Any]]:
    """Some of other types, shapes and values, missing, renamed or too many."""
    changed = dict(arrays)
    for _ in range(chance.randint(1, 3)):
        name = chance.choice(sorted(changed))
        array = changed[name]
        kind = chance.randrange(7)
        if kind == 0:
            with np.errstate(all="ignore"):  # not every number has a place in every type
                changed[name] = array.astype(chance.choice(("f2", "f8", "i8", "?", "u1", "i1", "i2")))
        elif kind == 1 and array.ndim:
            changed[name] = array.take([], axis=chance.randrange(array.ndim))
        elif kind == 2 and array.ndim:
            changed[name] = np.concatenate((array, array), axis=chance.randrange(array.ndim))
        elif kind == 3 and array.dtype.kind == "f":
            value = chance.choice((math.nan, math.inf, 1e30, -1e6, 1e-40, 0))
            changed[name] = np.full_like(array, value, dtype=np.float32)
        elif kind == 4:
            changed[name] = array.reshape(-1)
        elif kind == 5:
            changed[f"{name}2"] = array.copy()
        else:
            del changed[name]
        if not changed:
            return dict(arrays)
    return changed


def _small_models() -> list[SavedModel]:
    """Models that have everything a header may hold."""
    stories = [replace(story, task=str(task)) for task in (1, 2) for story in generate(task, 60)]
    found = []
    plain = setup("2rv5", changes={"gate_stretch": 1.2, "decode_questions": True}).network
    for config, memory in ((plain, 0), (resolve("3"), 5), (resolve("gru"), 5)):
        options = StoryOptions(memory=memory, symmetries=memory == 0, writing="any")
        task = StoryParts("small", stories).learn(options, stories)
        card = {"test_errors": {"answer": {"1": 0.5, "2": 1.5}}, "title": "small", "about": "a story"}
        parameters = build_network(config, task.vocabulary, task.head).named_parameters()
        weights = {name: parameter.detach().numpy() for name, parameter in parameters}
        found.append(SavedModel(config, task, weights, card))
    changes = {"restarts": 1, "max_epochs": 1, "evaluate_every": 1}
    run = Run(load_parts("generated-dialog", "5", questions=5), setup("2r8c", kind="dialogs", changes=changes))
    train_to_end(run)
    return [*found, trained_model(run, best_restart(run), {"about": "a dialog"})]


def models() -> Target:
    """Model files of stories and dialogs, with symmetries, stretched gates, decoders and without."""
    folder = Path(tempfile.mkdtemp())
    paths = [folder / f"{number}.safetensors" for number in range(5)]
    paths[0].write_bytes(find_model("task1").read_bytes())
    for path, saved in zip(paths[1:], _small_models(), strict=True):
        save_model(path, saved)
    forgers = [_Forger(path, checkpoint._FORMAT) for path in paths]
    seeds = [seed for number, forger in enumerate(forgers) for seed in forger.seeds(number)]
    networks = [json.dumps(config_to_json(kind.config())).encode() for kind in kinds().values()]
    seeds += [bytes([_PARTS + _NETWORK]) + network for network in networks]

    def attempt(data: bytes) -> None:
        number = data[0] // _PARTS % len(forgers)
        forgers[number].forge(data)
        _use(model_of(load_model(paths[number])), folder / "exported")

    return Target(tuple(seeds), attempt)


def _use(model: StoryModel | DialogModel, folder: Path) -> None:
    """All that is done with a model of unknown origin."""
    json.dumps(describe("model", model), allow_nan=False, ensure_ascii=False).encode()
    export_model(model, folder)
    if isinstance(model, DialogModel):
        model.respond(["hi", "hello"], "a table in rome for two")
        return
    told = ["Mary went home.", "Zoe went to the garden.", "Ein Satz."]
    model.answer(told, "Where is Zoe?")
    model.answer_from(iter(told), "Where is Mary?")
    if model.shows_reading:
        model.explain(told, "Where is Mary?").as_json()
        export_model(model, folder / "page.html")


def states() -> Target:
    """States of an interrupted training; one that is accepted must be good to train on."""
    folder = Path(tempfile.mkdtemp())
    parts = load_parts("generated", "1", questions=60)
    recipe = Recipe(restarts=2, max_epochs=3, evaluate_every=1)

    def make() -> Run:
        return Run(parts, Setup(resolve("1r4"), StoryOptions(), recipe))

    run_folder = RunFolder(folder)
    stopped = make()
    with run_folder.kept(stopped) as keep:
        keep(next(epochs(stopped.trainer)))
    forger = _Forger(folder / STATE_FILE, state._FORMAT)
    resuming = make()

    def attempt(data: bytes) -> None:
        forger.forge(data)
        if not run_folder.resume(resuming):
            raise InputError("no state")
        resumed = make()
        run_folder.resume(resumed)
        train_to_end(resumed)
        run_result(resumed)

    return Target(tuple(forger.seeds()), attempt)
