"""results/attack.md: one row per test, with where it comes from; made from results/attack.json."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from query_reduction.files import write_atomically
from query_reduction_lab.attack.record import Row

__all__ = ["write_report"]

_JSON = Path("results/attack.json")
_PAGE = Path("results/attack.md")
_HEAD = """# Attacks

`make attack` makes this page; what is promised is in [SECURITY.md](../SECURITY.md). A row that says *no* is a promise
not kept in that run. Rows of `--short` have only a small part of the tries of a full run, and times on a busy machine.

| test | tries | found | bar | held | command | commit | machine |
|---|---:|---|---|---|---|---|---|
"""


def write_report(name: str, rows: list[Row], origin: dict[str, Any]) -> None:
    """Replace the rows of one attack, or of one test; the others stay. ``origin`` is where they come from."""
    stored = json.loads(_JSON.read_text(encoding="utf-8")) if _JSON.exists() else {}
    tests = {row.test for row in rows}
    for group in stored.values():
        group["rows"] = [row for row in group["rows"] if row["test"] not in tests]
    stored = {key: group for key, group in stored.items() if group["rows"] or key == name}
    stored[name] = {"rows": [asdict(row) for row in rows], "origin": origin}
    write_atomically(_JSON, json.dumps(stored, indent=1, ensure_ascii=False) + "\n")
    lines = [_line(row, group["origin"]) for group in stored.values() for row in group["rows"]]
    write_atomically(_PAGE, _HEAD + "".join(lines))


def _line(row: dict[str, Any], origin: dict[str, Any]) -> str:
    commit, _, changes = str(origin.get("commit") or "unknown").partition("+")
    commit = commit[:7] + ("+changes" if changes else "")
    cells = [row["test"], row["tries"], row["found"], row["bar"], "yes" if row["held"] else "no"]
    cells += [f"`python -m query_reduction_lab.attack {origin['command'].partition(' ')[2]}`", commit]
    machine = f"{origin['machine']['processor']}, {origin['machine']['cores']} cores"
    return "| " + " | ".join(str(cell).replace("|", "/").replace("\n", " ") for cell in (*cells, machine)) + " |\n"
