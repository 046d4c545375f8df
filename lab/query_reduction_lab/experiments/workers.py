"""Trials on the cores of this machine: one process per core with one thread, kept from trial to trial.

A worker ends by itself when the driver is gone, so nothing is left running after a kill.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess

from query_reduction.native.threads import available_cores, use_threads
from query_reduction_lab.experiments.sweep import Job
from query_reduction_lab.experiments.trials import Ended, Message, report_trial

__all__ = ["ProcessEngine"]

_STOP = "stop"
_THREAD_SETTINGS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")


@dataclass(slots=True)
class _Worker:
    process: BaseProcess
    pipe: Connection
    number: int | None = None


class ProcessEngine:
    """Worker processes of this machine."""

    def __init__(self, workers: int | None = None) -> None:
        self.workers = workers or available_cores()
        self._context = multiprocessing.get_context("spawn")
        self._pool: list[_Worker] = []

    def start(self, number: int, job: Job) -> None:
        """Give a job to a free worker, or a new one."""
        worker = next((worker for worker in self._pool if worker.number is None), None) or self._new_worker()
        worker.number = number
        try:
            worker.pipe.send((job.trial, job.load(), job.folder))
        except (OSError, ValueError):  # it just died; wait() will report it
            return

    def wait(self, seconds: float) -> list[tuple[int, Message]]:
        """Messages of all workers; a worker whose pipe is closed has died."""
        heard: list[tuple[int, Message]] = []
        busy = {worker.pipe: worker for worker in self._pool}
        for pipe in wait(list(busy), timeout=seconds):
            worker = busy[pipe]  # type: ignore[index]
            try:
                while worker.pipe.poll():
                    message = worker.pipe.recv()
                    if worker.number is not None:
                        heard.append((worker.number, message))
                    if isinstance(message, Ended):
                        worker.number = None
            except (EOFError, OSError):
                worker.process.join()
                self._pool.remove(worker)
                if worker.number is not None:
                    heard.append(
                        (worker.number, Ended("lost", f"its process ended with code {worker.process.exitcode}"))
                    )
        return heard

    def stop(self) -> None:
        """Ask the running trials to keep their state and end."""
        for worker in self._pool:
            if worker.number is not None:
                worker.pipe.send(_STOP)

    def close(self) -> None:
        """End all workers; one in the middle of a trial is killed (its last saved state stays)."""
        for worker in self._pool:
            worker.pipe.close()
            if worker.number is not None:
                worker.process.kill()
        for worker in self._pool:
            worker.process.join()
        self._pool.clear()

    def _new_worker(self) -> _Worker:
        ours, theirs = self._context.Pipe()
        before = {name: os.environ.get(name) for name in _THREAD_SETTINGS}
        os.environ |= dict.fromkeys(_THREAD_SETTINGS, "1")  # read by the libraries when the child loads them
        try:
            process = self._context.Process(target=_work, args=(theirs,), daemon=True)
            process.start()
        finally:
            for name, value in before.items():
                if value is None:
                    os.environ.pop(name, None)
                else:
                    os.environ[name] = value
        theirs.close()
        worker = _Worker(process, ours)
        self._pool.append(worker)
        return worker


def _work(pipe: Connection) -> None:
    """A worker's main loop: take a trial, report its progress, take the next."""
    # A terminal and a service manager send signals to all processes: the driver handles them, and lets workers save.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    use_threads(1)  # processes scale over the cores; threads inside each would compete for them
    gone = False

    def should_stop() -> bool:
        nonlocal gone
        if not gone and pipe.poll():
            try:
                return bool(pipe.recv() == _STOP)
            except (EOFError, OSError):
                gone = True
        return gone

    while not gone:
        try:
            job = pipe.recv()
        except (EOFError, OSError):
            return
        if job == _STOP:  # meant for a trial that had just ended
            continue
        trial, parts, folder = job
        try:
            for message in report_trial(trial, parts, folder, should_stop):
                pipe.send(message)
        except (BrokenPipeError, ConnectionResetError):
            return
