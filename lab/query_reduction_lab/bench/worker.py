"""A process that holds one contender and runs it on request.

``python -m query_reduction_lab.bench.worker KIND NAME THREADS`` reads one JSON object per line from standard
input and answers each with one on standard output:

    {"prepare": {...}}                            {"ready": true} or {"left_out": "why"}
    {"call": "both", "calls": 7, "warm_up": 2}    {"seconds": [...], "idle_cpu": 0.001}

Between requests it waits in a blocking read, so it sleeps. The end of the input ends it.
"""

from __future__ import annotations

import gc
import json
import os
import sys
import time
from collections.abc import Callable, Mapping
from typing import IO, Any

from query_reduction.errors import InputError
from query_reduction.native.threads import available_cores

__all__ = ["Calls", "LeftOutError", "core_set", "main", "serve", "thread_counts"]

Calls = Mapping[str, Callable[[], object]]
"""What can be timed, by name."""


class LeftOutError(Exception):
    """The contender cannot take part; the message says why."""


def thread_counts() -> tuple[int, ...]:
    """One thread and, where there are cores for it, two."""
    return (1, 2) if available_cores() > 1 else (1,)


def core_set(threads: int) -> set[int]:
    """The cores for this many threads: always the same ones, so that every contender gets the same."""
    return set(sorted(os.sched_getaffinity(0))[-threads:])


def serve(prepare: Callable[[Any], Calls], requests: IO[str], answers: IO[str]) -> None:
    """Answer requests until there are no more."""
    calls: Calls = {}
    used = time.process_time()
    for line in requests:
        request = json.loads(line)
        idle_cpu = time.process_time() - used
        if "prepare" in request:
            calls = {}
            try:
                calls = prepare(request["prepare"])
                answer: dict[str, Any] = {"ready": True}
            except LeftOutError as reason:
                answer = {"left_out": str(reason)}
            except Exception as error:  # other people's code, of any version, must not end the run
                first_line = str(error).strip().partition("\n")[0]
                answer = {"left_out": f"{type(error).__name__}: {first_line}"}
        else:
            seconds = _timed(calls[request["call"]], request["calls"], request["warm_up"])
            answer = {"seconds": seconds, "idle_cpu": idle_cpu}
        used = time.process_time()
        print(json.dumps(answer), file=answers, flush=True)


def _timed(call: Callable[[], object], count: int, warm_up: int) -> list[float]:
    """Seconds of each call; those before fill caches and wake the contender's threads."""
    gc.collect()
    gc.disable()
    try:
        for _ in range(warm_up):
            call()
        seconds = []
        for _ in range(count):
            started = time.perf_counter()
            call()
            seconds.append(time.perf_counter() - started)
    finally:
        gc.enable()
    return seconds


def _preparation(kind: str, name: str, threads: int) -> Callable[[Any], Calls]:
    """How a contender of this kind is prepared."""
    if kind == "recurrence":
        from query_reduction_lab.bench.recurrence import prepare_solver

        return lambda request: prepare_solver(name, threads, request)
    if kind == "step":
        from query_reduction_lab.bench.step import prepare_step

        return lambda request: prepare_step(name, threads, request)
    raise InputError(f"no kind of contender {kind!r}")


def main() -> None:
    """Serve standard input."""
    kind, name, threads = sys.argv[1], sys.argv[2], int(sys.argv[3])
    if hasattr(os, "sched_setaffinity"):
        # Before any library counts the cores it may use: some can be kept to one thread only this way.
        os.sched_setaffinity(0, core_set(threads))
    # What libraries print must not get mixed with the answers.
    with os.fdopen(os.dup(1), "w") as answers:
        os.dup2(2, 1)
        serve(_preparation(kind, name, threads), sys.stdin, answers)


if __name__ == "__main__":
    main()
