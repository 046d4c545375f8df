"""What a resumed training refuses: damaged and forged states, folders in use, restarts that diverged."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from safetensors import safe_open
from walking import train

from query_reduction.cli import main
from query_reduction.errors import InputError
from query_reduction.files import locked
from query_reduction.model_file import save_tensors
from query_reduction.reading.protocol import Parts
from query_reduction.reading.stories import StoryOptions
from query_reduction.rivals.registry import resolve
from query_reduction.sources.named import load_parts
from query_reduction.training import state
from query_reduction.training.recipes import Recipe
from query_reduction.training.run import Run, run_result
from query_reduction.training.run_folder import STATE_FILE, RunFolder
from query_reduction.training.setup import Setup

RECIPE = Recipe(restarts=2, max_epochs=4, evaluate_every=1, optimiser="adam", learning_rate=0.01)


@pytest.fixture(scope="module")
def parts() -> Parts:
    return load_parts("generated", "1", questions=120)


def make(parts: Parts, recipe: Recipe = RECIPE) -> Run:
    return Run(parts, Setup(resolve("2r8"), StoryOptions(), recipe))


@pytest.fixture(scope="module")
def stopped_run(parts: Parts, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a training that was stopped after its first epoch."""
    folder = tmp_path_factory.mktemp("stopped")
    train(make(parts), folder, until=1)
    return folder


@pytest.fixture
def stopped(stopped_run: Path, tmp_path: Path) -> Path:
    """Its state, in a folder of its own."""
    return shutil.copytree(stopped_run, tmp_path / "run") / STATE_FILE


def refusal(parts: Parts, path: Path) -> str:
    with pytest.raises(InputError) as caught:
        RunFolder(path.parent).resume(make(parts))
    assert str(caught.value).startswith(str(path)) and "\n" not in str(caught.value)
    return str(caught.value)


def test_no_flipped_bit_goes_unnoticed(parts: Parts, stopped: Path) -> None:
    whole = stopped.read_bytes()
    for place in np.random.default_rng(0).choice(len(whole) * 8, 60, replace=False).tolist():
        damaged = bytearray(whole)
        damaged[place // 8] ^= 1 << place % 8
        stopped.write_bytes(damaged)
        refusal(parts, stopped)
    stopped.write_bytes(whole)
    assert RunFolder(stopped.parent).resume(make(parts))


def _value(name: str, value: Any) -> Callable[[dict[str, Any], dict[str, NDArray[Any]]], None]:
    def change(progress: dict[str, Any], tensors: dict[str, NDArray[Any]]) -> None:
        progress[name] = value

    return change


def _restart(name: str, value: Any) -> Callable[[dict[str, Any], dict[str, NDArray[Any]]], None]:
    def change(progress: dict[str, Any], tensors: dict[str, NDArray[Any]]) -> None:
        progress["restarts"][0][name] = value

    return change


def _tensor(name: str, value: NDArray[Any] | None) -> Callable[[dict[str, Any], dict[str, NDArray[Any]]], None]:
    def change(progress: dict[str, Any], tensors: dict[str, NDArray[Any]]) -> None:
        if value is None:
            del tensors[name]
        else:
            tensors[name] = value

    return change


@pytest.mark.parametrize(
    "forge",
    [
        _value("epoch", -1),
        _value("epoch", "many"),
        _value("epoch", 10**30),
        _value("epoch", True),
        _value("seconds", None),
        _value("seconds", float("nan")),
        _value("restarts", []),
        _value("restarts", 7),
        _value("restarts", [{}]),
        _restart("number", 9),
        _restart("weights", {"a": 1}),
        _restart("stopped", "yes"),
        _restart("dev_loss", "low"),
        _restart("best_epoch", -3),
        _restart("what", 1),
        _tensor("steps", None),
        _tensor("steps", np.zeros(3, np.float32)),
        _tensor("value/embedding", np.zeros((2, 3), np.float32)),
        _tensor("value/embedding", None),
        _tensor("average/embedding", np.zeros(1, np.float32)),
        _tensor("best/0/embedding", None),
        _tensor("more", np.zeros(1, np.float32)),
    ],
)
def test_forged_states_with_a_fitting_checksum(
    parts: Parts, stopped: Path, forge: Callable[[dict[str, Any], dict[str, NDArray[Any]]], None]
) -> None:
    with safe_open(stopped, framework="np") as file:
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        metadata = file.metadata()
    progress = json.loads(metadata["progress"])
    forge(progress, tensors)
    texts = {"about": metadata["about"], "progress": json.dumps(progress)}
    save_tensors(stopped, state._FORMAT, tensors, texts)
    assert "not a state of this training" in refusal(parts, stopped)


def test_two_trainings_do_not_share_a_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["train", "--questions", "60", "--task", "1", "--max-epochs", "1", "--restarts", "1", "--threads", "1"]
    out = tmp_path / "run.1"
    with locked(out):
        assert main([*command, "--out", str(out)]) == 1
    assert f"another training is writing to {out}" in capsys.readouterr().err
    (out / ".model.safetensors.12345678.part").write_text("left by a killed process")
    assert main([*command, "--out", str(out)]) == 0
    assert sorted(entry.name for entry in out.iterdir()) == ["curves.jsonl", "model.safetensors", "result.json"]


def test_curves_that_are_damaged_are_replaced(parts: Parts, stopped: Path) -> None:
    curves = stopped.parent / "curves.jsonl"
    curves.write_bytes(curves.read_bytes() + b'{"epoch": []}\n[1]\n\xff\n{"epoch": 1e999}\n{"epoch"')
    run = make(parts)
    RunFolder(stopped.parent).resume(run)
    train(run, stopped.parent)
    assert {json.loads(line)["epoch"] for line in curves.read_text().splitlines()} == {1, 2, 3, 4}


@pytest.mark.parametrize(("optimiser", "rate"), [("adagrad", 50.0), ("adagrad", 1000.0), ("adam", 1000.0)])
def test_absurd_learning_rates_are_noticed(parts: Parts, optimiser: Any, rate: float) -> None:
    run = make(parts, replace(RECIPE, optimiser=optimiser, learning_rate=rate, max_epochs=12))
    train(run)
    assert all(restart.diverged for restart in run.trainer.restarts)
    with pytest.raises(InputError, match="every restart diverged"):
        run_result(run)


def test_a_network_that_learns_slowly_has_not_diverged(parts: Parts) -> None:
    run = make(parts, replace(RECIPE, optimiser="sgd", learning_rate=1e-4))
    train(run)
    assert run_result(run).diverged == ()
