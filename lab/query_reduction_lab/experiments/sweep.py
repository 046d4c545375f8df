"""Runs many trials to completion: plans what is missing, keeps the workers busy, stores the results.

The driver alone writes to the store. A restart is stored the moment its worker reports it; the state of an
interrupted trial stays in its folder until its last restart is stored, and the next sweep resumes from there.
"""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

from query_reduction.errors import InputError
from query_reduction.files import locked, write_atomically
from query_reduction.reading.protocol import Parts
from query_reduction.training.run_folder import STATE_FILE
from query_reduction_lab.experiments.probe import Fingerprint
from query_reduction_lab.experiments.settings import Origin, Setting
from query_reduction_lab.experiments.store import ResultStore, StoredResult
from query_reduction_lab.experiments.trials import Done, Message, Progress, Trial

__all__ = ["Engine", "Job", "Sweep", "has_begun", "only_sweep", "plan"]

_TRIES = 3
_TRIAL_FILE = "trial.json"


@dataclass(frozen=True, slots=True)
class Job:
    """A trial with what is needed to run it."""

    trial: Trial
    origin: Origin
    folder: Path
    """Where its state is kept until it is done."""
    load: Callable[[], Parts]
    cost: float
    """Its estimated duration, in any unit."""


class Engine(Protocol):
    """Where trials run."""

    @property
    def workers(self) -> int:
        """The number of parallel jobs."""

    def start(self, number: int, job: Job) -> None:
        """Start a job on a free worker. Its messages will carry the number."""

    def wait(self, seconds: float) -> list[tuple[int, Message]]:
        """The messages since the last call, waiting at most this long for one."""

    def stop(self) -> None:
        """Ask every running job to keep its state and end."""

    def close(self) -> None:
        """Release all workers."""


@dataclass(slots=True)
class _Running:
    job: Job
    tries: int
    missing: set[int]
    progress: Progress | None = None


@dataclass(slots=True)
class Sweep:
    """The driver: runs jobs on an engine until nothing is left."""

    store: ResultStore
    jobs: Sequence[Job]
    failures: list[str] = field(default_factory=list)
    """Trials given up, and why."""
    retries: list[str] = field(default_factory=list)
    """Trials retried because their worker died."""
    running: dict[int, _Running] = field(default_factory=dict)
    seconds: float = 0.0
    _seen: set[tuple[Path, int]] = field(default_factory=set)
    _done_cost: float = 0.0
    _stopping: bool = False

    @property
    def stored(self) -> int:
        """Restarts stored so far."""
        return len(self._seen)

    @property
    def total(self) -> int:
        """Total number of restarts to store."""
        return sum(len(job.trial.restarts) for job in self.jobs)

    def request_stop(self) -> None:
        """End soon: running trials keep their state."""
        self._stopping = True

    def seconds_left(self) -> float | None:
        """An estimate from the work done so far; None until there is any."""
        running = sum(entry.job.cost * _fraction(entry) for entry in self.running.values())
        done = self._done_cost + running
        if done <= 0:
            return None
        return self.seconds / done * max(sum(job.cost for job in self.jobs) - done, 0.0)

    def run(self, engine: Engine, on_change: Callable[[Sweep], None] = lambda sweep: None) -> bool:
        """Run all jobs, longest first; True if all were run."""
        waiting = [(job, 1) for job in sorted(self.jobs, key=lambda job: -job.cost)]
        begun = time.monotonic()
        number = 0
        asked = False
        while self.running or (waiting and not self._stopping):
            while waiting and len(self.running) < engine.workers and not self._stopping:
                job, tries = waiting.pop(0)
                keep_trial(job)
                self.running[number] = _Running(job, tries, set(job.trial.restarts))
                engine.start(number, job)
                number += 1
            if self._stopping and not asked:
                engine.stop()
                asked = True
            for who, message in engine.wait(0.5):
                again = self._take(who, message)
                if again is not None and not self._stopping:
                    waiting.insert(0, again)
            self.seconds = time.monotonic() - begun
            on_change(self)
        return not self._stopping and not self.failures

    def _take(self, number: int, message: Message) -> tuple[Job, int] | None:
        """Process a message; returns the job if it must be retried."""
        entry = self.running[number]
        job = entry.job
        if isinstance(message, Progress):
            entry.progress = message
        elif isinstance(message, Done):
            origin = replace(job.origin, ran_on=message.ran_on)
            self.store.add(StoredResult(job.trial.setting, message.result, origin, job.trial.restarts))
            entry.missing.discard(message.result.restart)
            self._seen.add((job.folder, message.result.restart))
        else:
            del self.running[number]
            if message.outcome == "finished" and not entry.missing:
                shutil.rmtree(job.folder, ignore_errors=True)
                self._done_cost += job.cost
            elif message.outcome in ("lost", "finished"):
                if entry.tries < _TRIES:
                    self.retries.append(f"{job.trial.name}: {message.why}")
                    return _without_the_done(job, entry.missing), entry.tries + 1
                self.failures.append(f"{job.trial.name}: given up after {_TRIES} tries ({message.why})")
            elif message.outcome == "failed":
                self.failures.append(f"{job.trial.name}: {message.why}")
        return None


def _without_the_done(job: Job, missing: set[int]) -> Job:
    """The job again: as it was if its state was saved, else only with the restarts still missing."""
    if (job.folder / STATE_FILE).exists() or not missing:
        return job
    return replace(job, trial=replace(job.trial, restarts=tuple(sorted(missing))))


def _fraction(entry: _Running) -> float:
    if entry.progress is None:
        return 0.0
    return min(entry.progress.epoch / entry.job.trial.setting.setup.recipe.max_epochs, 1.0)


def plan(
    store: ResultStore,
    unfinished: Path,
    setting: Setting,
    restarts: Iterable[int],
    origin: Origin,
    load: Callable[[], Parts],
    *,
    stack: int,
    cost: float,
    mix: bool = False,
) -> list[Job]:
    """The jobs that train what the store lacks; interrupted ones resume with the restarts they started with.

    ``mix`` also accepts results of code that computes differently. ``cost`` is that of one restart.
    """
    stored = store.find(setting)
    have: set[int] = set()
    if stored is not None:
        every = {record.result.restart for record in stored.records}
        have = every if mix else set(stored.of_code(origin.fingerprint))
    missing = [restart for restart in restarts if restart not in have]
    jobs = []
    for folder, begun in _begun(unfinished, setting, origin):
        if set(begun) & set(missing):
            jobs.append(Job(Trial(setting, begun, origin.fingerprint), origin, folder, load, cost * len(begun)))
            missing = [restart for restart in missing if restart not in begun]
        elif set(begun) <= have:  # killed after its last result was stored
            shutil.rmtree(folder, ignore_errors=True)
    for first in range(0, len(missing), stack):
        part = tuple(missing[first : first + stack])
        trial = Trial(setting, part, origin.fingerprint)
        folder = unfinished / f"{_cell_name(setting)}-{setting.key()}-{part[0]}-{part[-1]}"
        jobs.append(Job(trial, origin, folder, load, cost * len(part)))
    return jobs


def has_begun(unfinished: Path, setting: Setting) -> bool:
    """Whether there is a folder of trials of this cell, by whatever recipe, that began and were not finished."""
    begins = f"{_cell_name(setting)}-"
    return any(path.name.startswith(begins) for path in unfinished.iterdir())


def _cell_name(setting: Setting) -> str:
    return f"{setting.table}-{setting.column.replace(' ', '-')}-{setting.task}"


@contextmanager
def only_sweep(unfinished: Path, table: str) -> Iterator[None]:
    """Prevent a second sweep of the same table: both would write the same states."""
    busy = f"another sweep of {table} is running in {unfinished.parent}: wait for it, or use another --out"
    with locked(unfinished / f"{table}.locked", busy):
        yield


def keep_trial(job: Job) -> None:
    """Record which trial's state the folder will hold."""
    known = _read_trial(job.folder)
    if known is None or known.restarts != job.trial.restarts or not _same(known, job.trial):
        shutil.rmtree(job.folder, ignore_errors=True)
    about = {
        "setting": job.trial.setting.as_json(),
        "restarts": list(job.trial.restarts),
        "probe": list(job.trial.fingerprint.plain),
        "native_probe": list(job.trial.fingerprint.native),
    }
    write_atomically(job.folder / _TRIAL_FILE, json.dumps(about) + "\n")


def _begun(unfinished: Path, setting: Setting, origin: Origin) -> list[tuple[Path, tuple[int, ...]]]:
    """Folders with interrupted trials of this setting and code, and their restarts."""
    found = []
    for path in sorted(unfinished.glob(f"*/{_TRIAL_FILE}")):
        known = _read_trial(path.parent)
        if known is not None and _same(known, Trial(setting, known.restarts, origin.fingerprint)):
            found.append((path.parent, known.restarts))
    return found


def _read_trial(folder: Path) -> Trial | None:
    """The trial a folder holds the state of; None if there is none that this version can resume."""
    try:
        known: dict[str, Any] = json.loads((folder / _TRIAL_FILE).read_text(encoding="utf-8"))
        fingerprint = Fingerprint(tuple(known["probe"]), tuple(known["native_probe"]))
        return Trial(Setting.from_json(known["setting"]), tuple(known["restarts"]), fingerprint)
    except (OSError, ValueError, KeyError, TypeError, InputError):
        return None


def _same(known: Trial, trial: Trial) -> bool:
    """Whether two trials differ in nothing but rounding."""
    return known.setting.same_as(trial.setting) and known.fingerprint.agrees(trial.fingerprint)
