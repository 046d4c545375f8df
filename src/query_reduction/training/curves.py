"""Learning curves: one JSON line per restart and evaluation on the development questions; TensorBoard on request."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from types import TracebackType
from typing import Any

from query_reduction.errors import InputError
from query_reduction.files import write_atomically
from query_reduction.training.restarts import CurvePoint

__all__ = ["CurveWriter"]


class CurveWriter:
    """Appends to ``curves.jsonl``; points that a resumed run will compute again are removed first."""

    def __init__(self, path: Path, *, up_to_epoch: int, tensorboard: Path | None = None) -> None:
        kept = []
        if path.exists():
            lines = path.read_text(encoding="utf-8").splitlines()
            kept = [line for line in lines if line.endswith("}") and json.loads(line)["epoch"] <= up_to_epoch]
        write_atomically(path, "".join(f"{line}\n" for line in kept))
        self._file = path.open("a", encoding="utf-8")
        self._board = _board(tensorboard) if tensorboard else None

    def add(self, points: Iterable[CurvePoint]) -> None:
        """Write the points of one evaluation."""
        for point in points:
            self._file.write(json.dumps(asdict(point)) + "\n")
            if self._board:
                for name in ("train_loss", "dev_loss", "dev_error"):
                    self._board.add_scalar(f"{name}/restart {point.restart}", getattr(point, name), point.epoch)
        self._file.flush()

    def __enter__(self) -> CurveWriter:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._file.close()
        if self._board:
            self._board.close()


def _board(folder: Path) -> Any:
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError as error:
        raise InputError("TensorBoard is not installed: pip install 'query-reduction[tensorboard]'") from error
    return SummaryWriter(str(folder))
