"""The recurrence in one process where the thread pools of all contenders live, one call of each in turn.

``python -m query_reduction_lab.bench.crowd '[{"batch": 32, "time": 64, "dim": 50}]' 0.5`` prints the seconds of every
call as JSON. Its own process, because the pools of a library cannot be ended.
"""

from __future__ import annotations

import gc
import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any

from query_reduction.native.threads import available_cores, use_threads
from query_reduction_lab.bench.contenders import CONTENDERS, OURS
from query_reduction_lab.bench.problem import Size, make_problem
from query_reduction_lab.bench.recurrence import MODES
from query_reduction_lab.bench.results import LeftOut, Race, RecurrenceRow, Samples

__all__ = ["measure_crowd"]

_SLOW = 0.05
"""Whoever takes longer for a call, in seconds, is left out: the others' threads would sleep meanwhile."""
_FEWEST_ROUNDS = 15


def measure_crowd(sizes: Sequence[Size], seconds: float) -> tuple[RecurrenceRow, ...]:
    """Each size and mode for about this many seconds, with as many threads for each as there are cores."""
    command = [sys.executable, "-m", "query_reduction_lab.bench.crowd", json.dumps([asdict(size) for size in sizes])]
    threads = available_cores()
    counts = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
    environment = os.environ | dict.fromkeys(counts, str(threads))
    environment["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)
    environment.pop("GOMP_SPINCOUNT", None)
    done = subprocess.run([*command, str(seconds)], capture_output=True, text=True, env=environment, check=False)
    if done.returncode != 0:
        last = done.stderr.strip().splitlines()[-1:] or [f"exit code {done.returncode}"]
        raise RuntimeError(f"all contenders in one process failed: {last[0]}")
    return tuple(_row(found, threads) for found in json.loads(done.stdout.splitlines()[-1]))


def _row(found: dict[str, Any], threads: int) -> RecurrenceRow:
    samples = tuple(Samples(name, threads, tuple(times)) for name, times in found["seconds"].items())
    left_out = tuple(LeftOut(name, why) for name, why in found["left_out"].items())
    return RecurrenceRow(Size(**found["size"]), found["mode"], Race(OURS, samples, left_out, 0.0))


def _prepare(size: Size) -> tuple[dict[str, Any], dict[str, str]]:
    """The solvers of all who can take part, and why the others cannot."""
    problem = make_problem(size)
    solvers, left_out = {}, {}
    for known in CONTENDERS:
        why = "compiles for too long" if known.name.startswith("torch.compile") else known.why_not(size)
        if why is None:
            try:
                solvers[known.name] = known.solver(problem)
            except Exception as error:  # other people's code, of any version, must not end the run
                why = f"{type(error).__name__}: {str(error).strip().partition(chr(10))[0]}"
        if why is not None:
            left_out[known.name] = why
    return solvers, left_out


def _in_turn(calls: dict[str, Callable[[], object]], seconds: float) -> tuple[dict[str, list[float]], dict[str, str]]:
    """Call everyone once a round, in an order of its own: who comes before matters most."""
    left_out = {}
    for name, call in tuple(calls.items()):
        if min(_timed(call) for _ in range(2)) > _SLOW:
            del calls[name]
            left_out[name] = f"more than {_SLOW:g} s a call"
    order, shuffled = list(calls), random.Random(0)
    found: dict[str, list[float]] = {name: [] for name in calls}
    gc.collect()
    gc.disable()
    started, rounds = time.perf_counter(), 0
    while rounds < _FEWEST_ROUNDS or time.perf_counter() - started < seconds:
        shuffled.shuffle(order)
        for name in order:
            found[name].append(_timed(calls[name]))
        rounds += 1
    gc.enable()
    return found, left_out


def _timed(call: Callable[[], object]) -> float:
    started = time.perf_counter()
    call()
    return time.perf_counter() - started


def main() -> None:
    """Measure the sizes of the command line."""
    import torch

    sizes, seconds = [Size(**size) for size in json.loads(sys.argv[1])], float(sys.argv[2])
    use_threads(available_cores())
    torch.set_num_threads(available_cores())  # ours would keep PyTorch's threads away
    rows = []
    for size in sizes:
        solvers, absent = _prepare(size)
        for mode, method in MODES.items():
            calls = {name: getattr(solver, method) for name, solver in solvers.items()}
            found, slow = _in_turn(calls, seconds)
            rows.append({"size": asdict(size), "mode": mode, "seconds": found, "left_out": absent | slow})
    print(json.dumps(rows))


if __name__ == "__main__":
    main()
