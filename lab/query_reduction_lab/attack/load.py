"""Honest clients on a server that is attacked: how long they wait, whether any fails, and the server's memory."""

from __future__ import annotations

import itertools
import json
import signal
import statistics
import subprocess
import sys
from typing import Any

from query_reduction_lab.attack.attackers import KINDS
from query_reduction_lab.attack.record import Row
from query_reduction_lab.studies.load_test import measure

__all__ = ["run"]

_CONNECTIONS = 64
_MODEL = "task2"
_MOST_SLOWER = 2.0
_MOST_GROWTH_MB = 100.0


def run(short: bool, only: str = "") -> list[Row]:
    """Each attacker in turn, or only one, compared with the mean of the calm stretches before and after it.

    So what else the machine does counts on both sides, if it lasts.
    """
    seconds = 2.0 if short else 120.0
    command = [sys.executable, "-m", "query_reduction", "serve", _MODEL, "--port", "0", "--json"]
    calm: list[float] = []
    attacked: dict[str, dict[str, Any]] = {}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            port = int(json.loads(server.stdout.readline())["address"].rsplit(":", 1)[1].strip("/"))
            for kind in (*([only] if only else KINDS), None):
                without = measure(port, _MODEL, server.pid, max(1.0, seconds / 6), _CONNECTIONS)
                calm.append(without["latency_ms"]["p99"])
                if kind:
                    attacked[kind] = _under_attack(kind, port, server.pid, seconds)
        finally:
            server.send_signal(signal.SIGTERM)
        code = server.wait(30)
    spread = f"p99 {statistics.median(calm):.0f} ms ({min(calm):.0f} to {max(calm):.0f})"
    around = [(before + after) / 2 for before, after in itertools.pairwise(calm)]
    rows = [_row(*found, usual, judged=not short) for found, usual in zip(attacked.items(), around, strict=True)]
    if only:
        return rows
    return [
        Row(f"load, {_CONNECTIONS} connections: no attacker", len(calm), spread, "–", True),
        *rows,
        Row("load: the server ends on SIGTERM", 1, f"exit code {code}", "0", code == 0),
    ]


def _under_attack(kind: str, port: int, server: int, seconds: float) -> dict[str, Any]:
    attacker = subprocess.Popen([sys.executable, "-m", "query_reduction_lab.attack.attackers", kind, str(port), _MODEL])
    try:
        return measure(port, _MODEL, server, seconds, _CONNECTIONS)
    finally:
        attacker.kill()
        attacker.wait()


def _row(kind: str, found: dict[str, Any], calm: float, *, judged: bool) -> Row:
    """``judged`` is whether it took long enough for its times to mean something."""
    p99, memory = found["latency_ms"]["p99"], found["memory_mb"]
    growth = memory["at_the_end"] - memory["after_a_quarter"]
    said = (
        f"p99 {p99:.0f} ms ({p99 / calm:.2f}×), {found['failures']} of {found['questions']} failed, "
        f"memory {memory['after_a_quarter']:.0f} → {memory['at_the_end']:.0f} MB"
    )
    held = (p99 <= _MOST_SLOWER * calm or not judged) and not found["failures"] and growth <= _MOST_GROWTH_MB
    return Row(
        f"load, {_CONNECTIONS} connections, {found['seconds']:.0f} s: {kind}",
        found["questions"],
        said,
        "≤ 2×, 0, flat",
        held,
    )
