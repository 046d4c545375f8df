"""The kernels under sanitizers of memory, arithmetic and threads: their tests, and calls from threads and forks."""

from __future__ import annotations

import re
import subprocess

from query_reduction_lab.attack.record import Row

__all__ = ["KINDS", "run"]

_TESTS = ["tests/recurrence", "tests/native", "lab/query_reduction_lab/attack/test_calls.py"]
_SHORT_TESTS = ["lab/query_reduction_lab/attack/test_calls.py"]


KINDS = ("address,undefined", "thread")


def run(short: bool, only: str = "") -> list[Row]:
    """One row for memory and arithmetic, one for threads, or only one; the short form has only the first."""
    return [_under(kinds, short) for kinds in ([only] if only else KINDS[: 1 if short else 2])]


def _under(kinds: str, short: bool) -> Row:
    tests = _SHORT_TESTS if short else _TESTS
    environment = ["env", f"ATTACK_CALLS={100 if short else 10_000}"]
    command = [*environment, "kernels/asan.sh", kinds, *tests]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    said = done.stdout + done.stderr
    reports = len(re.findall(r"(?:ERROR|WARNING|FATAL): \w+Sanitizer|runtime error:", said))
    summary = re.findall(r"^.*(?:passed|failed|error).*$", said, re.MULTILINE)[-1:] or [said[-200:]]
    found = f"{reports} reports; {summary[0].strip(' =')}"
    return Row(f"sanitizers ({kinds}): {' '.join(tests)}", 1, found, "0", done.returncode == 0 and not reports)
