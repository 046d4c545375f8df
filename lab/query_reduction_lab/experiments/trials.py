"""A trial: some restarts of one network on one set of stories, the unit of work of a sweep.

A worker (a process here, or a task on a cluster) runs a trial and reports what happens as messages. Every message is
plain data, so it can travel; each restart's result is reported as soon as the restart is done.
"""

from __future__ import annotations

import math
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from query_reduction.errors import InputError
from query_reduction.native import library
from query_reduction.reading.protocol import Parts
from query_reduction.training.restarts import epochs
from query_reduction.training.results import RestartResult
from query_reduction.training.run import Run, score_restarts
from query_reduction.training.run_folder import RunFolder
from query_reduction_lab.experiments.probe import Fingerprint, fingerprint, uses_native
from query_reduction_lab.experiments.settings import Processor, Setting

__all__ = ["MESSAGE_EVERY", "Done", "Ended", "Message", "Progress", "Trial", "report_trial", "run_trial"]

MESSAGE_EVERY = 5.0
"""Seconds between two messages of a trial; its state is saved just as often."""


@dataclass(frozen=True, slots=True)
class Done:
    """A restart is done."""

    result: RestartResult
    ran_on: Processor


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
    """``stopped``: on request; ``failed``: the code raised; ``lost``: its worker died."""
    why: str = ""


Message = Done | Progress | Ended


@dataclass(frozen=True, slots=True)
class Trial:
    """Restarts to train together."""

    setting: Setting
    restarts: tuple[int, ...]
    fingerprint: Fingerprint
    """What the driver's code computes; a worker whose code computes something else must not take part."""

    @property
    def name(self) -> str:
        """A readable name."""
        numbers = f"{self.restarts[0]}-{self.restarts[-1]}" if len(self.restarts) > 1 else str(self.restarts[0])
        setting = self.setting
        return f"{setting.table} {setting.column} task {setting.task} {setting.recipe_name} restarts {numbers}"


def report_trial(
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
            if isinstance(message, Done):
                missing.discard(message.result.restart)
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
) -> Iterator[Done | Progress]:
    """Train and report; ends early, with everything kept in ``folder``, once ``should_stop``."""
    setup = trial.setting.setup
    if not fingerprint(setup).agrees(trial.fingerprint):
        raise InputError(f"{trial.name}: the worker's code computes something different from the driver's; start again")
    setup = replace(setup, recipe=replace(setup.recipe, restarts=len(trial.restarts)))
    run = Run(parts, setup, trial.restarts)
    if run.checksum != trial.setting.data:
        raise InputError(f"{trial.name}: the data has changed since the sweep began; start again")
    run_folder = RunFolder(folder)
    run_folder.resume(run)
    ran_on = _processor(run)
    reported: set[int] = set()
    stopping = False
    while True:
        # The state is saved before every message, so that a restart that is reported done stays done.
        with run_folder.kept(run) as keep:
            since = time.monotonic()
            for epoch in epochs(run.trainer):
                keep(epoch)
                stopping = should_stop()
                if stopping or time.monotonic() - since >= every:
                    break
        finished = run.trainer.finished
        for restart in run.trainer.restarts:
            if restart.number not in reported and (restart.stopped or finished):
                reported.add(restart.number)
                yield Done(score_restarts(run, [restart])[0], ran_on)
        if finished or stopping:
            return
        errors = [restart.dev_error for restart in run.trainer.restarts if math.isfinite(restart.dev_error)]
        yield Progress(run.trainer.epoch, run.trainer.active, min(errors, default=None))


def _processor(run: Run) -> Processor:
    native = uses_native(run.trainer.network)
    return Processor(library.variant() if native else None, native)
