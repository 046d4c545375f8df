"""Fuzzing: no input crashes, hangs, shows a traceback or takes much memory.

Each target runs in a process of its own, which prints what it found:
``python -m query_reduction_lab.attack.fuzz TARGET SEED TRIES``.
"""

from __future__ import annotations

import json
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from concurrent.futures import ThreadPoolExecutor
from types import FrameType
from typing import Any

from query_reduction.errors import InputError
from query_reduction.native.threads import available_cores, use_threads
from query_reduction_lab.attack.fuzz_targets import TARGETS
from query_reduction_lab.attack.mutate import mutated
from query_reduction_lab.attack.record import Row

__all__ = ["run"]

_MOST_SECONDS = 5.0
_MOST_MB = 500.0
_SHORT = 200
"""A short run does one in so many tries."""


def run(short: bool, only: str = "") -> list[Row]:
    """Every target, as many at a time as there are cores; or only one."""
    with ThreadPoolExecutor(available_cores()) as together:
        return list(together.map(lambda name: _row(name, short), [only] if only else TARGETS))


def _row(name: str, short: bool) -> Row:
    tries = TARGETS[name][1]
    count = tries // _SHORT if short else tries
    command = [sys.executable, "-m", "query_reduction_lab.attack.fuzz", name, str(random.randrange(2**32)), str(count)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        last = done.stderr.strip().splitlines()[-1:] or [""]
        return Row(f"fuzz: {name}", count, f"died with {done.returncode}: {last[0][:200]}", "0", False)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    if found["tracebacks"]:
        print(done.stderr, file=sys.stderr)
    held = not found["tracebacks"] and found["slowest"] <= _MOST_SECONDS and found["most_mb"] <= _MOST_MB
    said = (
        f"0 crashes, {found['tracebacks']} tracebacks, slowest {found['slowest']:.2f} s of processor time, "
        f"memory +{found['growth_mb']:.0f} to {found['most_mb']:.0f} MB, {found['accepted']} accepted"
        + (f"; first: {found['first']}" if found["first"] else "")
    )
    return Row(f"fuzz: {name}", count, said, "0, 0, ≤ 5 s, ≤ 500 MB", held)


def _fuzz(name: str, seed: int, tries: int) -> dict[str, Any]:
    use_threads(1)
    target = TARGETS[name][0]()
    chance = random.Random(seed)
    accepted = tracebacks = alarms = 0
    slowest, first = 0.0, ""
    places: set[tuple[str, int | None]] = set()

    def too_slow(number: int, frame: FrameType | None) -> None:
        nonlocal alarms
        alarms += 1
        if alarms > 1:  # once may be because this process was stopped for a while, or the machine is busy
            raise TimeoutError("took too long")

    signal.signal(signal.SIGALRM, too_slow)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for number in range(tries):
        data = mutated(target.seeds, chance) or b"\x00"
        alarms = 0
        start = time.process_time()
        signal.setitimer(signal.ITIMER_REAL, 2 * _MOST_SECONDS, 2 * _MOST_SECONDS)
        try:
            target.attempt(data)
            accepted += 1
        except InputError:
            pass
        except Exception as error:
            tracebacks += 1
            where = traceback.extract_tb(error.__traceback__)[-1]
            first = first or f"{type(error).__name__} {str(error)[:80]} in {where.name} (seed {seed}, try {number})"
            if (where.filename, where.lineno) not in places:
                places.add((where.filename, where.lineno))
                traceback.print_exc()
                print(data[:300], file=sys.stderr)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
        slowest = max(slowest, time.process_time() - start)
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {
        "accepted": accepted,
        "tracebacks": tracebacks,
        "slowest": slowest,
        "growth_mb": (most - before) / 1024,
        "most_mb": most / 1024,
        "first": first,
    }


if __name__ == "__main__":
    # In memory where there is such a place: a disk is slower than all that is tried.
    in_memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=in_memory) as tempfile.tempdir:
        print(json.dumps(_fuzz(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))))
