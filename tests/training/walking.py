"""Trainings that are stopped on the way, and resumed."""

from __future__ import annotations

from pathlib import Path

from query_reduction.training.restarts import epochs
from query_reduction.training.run import Run
from query_reduction.training.run_folder import RunFolder

__all__ = ["train"]


def train(run: Run, folder: Path | None = None, *, until: int | None = None) -> bool:
    """Train to the end or until an epoch, keeping the state in a folder; whether it came to its end."""
    with RunFolder(folder).kept(run) as keep:
        for epoch in epochs(run.trainer):
            keep(epoch)
            if until is not None and epoch.epoch >= until:
                break
    return run.trainer.finished
