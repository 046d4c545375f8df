"""How far do chains of relations reach? Collects finished trainings on StepGame and CLUTRR into one table.

    qrn train --network follow --data stepgame --restarts 3 … --out runs/stepgame
    python -m query_reduction_lab.studies.chains runs/stepgame runs/clutrr …

Every restart is tested, and none is chosen on a test: a row has the mean and the spread of all restarts by the number
of hops. Beside the JSON file a Markdown table is written.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from query_reduction.errors import InputError
from query_reduction.files import write_atomically
from query_reduction_lab.studies.publish import RESULTS, publish

__all__ = ["as_markdown", "collect"]

_SHOWN = ("reduction", "evidence", "orders", "directions", "window")
"""Settings of the network that a row names where they are not the default."""
_DEFAULTS = {"reduction": "both", "evidence": "shares", "orders": "all", "directions": "one", "window": 3}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", nargs="+", type=Path, help="folders of finished trainings")
    parser.add_argument("--out", type=Path, default=RESULTS / "chains.json")
    chosen = parser.parse_args()
    rows = [collect(folder) for folder in chosen.runs]
    publish(chosen.out, {"what": "accuracy by number of hops, in percent", "rows": rows}, "studies/chains.py")
    write_atomically(chosen.out.with_suffix(".md"), as_markdown(rows))


def collect(folder: Path) -> dict[str, Any]:
    """What a finished training says: accuracy by hops, its data, settings and origin."""
    path = folder / "result.json"
    if not path.is_file():
        raise InputError(f"{folder}: no finished training here")
    result = json.loads(path.read_text())
    by_restart = [restart["errors"]["answer"] for restart in result["restarts"]]
    accuracy = {
        hops: {
            "mean": round(float(np.mean([100 - errors[hops] for errors in by_restart])), 2),
            "deviation": round(float(np.std([100 - errors[hops] for errors in by_restart])), 2),
        }
        for hops in by_restart[0]
    }
    return {
        "data": result["data"]["name"],
        "network": _name(result["settings"]["network"]),
        "restarts": len(by_restart),
        "accuracy": accuracy,
        "seconds": result["seconds"],
        "settings": result["settings"],
        "data_sha256": result["data"]["sha256"],
        "trained_by": {name: result[name] for name in ("command", "version", "commit", "machine")},
    }


def _name(settings: Mapping[str, Any]) -> str:
    changed = [f"{name} {settings[name]}" for name in _SHOWN if settings.get(name, _DEFAULTS[name]) != _DEFAULTS[name]]
    return ", ".join([str(settings["network"]), *changed])


def as_markdown(rows: Sequence[Mapping[str, Any]]) -> str:
    """A table for each benchmark, a column per number of hops."""
    lines = ["# Chains of relations: accuracy by number of hops, in percent", ""]
    for data in dict.fromkeys(row["data"] for row in rows):
        own = [row for row in rows if row["data"] == data]
        hops = sorted(own[0]["accuracy"], key=int)
        lines += [f"## {data}", "", f"| network | restarts | {' | '.join(hops)} |", f"|---|---:|{'---:|' * len(hops)}"]
        for row in own:
            cells = [f"{row['accuracy'][hop]['mean']:.1f} ± {row['accuracy'][hop]['deviation']:.1f}" for hop in hops]
            lines.append(f"| {row['network']} | {row['restarts']} | {' | '.join(cells)} |")
        lines.append("")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
