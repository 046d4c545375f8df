"""The results of a training run, and the one rule for choosing a restart: on development questions alone."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

__all__ = ["RestartResult", "RunResult", "choose", "development_rank"]


@dataclass(frozen=True, slots=True)
class RestartResult:
    """The result of one restart."""

    restart: int
    epochs: int
    best_epoch: int
    dev_loss: float | None
    """None if it is not a number: the restart diverged."""
    dev_error: float | None
    errors: Mapping[str, Mapping[str, float]]
    """Test error in percent: measure → row of the table → error. Stories have one measure, ``answer``; dialogs have
    ``per slot``, ``exact match`` and ``per dialog``, and rows with ``-OOV`` for the test with unseen names."""
    seconds: float
    """The time of training so far, shared by the restarts that trained together."""
    test_error: float | None = None
    """The error by the task's main measure over all test questions; None without a test."""
    parameters: int | None = None
    """The number of trained weights; None if it was not recorded."""


def development_rank(keep: str, loss: float | None, error: float | None) -> tuple[bool, float, float]:
    """Results on development questions in the order of preference, best first, by the recipe's measure."""
    if loss is None or error is None or math.isnan(loss) or math.isnan(error):
        return True, 0.0, 0.0
    return (False, loss, loss) if keep == "loss" else (False, error, loss)


def choose(results: Sequence[RestartResult], keep: str) -> RestartResult:
    """The restart that did best on the development questions; the first one in case of a tie."""
    return min(results, key=lambda result: (*development_rank(keep, result.dev_loss, result.dev_error), result.restart))


@dataclass(frozen=True, slots=True)
class RunResult:
    """A finished run: all restarts, which of them was chosen, and where it comes from."""

    about: str
    """What was trained on, as the user named it."""
    network: str
    """The network's short name."""
    chosen: RestartResult
    restarts: tuple[RestartResult, ...]
    seconds: float
    questions: Mapping[str, int]
    """The number of questions by part: ``train``, ``dev``, ``test``."""
    settings: Mapping[str, Any]
    """Network, task and recipe as plain values."""
    data: Mapping[str, str]
    """Name and sha256 of the data."""
    provenance: Mapping[str, Any]
    """Command, version, commit and machine."""
    diverged: tuple[int, ...] = ()
    """The restarts that were stopped because they diverged; their best weights before that were kept, if any."""

    @property
    def test_errors(self) -> list[float]:
        """The test errors of all restarts."""
        return [restart.test_error for restart in self.restarts if restart.test_error is not None]

    def as_json(self) -> dict[str, Any]:
        """Everything as plain values, the most important first."""
        errors = self.test_errors
        return {
            "about": self.about,
            "network": self.network,
            "test_error": self.chosen.test_error,
            "test_error_mean": float(np.mean(errors)) if errors else None,
            "test_error_std": float(np.std(errors)) if errors else None,
            "test_errors": {measure: dict(rows) for measure, rows in self.chosen.errors.items()},
            "chosen_restart": self.chosen.restart,
            "dev_error": self.chosen.dev_error,
            "dev_loss": self.chosen.dev_loss,
            "diverged_restarts": list(self.diverged),
            "seconds": self.seconds,
            "questions": dict(self.questions),
            "restarts": [asdict(restart) for restart in self.restarts],
            "settings": dict(self.settings),
            "data": dict(self.data),
            **self.provenance,
        }
