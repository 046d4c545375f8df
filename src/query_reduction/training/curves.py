"""Learning curves: one JSON line per restart and evaluation on the development questions."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path

from query_reduction.errors import InputError
from query_reduction.files import append, write_atomically
from query_reduction.training.restarts import CurvePoint

__all__ = ["CurveWriter"]


class CurveWriter:
    """Appends to ``curves.jsonl``; points that a resumed run will compute again are removed first."""

    def __init__(self, path: Path, *, up_to_epoch: int) -> None:
        lines = _lines(path) if path.exists() else []
        write_atomically(path, "".join(f"{line}\n" for line in lines if _epoch(line) <= up_to_epoch))
        self._path = path

    def add(self, points: Iterable[CurvePoint]) -> None:
        """Write the points of one evaluation."""
        append(self._path, "".join(json.dumps(_plain(point)) + "\n" for point in points))


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}") from error


def _plain(point: CurvePoint) -> dict[str, float | None]:
    """A point as JSON, which has no word for what is not a number."""
    return {name: value if math.isfinite(value) else None for name, value in asdict(point).items()}


def _epoch(line: str) -> float:
    """The epoch of a point; infinite for a line that is cut off or not one of ours, which is then not kept."""
    try:
        return float(json.loads(line)["epoch"])
    except (ValueError, KeyError, TypeError, RecursionError, OverflowError):
        return math.inf
