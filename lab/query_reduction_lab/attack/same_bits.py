"""The same seed gives the same bits, whatever the number of threads, of restarts trained together, and of kills.

One process, ``python -m query_reduction_lab.attack.same_bits JSON``, computes all ways but one; the last way is killed
and resumed.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from query_reduction.native.threads import use_threads
from query_reduction.reading.stories import StoryOptions
from query_reduction.rivals.registry import resolve
from query_reduction.sources.named import load_parts
from query_reduction.training.recipes import Recipe
from query_reduction.training.restarts import epochs
from query_reduction.training.run import Run
from query_reduction.training.run_folder import RunFolder
from query_reduction.training.setup import Setup
from query_reduction_lab.attack.record import Row

__all__ = ["run"]

_NETWORKS = (("2r10", "1"), ("1r7", "2"), ("3v8", "15"), ("2rv33", "1"), ("6r50", "4"), ("gru", "1"), ("memn2n", "1"))
_RATES = {"adagrad": 0.3, "adam": 0.01, "sgd": 0.1}
_SETTINGS = [(network, optimiser, task) for network, task in _NETWORKS for optimiser in _RATES][:20]
_RESTARTS = list(range(10))
_WAYS = ((1, 10), (2, 10), (7, 10), (1, 1), (2, 3))
"""Threads, and restarts trained together."""


def run(short: bool) -> list[Row]:
    """Each setting in every way; all weights must be the same."""
    chosen = _SETTINGS[1::9][:2] if short else _SETTINGS
    differ = []
    kills = 0
    for network, optimiser, task in chosen:
        setting = {"network": network, "optimiser": optimiser, "task": task}
        (first, *others), _ = _computed(setting | {"ways": _WAYS})
        (resumed,), killed = _computed(setting | {"ways": _WAYS[:1], "kill": True})
        kills += killed
        differ += [f"{network} {optimiser}" for other in (*others, resumed) if other != first]
    found = f"{len(differ)} differ; {kills} kills" + (f" ({'; '.join(sorted(set(differ)))})" if differ else "")
    name = "same seed: 1, 2, 7 threads; 1, 3, 10 stacked; killed and resumed"
    return [Row(name, len(chosen), found, "bit-equal", not differ)]


def _computed(asked: dict[str, Any]) -> tuple[list[list[str]], int]:
    """The checksums of all restarts' weights, for each way; and how often the process died and was started again."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "query_reduction_lab.attack.same_bits", json.dumps(asked), folder]
        for kills in range(20):
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode == 0:
                return json.loads(done.stdout), kills
            if done.returncode != -signal.SIGKILL:
                break
    raise RuntimeError(done.stderr)


def _digests(asked: dict[str, Any], threads: int, together: int, folder: Path) -> list[str]:
    use_threads(threads)
    optimiser = asked["optimiser"]
    recipe = Recipe(optimiser=optimiser, learning_rate=_RATES[optimiser], max_epochs=4, evaluate_every=1, patience=0)
    setup = Setup(resolve(asked["network"]), StoryOptions(), recipe)
    parts = load_parts("generated", asked["task"], questions=80)
    kill = asked.get("kill", False)
    found = []
    for first in range(0, len(_RESTARTS), together):
        run_folder = RunFolder(folder if kill else None, save_every=0.0)
        run = Run(parts, setup, _RESTARTS[first : first + together])
        run_folder.resume(run)
        begun = run.trainer.epoch
        with run_folder.kept(run) as keep:
            for epoch in epochs(run.trainer):
                keep(epoch)
                if kill and epoch.epoch > begun + 1 and random.random() < 0.7:
                    os.kill(os.getpid(), signal.SIGKILL)
        for restart in run.trainer.restarts:
            digest = hashlib.sha256()
            for name, weight in sorted(restart.weights.items()):
                digest.update(name.encode() + weight.numpy().tobytes())
            found.append(digest.hexdigest())
    return found


if __name__ == "__main__":
    asked = json.loads(sys.argv[1])
    print(json.dumps([_digests(asked, threads, together, Path(sys.argv[2])) for threads, together in asked["ways"]]))
