"""Contenders in separate processes, timed in turn: thread pools that share a process disturb each other."""

from __future__ import annotations

import json
import os
import selectors
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from query_reduction_lab.bench.results import LeftOut, Race, Samples
from query_reduction_lab.bench.timing import SLOW, Effort

__all__ = ["Entrant", "Field", "Worker", "WorkerError"]

_SETTLE = 0.03
"""Seconds between two samples: idle threads of a pool spin for a while before they sleep."""
_FEWEST_CALLS = 5
"""Calls in a sample, unless they are slow."""
_STARTING = 120.0
"""Seconds a process may take to load its libraries, on top of what it may take to get ready."""


class WorkerError(Exception):
    """The process ended or did not answer in time."""


@dataclass(frozen=True, slots=True)
class Entrant:
    """A contender with a number of threads."""

    contender: str
    threads: int
    units: int = 1
    """Units of work (models stepped) per call; times are per unit."""


class Worker:
    """The process of one entrant, see ``worker``."""

    def __init__(self, kind: str, entrant: Entrant) -> None:
        self.entrant = entrant
        self.idle_cpu = 0.0
        """Processor seconds it has used while it had nothing to do."""
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 (closed by close)
        command = [
            sys.executable,
            "-m",
            "query_reduction_lab.bench.worker",
            kind,
            entrant.contender,
            str(entrant.threads),
        ]
        counts = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
        environment = os.environ | dict.fromkeys(counts, str(entrant.threads))
        environment["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)
        # The command line sets it for this package; peers get OpenMP's defaults.
        environment.pop("GOMP_SPINCOUNT", None)
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors, env=environment
        )

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def prepare(self, request: dict[str, Any], patience: float) -> str | None:
        """Prepare; returns the reason if it cannot take part."""
        why: str | None = self._ask({"prepare": request}, patience + _STARTING).get("left_out")
        return why

    def run(self, call: str, calls: int, warm_up: int, patience: float) -> list[float]:
        """The seconds of each of this many calls."""
        answer = self._ask({"call": call, "calls": calls, "warm_up": warm_up}, patience)
        self.idle_cpu += answer["idle_cpu"]
        seconds: list[float] = answer["seconds"]
        return seconds

    def close(self) -> None:
        """End the process."""
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout, self._errors):
            if pipe is not None:
                pipe.close()

    def _ask(self, request: dict[str, Any], patience: float) -> dict[str, Any]:
        assert self._process.stdin is not None and self._process.stdout is not None
        try:
            self._process.stdin.write(json.dumps(request).encode() + b"\n")
            self._process.stdin.flush()
        except OSError as error:
            raise WorkerError(self._last_words()) from error
        with selectors.DefaultSelector() as selector:
            selector.register(self._process.stdout, selectors.EVENT_READ)
            if not selector.select(patience):
                self.close()
                raise WorkerError(f"no answer within {patience:.0f} s")
        line = self._process.stdout.readline()
        if not line:
            raise WorkerError(self._last_words())
        answer: dict[str, Any] = json.loads(line)
        return answer

    def _last_words(self) -> str:
        self._process.wait()
        self._errors.seek(0)
        lines = self._errors.read().decode(errors="replace").strip().splitlines()
        return f"its process ended: {lines[-1]}" if lines else "its process ended"


class Field:
    """All entrants of a section, each in its process, from its first race to the last."""

    def __init__(self, kind: str, entrants: Sequence[Entrant], ours: str) -> None:
        self._stack = ExitStack()
        self._kind, self._ours = kind, ours
        self._entrants = tuple(entrants)
        self._workers: dict[Entrant, Worker] = {}
        self._ready: list[Worker] = []
        self._left_out: dict[str, str] = {}

    def __enter__(self) -> Field:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._stack.close()

    def prepare(
        self, request: dict[str, Any], effort: Effort, why_not: Callable[[str], str | None] = lambda name: None
    ) -> None:
        """Prepare all contenders, one after another; those that cannot take part are left out of later races."""
        self._ready, self._left_out = [], {}
        reasons = {entrant: why_not(entrant.contender) for entrant in self._entrants}
        for entrant, why in reasons.items():
            if why is None:
                self._worker(entrant)  # all load their libraries at the same time
        for entrant, why in reasons.items():
            if why is None:
                worker = self._worker(entrant)
                try:
                    why = worker.prepare(request, effort.patience)
                except WorkerError as gone:
                    why = str(gone)
                    del self._workers[entrant]
                if why is None:
                    self._ready.append(worker)
            if why is not None:
                self._left_out[entrant.contender] = why

    def race(self, call: str, effort: Effort) -> Race:
        """Sample everyone in turn, round after round, in one order and then in the other."""
        left_out = dict(self._left_out)
        idle_before = [worker.idle_cpu for worker in self._ready]
        started = time.perf_counter()
        seconds: dict[Entrant, list[float]] = {}
        repeats: dict[Entrant, int] = {}
        spent: dict[Entrant, float] = {}
        entered = []
        for worker in self._ready:
            try:
                typical = statistics.median(worker.run(call, 1, 1, effort.patience))
            except WorkerError as gone:
                left_out[worker.entrant.contender] = str(gone)
                continue
            if typical > effort.slowest_call:
                threads = worker.entrant.threads
                why = f"with {threads} thread{'s' * (threads > 1)} more than {effort.slowest_call:g} s a call"
                left_out[worker.entrant.contender] = why
                continue
            fewest = 1 if typical > SLOW else _FEWEST_CALLS
            repeats[worker.entrant] = max(fewest, round(effort.sample_seconds / typical))
            seconds[worker.entrant], spent[worker.entrant] = [], 0.0
            entered.append(worker)
        for finished in range(effort.rounds):
            for worker in tuple(entered if finished % 2 == 0 else reversed(entered)):
                own = worker.entrant
                if finished >= effort.fewest_rounds and spent[own] > effort.runner_seconds:
                    continue
                time.sleep(_SETTLE)
                try:
                    calls = worker.run(call, repeats[own], 1 if repeats[own] == 1 else 2, effort.patience)
                except WorkerError as gone:
                    left_out[own.contender] = str(gone)
                    entered.remove(worker)
                    continue
                spent[own] += sum(calls)
                # The median: a call during which another process got the core must not matter.
                seconds[own].append(statistics.median(calls) / own.units)
        waited = (time.perf_counter() - started) * len(self._ready)
        idle = sum(worker.idle_cpu for worker in self._ready) - sum(idle_before)
        return Race(
            self._ours,
            tuple(Samples(own.contender, own.threads, tuple(found)) for own, found in seconds.items()),
            tuple(LeftOut(name, why) for name, why in left_out.items()),
            idle / waited if waited else 0.0,
        )

    def _worker(self, entrant: Entrant) -> Worker:
        if entrant not in self._workers:
            self._workers[entrant] = self._stack.enter_context(Worker(self._kind, entrant))
        return self._workers[entrant]
