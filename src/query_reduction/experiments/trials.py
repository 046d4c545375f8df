"""A trial: some restarts of one network on one set of stories, the unit of work of a sweep.

A worker (a process here, or a task on a cluster) runs a trial and tells what happens as messages. Every message is
plain data, so it can travel; the restarts' results are told one by one, as soon as each restart is done.
"""

from __future__ import annotations

import hashlib
import json
import math
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal

from query_reduction.config import ModelConfig, Recipe
from query_reduction.data.encoding import EncodedQuestions, encode_stories
from query_reduction.errors import InputError
from query_reduction.experiments.probe import agree, probe
from query_reduction.tasks.answers import error_by_task, evaluate, percent_wrong
from query_reduction.tasks.sources import Parts
from query_reduction.training.restarts import Restart
from query_reduction.training.run import Run, RunSettings

__all__ = [
    "MESSAGE_EVERY",
    "Ended",
    "Message",
    "Progress",
    "RestartResult",
    "Setting",
    "Trial",
    "run_trial",
    "tell_trial",
]

MESSAGE_EVERY = 5.0
"""Seconds between two messages of a trial; its state is saved as often."""
_RECIPE_OF_THE_SWEEP = "restarts"


@dataclass(frozen=True, slots=True)
class Setting:
    """What decides a restart's result, apart from its number and the code."""

    table: str
    variant: str
    task: str
    """The task's number, or ``all`` for one network trained on every task."""
    model: ModelConfig
    recipe: Recipe
    data: str
    """sha256 of the stories."""
    data_name: str = ""
    data_note: str = ""
    """Set where the data is not the published one; every table repeats it."""

    def as_json(self) -> dict[str, Any]:
        """For the store. How many restarts there are to be is the sweep's business, not the setting's."""
        value = asdict(self)
        del value["recipe"][_RECIPE_OF_THE_SWEEP]
        return value

    def key(self) -> str:
        """A short name that differs when any field does."""
        return hashlib.sha256(json.dumps(self.as_json(), sort_keys=True).encode()).hexdigest()[:8]

    def same_as(self, stored: dict[str, Any]) -> bool:
        """Whether a stored setting is this one. An option that did not exist when it was stored counts as not used."""
        own = self.as_json()
        for part, default in (("model", asdict(ModelConfig())), ("recipe", asdict(Recipe()))):
            if stored[part].keys() - own[part].keys():
                return False
            if any(stored[part].get(name, default[name]) != value for name, value in own[part].items()):
                return False
        return all(stored[name] == own[name] for name in ("table", "variant", "task", "data"))


@dataclass(frozen=True, slots=True)
class RestartResult:
    """What one restart came to."""

    restart: int
    epochs: int
    best_epoch: int
    dev_loss: float | None
    """None where it is not a number: the restart diverged."""
    dev_error: float | None
    errors: dict[str, dict[str, float]]
    """Test error in percent: measure → row of the table → error. Stories have one measure, ``answer``; dialogs have
    ``per slot``, ``exact match`` and ``per dialog``, and rows with ``-OOV`` for the test with names never seen."""
    seconds: float
    """The trial's time so far, shared by the restarts that trained together."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a trial has come."""

    epoch: int
    active: int
    best_dev_error: float | None


@dataclass(frozen=True, slots=True)
class Ended:
    """A trial's last message."""

    outcome: Literal["finished", "stopped", "failed", "lost"]
    """``stopped``: as asked; ``failed``: the code raised; ``lost``: its worker died."""
    why: str = ""


Message = RestartResult | Progress | Ended


@dataclass(frozen=True, slots=True)
class Trial:
    """Restarts to train together."""

    setting: Setting
    restarts: tuple[int, ...]
    probe: tuple[float, ...]
    """What the driver's code computes; a worker whose code computes something else must not take part."""

    @property
    def name(self) -> str:
        """For people."""
        numbers = f"{self.restarts[0]}-{self.restarts[-1]}" if len(self.restarts) > 1 else str(self.restarts[0])
        return f"{self.setting.table} {self.setting.variant} task {self.setting.task} restarts {numbers}"


def tell_trial(
    trial: Trial,
    parts: Parts,
    folder: Path | None,
    should_stop: Callable[[], bool] = lambda: False,
    every: float = MESSAGE_EVERY,
) -> Iterator[Message]:
    """``run_trial`` for a worker: whatever happens, the last message says how it ended."""
    missing = set(trial.restarts)
    try:
        for message in run_trial(trial, parts, folder, should_stop, every):
            if isinstance(message, RestartResult):
                missing.discard(message.restart)
            yield message
        yield Ended("stopped" if missing else "finished")
    except InputError as error:
        yield Ended("failed", str(error))
    except Exception as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        yield Ended("failed", f"{type(error).__name__}: {error} ({where.name}, line {where.lineno})")


def run_trial(
    trial: Trial,
    parts: Parts,
    folder: Path | None,
    should_stop: Callable[[], bool] = lambda: False,
    every: float = MESSAGE_EVERY,
) -> Iterator[RestartResult | Progress]:
    """Train, and tell; ends early, with everything kept in ``folder``, once ``should_stop``."""
    setting = trial.setting
    recipe = replace(setting.recipe, restarts=len(trial.restarts))
    if not agree(probe(setting.model, setting.recipe), trial.probe):
        raise InputError(f"{trial.name}: the worker's code computes something else than the driver's; start again")
    run = Run(parts, RunSettings(setting.model, recipe, folder), trial.restarts)
    if run.checksum != setting.data:
        raise InputError(f"{trial.name}: the data has changed since the sweep began; start again")
    run.resume()
    test = encode_stories([] if parts.dialogs else parts.test, run.vocabulary, setting.model.memory)
    told: set[int] = set()
    stopping = False

    def after_epoch(run: Run) -> None:
        nonlocal stopping
        stopping = stopping or should_stop()
        run.stop_requested = stopping or time.monotonic() - since >= every

    while True:
        since = time.monotonic()
        run.stop_requested = False
        finished = run.train(after_epoch)
        for restart in run.trainer.restarts:
            if restart.number not in told and (restart.stopped or finished):
                told.add(restart.number)
                yield _result(run, restart, test)
        if finished or stopping:
            return
        errors = [restart.dev_error for restart in run.trainer.restarts if math.isfinite(restart.dev_error)]
        yield Progress(run.trainer.epoch, run.trainer.active, min(errors, default=None))


def _result(run: Run, restart: Restart, test: EncodedQuestions) -> RestartResult:
    errors: dict[str, dict[str, float]] = {}
    if run.preparation is not None:
        errors = _response_errors(run.test_responses(restart)["responses"], run.parts.test[0].task)
    elif len(test):
        correct = evaluate(run.model(restart).network(), test).correct[0]
        errors = {"answer": error_by_task(test, correct) or {"": percent_wrong(correct)}}
    return RestartResult(
        restart.number,
        restart.epochs,
        restart.best_epoch,
        _number(restart.dev_loss),
        _number(restart.dev_error),
        errors,
        round(run.trainer.seconds, 1),
    )


def _response_errors(scores: dict[str, dict[str, float]], task: str) -> dict[str, dict[str, float]]:
    rows = {"test": task, "unseen names": f"{task}-OOV"}
    return {
        measure.replace("_", " "): {rows[name]: round(100 - score[measure], 4) for name, score in scores.items()}
        for measure in ("per_slot", "exact_match", "per_dialog")
    }


def _number(value: float) -> float | None:
    return round(float(value), 6) if math.isfinite(value) else None
