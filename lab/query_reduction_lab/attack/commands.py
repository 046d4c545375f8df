"""Commands that write files, what they leave behind, and a way to run them with faults.

Starting Python takes longer than the commands do, so one process, in which ``faults.c`` is preloaded, loads everything
once and forks a child for each try.
"""

from __future__ import annotations

import ctypes
import hashlib
import io
import json
import math
import os
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from dataclasses import dataclass
from pathlib import Path

from query_reduction.cli import main
from query_reduction.model_file import load_model
from query_reduction.reading.predictions import AT_ONCE
from query_reduction.worlds import write as write_stories
from query_reduction_lab.experiments.plan import Variation
from query_reduction_lab.experiments.table_recipes import RECIPES

__all__ = ["COMMANDS", "POLITE", "Command", "Outcome", "attempt", "leftovers", "preloaded", "workplace"]

POLITE = (signal.SIGINT, signal.SIGTERM)
"""Signals that ask a command to end."""
_SLOW = 120.0
_TIMES = 1 + 2 * AT_ONCE // 300
"""How often 300 questions are answered, so that their answers are written in several pieces."""


@dataclass(frozen=True)
class Command:
    """A command, and the checksum of what it is for."""

    arguments: Callable[[Path], list[str]]
    result: Callable[[Path], str]
    again: tuple[str, ...] = ()
    """Added to the command when it is given again after a kill."""
    finished: str | None = None
    """What it says if it is given again although all is done."""


@dataclass(frozen=True)
class Outcome:
    """How a try ended."""

    code: int
    """The exit code, or minus the number of the signal."""
    said: str
    calls: int
    """Calls that wrote to the folder."""
    went_on: float = 0.0
    """For how many seconds after a signal the command was still at work."""


def _train(folder: Path) -> list[str]:
    options = "train --max-epochs 3 --restarts 2 --evaluate-every 1 --save-every 0 --threads 1 --network 1r4"
    return [*options.split(), "--data", str(folder.parent / "few.txt"), "--out", str(folder / "run")]


def _predict(folder: Path) -> list[str]:
    return [
        "predict",
        "task1",
        str(folder.parent / "questions.txt"),
        "--threads",
        "1",
        "--out",
        str(folder / "a.jsonl"),
    ]


def _reproduce(folder: Path) -> list[str]:
    options = "reproduce qa-1k --recipe quick --tasks 1 --variants 1r --restarts 2 --workers 1"
    return [*options.split(), "--data", str(folder.parent / "data"), "--out", str(folder / "results")]


def _trained(folder: Path) -> str:
    digest = hashlib.sha256()
    for name, weight in sorted(load_model(folder / "run").weights.items()):
        digest.update(name.encode() + weight.tobytes())
    for line in (folder / "run" / "curves.jsonl").read_text().splitlines():
        digest.update(line.encode())
    found = json.loads((folder / "run" / "result.json").read_text())
    return digest.hexdigest() + str([(one["restart"], one["dev_loss"], one["test_error"]) for one in found["restarts"]])


def _predicted(folder: Path) -> str:
    return hashlib.sha256((folder / "a.jsonl").read_bytes()).hexdigest()


def _reproduced(folder: Path) -> str:
    lines = (folder / "results" / "store" / "qa-1k" / "1r.jsonl").read_text().splitlines()
    results = [one for one in map(json.loads, lines) if one["record"] == "result"]
    return str(sorted((one["restart"], one["best_epoch"], one["dev_loss"], one["test_error"]) for one in results))


COMMANDS = {
    "train": Command(_train, _trained, ("--resume",), "holds a finished run"),
    "predict": Command(_predict, _predicted, finished="is there already"),
    "reproduce": Command(_reproduce, _reproduced),
}


def leftovers(folder: Path) -> list[str]:
    """Unfinished files and states below a folder."""
    endings = (".part", ".part.json", "state.safetensors")
    return [str(path.relative_to(folder)) for path in folder.rglob("*") if path.name.endswith(endings)]


@contextmanager
def workplace() -> Iterator[Path]:
    """A folder with the data that the commands read, and a recipe of a few epochs; what they all need is loaded before
    the first fork."""
    RECIPES["quick"] = Variation("quick", changes={"max_epochs": 6, "evaluate_every": 2, "patience": 0})
    for verb in COMMANDS:
        with suppress(SystemExit), redirect_stdout(io.StringIO()):
            main([verb, "--help"])
    with tempfile.TemporaryDirectory() as name:
        place = Path(name).resolve()
        write_stories(place / "stories", [1], 300, held_out_questions=300)
        lines = (place / "stories" / "qa1_single-supporting-fact_train.txt").read_bytes().splitlines(keepends=True)
        (place / "questions.txt").write_bytes(b"".join(lines) * _TIMES)
        (place / "few.txt").write_bytes(b"".join(lines[:150]))
        (place / "data" / "babi" / "en").mkdir(parents=True)
        for path in (place / "stories").iterdir():
            (place / "data" / "babi" / "en" / path.name).write_bytes(path.read_bytes())
        yield place


def attempt(
    arguments: list[str],
    folder: Path,
    *,
    fail_at: int = 0,
    fail_with: int = 0,
    kill_after: float | None = None,
    kill_with: signal.Signals = signal.SIGKILL,
) -> Outcome:
    """Run a command in a child process, which dies or meets an error at its n-th writing call, or gets a signal after a
    time; one that takes too long is killed."""
    faults = ctypes.CDLL(None)
    with tempfile.TemporaryFile() as said, tempfile.TemporaryFile() as counted:
        # Python's own work after a fork swallows exceptions, those of signals too.
        signal.pthread_sigmask(signal.SIG_BLOCK, POLITE)
        child = os.fork()
        if child == 0:
            code = 70
            try:
                signal.pthread_sigmask(signal.SIG_UNBLOCK, POLITE)
                os.setpgid(0, 0)
                os.dup2(said.fileno(), 1)
                os.dup2(said.fileno(), 2)
                faults.fault_set(str(folder).encode(), ctypes.c_long(fail_at), ctypes.c_int(fail_with))
                code = main(arguments)
                sys.stdout.flush()
            except BaseException:
                traceback.print_exc()
            finally:
                ended = time.monotonic()
                sys.stderr.flush()
                os.write(counted.fileno(), f"{faults.fault_calls()} {ended}".encode())
                os._exit(code)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, POLITE)
        code, sent = _wait(child, kill_after, kill_with)
        said.seek(0)
        counted.seek(0)
        calls, end = (counted.read().decode() or "0 0").split()
        return Outcome(code, said.read().decode(errors="replace"), int(calls), max(float(end) - sent, 0.0))


def _wait(child: int, kill_after: float | None, kill_with: signal.Signals) -> tuple[int, float]:
    """The exit code of a child, and when it got the signal."""
    sent = math.inf
    if kill_after is not None:
        if (code := _ended(child, kill_after)) is not None:
            return code, sent
        os.kill(child, kill_with)
        sent = time.monotonic()
    if (code := _ended(child, _SLOW)) is not None:
        return code, sent
    os.kill(child, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), sent


def _ended(child: int, seconds: float) -> int | None:
    """The exit code of a child that ends within some seconds."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.002)
    return None


def preloaded(module: str, *arguments: str) -> str:
    """The output of ``python -m MODULE`` with ``faults.c`` preloaded."""
    with tempfile.TemporaryDirectory() as name:
        library = Path(name) / "faults.so"
        source = Path(__file__).with_name("faults.c")
        subprocess.run(["cc", "-shared", "-fPIC", "-O1", str(source), "-o", str(library), "-ldl"], check=True)
        environment = os.environ | {"LD_PRELOAD": str(library)}
        command = [sys.executable, "-m", module, *arguments]
        return subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True).stdout
