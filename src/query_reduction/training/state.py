"""The state of a training, saved so that it can be resumed: everything in it is checked when it is read."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from query_reduction.errors import InputError
from query_reduction.model_file import load_tensors, save_tensors

__all__ = ["Restart", "State", "load_state", "save_state"]

_FORMAT = "query-reduction training state 1"
_MOST_EPOCHS = 10**9


@dataclass(slots=True)
class Restart:
    """How far one restart has come, and its best state so far."""

    number: int
    epochs: int = 0
    best_epoch: int = 0
    solved_epoch: int | None = None
    """The first epoch at which every development question was answered correctly."""
    dev_loss: float = math.inf
    dev_error: float = math.inf
    stopped: bool = False
    diverged: bool = False
    """Its loss is no longer finite, or all questions get the same answer; further training is useless."""
    weights: dict[str, Tensor] = field(default_factory=dict)


@dataclass(slots=True)
class State:
    """How far a training has come."""

    epoch: int
    seconds: float
    restarts: list[Restart]
    tensors: dict[str, Tensor]
    """The parameters and optimiser state of the restarts still training; empty if there are none."""

    @property
    def active(self) -> list[Restart]:
        """The restarts still training."""
        return [restart for restart in self.restarts if not restart.stopped]


def save_state(path: Path, about: Mapping[str, Any], state: State) -> None:
    """Write a state; ``about`` says what is trained."""
    tensors = dict(state.tensors)
    records = []
    for restart in state.restarts:
        tensors |= {f"best/{restart.number}/{name}": weight for name, weight in restart.weights.items()}
        records.append({name: value for name, value in asdict(restart).items() if name != "weights"})
    progress = {"epoch": state.epoch, "seconds": state.seconds, "restarts": records}
    arrays = {name: tensor.detach().numpy() for name, tensor in tensors.items()}
    save_tensors(path, _FORMAT, arrays, {"about": json.dumps(about), "progress": json.dumps(progress)})


def load_state(
    path: Path,
    about: Mapping[str, Any],
    restarts: Sequence[int],
    parameters: Mapping[str, Tensor],
    kinds: Sequence[str],
) -> State | None:
    """Read a state; None if it belongs to another training.

    ``parameters`` are like those of the restarts, and ``kinds`` names what is kept of each while it trains.
    """
    arrays, metadata = load_tensors(path, _FORMAT)
    try:
        tensors = {name: torch.from_numpy(array) for name, array in arrays.items()}
        if json.loads(metadata["about"]) != json.loads(json.dumps(about)):
            return None
        progress = json.loads(metadata["progress"])
        saved = [Restart(**record) for record in progress["restarts"]]
        state = State(progress["epoch"], progress["seconds"], saved, tensors)
        _check_progress(state, restarts)
        for restart in saved:
            if restart.epochs:
                names = {name: f"best/{restart.number}/{name}" for name in parameters}
                restart.weights = {name: _take(tensors, key, parameters[name], 1) for name, key in names.items()}
        if state.active:
            expected = [(f"{kind}/{name}", like) for kind in kinds for name, like in parameters.items()]
            state.tensors = {key: _take(tensors, key, like, len(state.active)) for key, like in expected}
            state.tensors["steps"] = _take(tensors, "steps", torch.zeros(1), None)
        if tensors:
            raise ValueError(f"it also holds {next(iter(tensors))!r}")
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        reason = f"{error} is missing" if isinstance(error, KeyError) else str(error)
        raise InputError(f"{path}: not a state of this training ({reason}); delete it to start again") from error
    return state


def _check_progress(state: State, restarts: Sequence[int]) -> None:
    if [restart.number for restart in state.restarts] != list(restarts):
        raise ValueError("it belongs to other restarts")
    counts = [state.epoch]
    numbers = [state.seconds]
    for restart in state.restarts:
        if any(type(getattr(restart, name)) is not bool for name in ("stopped", "diverged")) or restart.weights:
            raise ValueError(f"restart {restart.number} has a field of the wrong type")
        counts += [restart.epochs, restart.best_epoch, restart.solved_epoch or 0]
        numbers += [restart.dev_loss, restart.dev_error]
    if any(type(count) is not int or not 0 <= count <= _MOST_EPOCHS for count in counts):
        raise ValueError("an epoch count is not a valid integer")
    if any(type(number) is not float for number in numbers) or not 0 <= state.seconds < math.inf:
        raise ValueError("a loss, an error or a time is not a valid number")


def _take(tensors: dict[str, Tensor], name: str, like: Tensor, restarts: int | None) -> Tensor:
    """Remove a tensor from those read and return it, if it has the right type and shape."""
    tensor = tensors.pop(name)
    shape = () if restarts is None else (restarts, *like.shape[1:])
    if tensor.dtype != like.dtype or tensor.shape != shape:
        raise ValueError(f"{name} is {tuple(tensor.shape)}, not {tuple(shape)}")
    return tensor
