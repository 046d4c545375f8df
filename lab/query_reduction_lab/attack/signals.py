"""SIGINT and SIGTERM at random moments of every command that takes long.

A command that gets one ends soon, with the exit code that belongs to the signal and without a traceback. Every file it
leaves is whole, and the same command given again comes to the same result and leaves nothing behind. A signal that
comes when the command is done changes nothing.
"""

from __future__ import annotations

import hashlib
import io
import json
import random
import shutil
import signal
import sys
import time
from contextlib import redirect_stdout, suppress
from dataclasses import asdict
from pathlib import Path

from query_reduction.cli import main
from query_reduction.native.threads import use_threads
from query_reduction_lab.attack.commands import (
    COMMANDS,
    POLITE,
    Command,
    Outcome,
    attempt,
    leftovers,
    preloaded,
    workplace,
)
from query_reduction_lab.attack.record import Row

__all__ = ["SIGNALLED", "run"]

_SENT = {"train": 300, "train with names": 200, "predict": 200, "generate": 200, "reproduce": 100}
_LEAVING = 0.3
"""Seconds that a command may go on: a signal that Python drops comes again after 0.2."""
_PIECE = {"train": 0.0, "train with names": 0.0, "predict": 0.6, "generate": 0.0, "reproduce": 0.0}
"""The share of a command's time that its last piece of work may take, after which it is done, signal or not."""
_LATE = 1.1
"""Signals come up to this share of the time that the command takes undisturbed."""


def _train_with_names(folder: Path) -> list[str]:
    """Most of its time goes into finding out which words are interchangeable."""
    options = "train --recipe best --max-epochs 2 --restarts 1 --copies 1 --threads 1 --network 1r4 --save-every 0"
    return [*options.split(), "--data", str(folder.parent / "few.txt"), "--out", str(folder / "run")]


def _generate(folder: Path) -> list[str]:
    options = "data generate --tasks 1,2,15 --questions 400 --held-out-questions 100"
    return [*options.split(), "--out", str(folder / "stories")]


def _generated(folder: Path) -> str:
    digest = hashlib.sha256()
    for path in sorted((folder / "stories").iterdir()):
        digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()


SIGNALLED = {
    "train": COMMANDS["train"],
    "train with names": Command(_train_with_names, COMMANDS["train"].result, ("--resume",), "holds a finished run"),
    "predict": COMMANDS["predict"],
    "generate": Command(_generate, _generated),
    "reproduce": COMMANDS["reproduce"],
}


def run(short: bool, only: str = "") -> list[Row]:
    """Every command, or only one, in a process of its own."""
    lines = preloaded("query_reduction_lab.attack.signals", "--short" if short else "", only).splitlines()
    return [Row(**row) for row in json.loads(lines[-1])]


def _problems(
    name: str, folder: Path, expected: str, seconds: float, first: Outcome, sent: signal.Signals
) -> list[str]:
    """What is wrong after a signal, and after the same command was given again."""
    command = SIGNALLED[name]
    # Before the command begins, a signal ends the process itself.
    early = first.code == -sent and not any(folder.iterdir())
    wrong = []
    if first.code == -signal.SIGKILL or (first.code == 0 and first.went_on > _PIECE[name] * seconds + _LEAVING):
        wrong.append(f"the signal was lost: the command went on for {first.went_on:.3f} s")
    elif first.code not in (0, 128 + sent) and not early:
        wrong.append(f"exit code {first.code}")
    if "Traceback" in first.said and not early:
        wrong.append(first.said[-300:])
    wrong += [f"half-written: {path.name}" for path in folder.rglob(".*.part")]
    if first.code != 0:
        again = attempt([*command.arguments(folder), *command.again], folder)
        done = command.finished is not None and command.finished in again.said
        if again.code != 0 and not done:
            return [*wrong, f"again: exit code {again.code}: {again.said[-200:]}"]
    if command.result(folder) != expected:
        wrong.append("another result")
    wrong += [f"left behind: {path}" for path in leftovers(folder)]
    return wrong


def _signalled(name: str, place: Path, tries: int) -> Row:
    command = SIGNALLED[name]
    folder = place / f"out-{name.replace(' ', '-')}"
    folder.mkdir()
    begun = time.monotonic()
    done = attempt(command.arguments(folder), folder)
    seconds = time.monotonic() - begun
    if done.code != 0:
        raise RuntimeError(f"{name}: {done.said}")
    expected = command.result(folder)
    wrong: list[str] = []
    in_time = 0
    for number in range(tries):
        shutil.rmtree(folder)
        folder.mkdir()
        sent = POLITE[number % len(POLITE)]
        moment = random.random() * _LATE * seconds
        first = attempt(command.arguments(folder), folder, kill_after=moment, kill_with=sent)
        in_time += first.code != 0
        problems = _problems(name, folder, expected, seconds, first, sent)
        wrong += [f"{sent.name} after {moment:.3f} s: {what}" for what in problems]
    found = f"{len(wrong)} wrong; {in_time} ended early" + (f"; first: {wrong[0]}" if wrong else "")
    return Row(f"SIGINT, SIGTERM at random: {name}", tries, found, "0 lost, nothing half-written", not wrong)


def _all(short: bool, only: str) -> list[Row]:
    use_threads(1)
    rows = []
    with workplace() as place:
        with suppress(SystemExit), redirect_stdout(io.StringIO()):
            main(["data", "generate", "--help"])
        for name in SIGNALLED:
            if only not in ("", name) or (short and name == "reproduce"):
                continue  # its workers take too long to start for a short test
            rows.append(_signalled(name, place, max(2, _SENT[name] // (20 if short else 1))))
            print(f"{rows[-1].test}: {rows[-1].found}", file=sys.stderr, flush=True)
    return rows


if __name__ == "__main__":
    # A shell that starts a command in the background lets it ignore Ctrl-C.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    print(json.dumps([asdict(row) for row in _all(sys.argv[1] == "--short", sys.argv[2])]))
