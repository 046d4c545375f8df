"""kill -9 at random moments and at every call that writes; disks that are full, read-only or broken at every such call.

Whatever happens, the same command given again comes to the same result and leaves nothing behind.
"""

from __future__ import annotations

import errno
import json
import random
import shutil
import sys
import time
from dataclasses import asdict
from pathlib import Path

from query_reduction.native.threads import use_threads
from query_reduction_lab.attack.commands import COMMANDS, Command, Outcome, attempt, leftovers, preloaded, workplace
from query_reduction_lab.attack.record import Row

__all__ = ["run"]

_KILLS = {"train": 100, "predict": 80, "reproduce": 20}
_ERRORS = (errno.ENOSPC, errno.EROFS, errno.EIO)


def run(short: bool, only: str = "") -> list[Row]:
    """Every command, or only one, in a process of its own."""
    lines = preloaded("query_reduction_lab.attack.kills", "--short" if short else "", only).splitlines()
    return [Row(**row) for row in json.loads(lines[-1])]


class _Tries:
    """Tries of one command, against what it gives undisturbed."""

    def __init__(self, name: str, command: Command, place: Path) -> None:
        self._command = command
        self.folder = place / f"out-{name}"
        self.folder.mkdir()
        start = time.monotonic()
        done = attempt(command.arguments(self.folder), self.folder)
        self.seconds = time.monotonic() - start
        if done.code != 0:
            raise RuntimeError(f"{name}: {done.said}")
        self.calls = done.calls
        self._expected = command.result(self.folder)
        self.wrong: list[str] = []
        self.tries = 0

    def disturbed(self, *, fail_at: int = 0, fail_with: int = 0, kill_after: float | None = None) -> None:
        """One try, and the same command again."""
        shutil.rmtree(self.folder)
        self.folder.mkdir()
        arguments = self._command.arguments(self.folder)
        first = attempt(arguments, self.folder, fail_at=fail_at, fail_with=fail_with, kill_after=kill_after)
        self.tries += 1
        if fail_with:
            self._check_said(first, fail_at, fail_with)
        if first.code != 0:
            again = attempt([*arguments, *self._command.again], self.folder)
            done = self._command.finished is not None and self._command.finished in again.said
            if again.code != 0 and not done:
                self.wrong.append(f"call {fail_at}: again {again.code}: {again.said[-200:]}")
                return
        if self._command.result(self.folder) != self._expected:
            self.wrong.append(f"call {fail_at}, error {fail_with}: another result")
        if leftovers(self.folder):
            self.wrong.append(f"call {fail_at}, error {fail_with}: left {leftovers(self.folder)[0]}")

    def _check_said(self, first: Outcome, fail_at: int, fail_with: int) -> None:
        complaints = [line for line in first.said.splitlines() if line.startswith("qrn ")]
        if "Traceback" in first.said or (first.code != 0 and (first.code != 1 or len(complaints) != 1)):
            self.wrong.append(f"call {fail_at}, error {fail_with}: {first.code} {first.said[-300:]!r}")


def _row(test: str, tries: int, wrong: list[str], bar: str) -> Row:
    found = f"{len(wrong)} wrong" + (f"; first: {wrong[0]}" if wrong else "")
    return Row(test, tries, found, bar, not wrong)


def _all(short: bool, only: str) -> list[Row]:
    use_threads(1)
    rows = []
    every = 8 if short else 1
    with workplace() as place:
        for name, command in COMMANDS.items():
            if only not in ("", name):
                continue
            if short and name == "reproduce":
                continue  # its workers take too long to start; the default tests kill it, too
            tries = _Tries(name, command, place)
            for _ in range(max(1, _KILLS[name] // (20 if short else 1))):
                tries.disturbed(kill_after=random.random() * tries.seconds)
            rows.append(_row(f"kill -9 at random: {name}", tries.tries, tries.wrong, "0 differ, 0 leftovers"))
            tries.tries, tries.wrong = 0, []
            for number in range(1, tries.calls + 1, every):
                tries.disturbed(fail_at=number)
            test = f"kill -9 at every writing call: {name} ({tries.calls} calls)"
            rows.append(_row(test, tries.tries, tries.wrong, "0 differ, 0 leftovers"))
            tries.tries, tries.wrong = 0, []
            for number in range(1, tries.calls + 1, every):
                # Each call of the slow command meets one of the errors, by turns.
                for error in _ERRORS if name != "reproduce" else (_ERRORS[number % len(_ERRORS)],):
                    tries.disturbed(fail_at=number, fail_with=error)
            test = f"full, read-only, broken disk at every writing call: {name}"
            rows.append(_row(test, tries.tries, tries.wrong, "one clear line, nothing half-written"))
    return rows


if __name__ == "__main__":
    print(json.dumps([asdict(row) for row in _all(sys.argv[1] == "--short", sys.argv[2])]))
