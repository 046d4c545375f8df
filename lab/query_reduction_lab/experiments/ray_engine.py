"""Trials on a Ray cluster: each is a task on one core; messages stream back to the driver, which alone stores.

A task sends its saved state from time to time. If its node dies, the trial restarts elsewhere from the last state the
driver received; nothing but the package itself has to be on the nodes, and no folder is shared.
"""

from __future__ import annotations

import socket
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from query_reduction.errors import InputError
from query_reduction.files import write_atomically
from query_reduction.native.threads import use_threads
from query_reduction.reading.protocol import Parts
from query_reduction.training.run_folder import STATE_FILE
from query_reduction_lab.experiments.sweep import Job
from query_reduction_lab.experiments.trials import MESSAGE_EVERY, Ended, Message, Trial, report_trial

__all__ = ["RayEngine"]

_STATE_EVERY = 30.0
_CONNECT_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class _State:
    """A trial's saved state, on its way to the driver."""

    content: bytes


@dataclass(slots=True)
class _Task:
    number: int
    job: Job
    messages: Any
    """Ray's stream of references to the messages."""


class RayEngine:
    """A Ray cluster, joined by its address or started on this machine."""

    def __init__(
        self,
        address: str | None = None,
        workers: int | None = None,
        *,
        message_every: float = MESSAGE_EVERY,
        state_every: float = _STATE_EVERY,
    ) -> None:
        try:
            import ray
        except ImportError as error:
            raise InputError("Ray is not installed: pip install './lab[cluster]'") from error
        try:
            _check_reachable(address)
            ray.init(address=address, log_to_driver=False, logging_level="ERROR", include_dashboard=False)
        except (OSError, RuntimeError, ValueError, ray.exceptions.RayError) as error:
            raise InputError(f"no Ray cluster at {address}: {str(error).splitlines()[0]}") from error
        self._ray = ray
        self._most = workers
        self._every = (message_every, state_every)
        self._tasks: dict[Any, _Task] = {}
        self._stopping = False
        # The driver itself restarts a lost trial, from its last state and without the restarts already stored.
        self._remote = ray.remote(num_cpus=1, max_retries=0)(_run_on_node)

    @property
    def workers(self) -> int:
        """Cores of the cluster as it is now: nodes may come and go."""
        cores = int(self._ray.cluster_resources().get("CPU", 0))
        return max(1, min(cores, self._most or cores))

    def start(self, number: int, job: Job) -> None:
        """Submit a job to the cluster, with its state if it was started before."""
        path = job.folder / STATE_FILE
        state = path.read_bytes() if path.exists() else None
        messages = self._remote.remote(job.trial, job.load(), state, *self._every)
        self._tasks[messages] = _Task(number, job, messages)

    def wait(self, seconds: float) -> list[tuple[int, Message]]:
        """Messages of all tasks; states are kept in the job's folder on the way."""
        heard: list[tuple[int, Message]] = []
        while self._tasks:
            ready, _ = self._ray.wait(list(self._tasks), num_returns=1, timeout=seconds, fetch_local=False)
            if not ready:
                break
            seconds = 0.0  # only the first message is waited for
            task = self._tasks[ready[0]]
            message = self._next(task.messages)
            if isinstance(message, _State):
                write_atomically(task.job.folder / STATE_FILE, message.content)
                continue
            if isinstance(message, Ended):
                del self._tasks[task.messages]
            heard.append((task.number, message))
        return heard

    def _next(self, messages: Any) -> Message | _State:
        errors = self._ray.exceptions
        try:
            message: Message | _State = self._ray.get(next(messages))
            return message
        except StopIteration:
            # A stream that is cancelled between two messages may simply end.
            return Ended("stopped") if self._stopping else Ended("lost", "its task ended without a message")
        except errors.TaskCancelledError:
            return Ended("stopped")
        except errors.RayTaskError as error:
            if isinstance(error.cause, KeyboardInterrupt):  # how a task learns that it was cancelled
                return Ended("stopped")
            # The package is missing on that node, or has a different version.
            return Ended("failed", str(error).strip().splitlines()[-1])
        except errors.RayError as error:
            return Ended("lost", f"{type(error).__name__}: its node or process died")

    def stop(self) -> None:
        """Cancel running tasks; the last states sent are kept."""
        self._stopping = True
        for messages in self._tasks:
            self._ray.cancel(messages)

    def close(self) -> None:
        """Leave the cluster."""
        self._tasks.clear()
        self._ray.shutdown()


def _check_reachable(address: str | None) -> None:
    """Ray itself would try for minutes before reporting that there is none."""
    host, colon, port = (address or "").rpartition(":")
    if colon and port.isdecimal() and "/" not in host:
        socket.create_connection((host, int(port)), timeout=_CONNECT_SECONDS).close()


def _run_on_node(
    trial: Trial, parts: Parts, state: bytes | None, message_every: float, state_every: float
) -> Iterator[Message | _State]:
    """A trial as a task, in its own folder on whatever node it runs on."""
    use_threads(1)
    with tempfile.TemporaryDirectory(prefix="qrn-") as name:
        path = Path(name) / STATE_FILE
        if state is not None:
            write_atomically(path, state)
        sent = time.monotonic()
        for message in report_trial(trial, parts, Path(name), every=message_every):
            yield message
            if path.exists() and time.monotonic() - sent >= state_every and not isinstance(message, Ended):
                yield _State(path.read_bytes())
                sent = time.monotonic()
