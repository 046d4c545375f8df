"""The folder of a training run: what is in it, who may write there, and what is kept there while it trains."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from query_reduction.errors import InputError
from query_reduction.files import locked, remove, remove_leftovers, write_atomically
from query_reduction.model_file import MODEL_FILE, save_model
from query_reduction.training.curves import CurveWriter
from query_reduction.training.restarts import Epoch
from query_reduction.training.results import RunResult
from query_reduction.training.run import Run, best_restart, trained_model

__all__ = ["RESULT_FILE", "STATE_FILE", "RunFolder", "is_finished", "is_unfinished"]

RESULT_FILE = "result.json"
STATE_FILE = "state.safetensors"
_CURVES_FILE = "curves.jsonl"


@dataclass(frozen=True, slots=True)
class RunFolder:
    """Where the model, the result, the learning curves and the state for resuming are kept, if anywhere."""

    path: Path | None = None
    """None keeps nothing."""
    save_every: float = 5.0
    """Seconds between two saves of the state for resuming."""

    @contextmanager
    def owned(self) -> Iterator[None]:
        """Keep other processes out of the folder, and remove what a killed one left there.

        A folder in which nothing was written is not left behind.
        """
        if self.path is None:
            yield
            return
        existed = self.path.exists()
        with locked(self.path, f"another training is writing to {self.path}; wait for it, or choose another folder"):
            remove_leftovers(self.path)
            if is_finished(self.path):
                remove(self.path / STATE_FILE)
            try:
                yield
            finally:
                if not existed and not any(self.path.iterdir()):
                    self.path.rmdir()

    def resume(self, run: Run) -> bool:
        """Let a run continue from the saved state, if there is one; it must belong to exactly this run."""
        if self.path is None or not (self.path / STATE_FILE).exists():
            return False
        if not run.trainer.restore(self.path / STATE_FILE, run.identity()):
            raise InputError(
                f"{self.path / STATE_FILE} belongs to a run with different settings or data; use the same options, or "
                "choose another --out"
            )
        return True

    @contextmanager
    def kept(self, run: Run) -> Iterator[Callable[[Epoch], None]]:
        """Keep curves and state while a run trains: the function it gives is called after every epoch.

        At the end, which may come early, the state is saved once more; but not after an error, which may have come in
        the middle of an epoch.
        """
        if self.path is None:
            yield lambda epoch: None
            return
        state = self.path / STATE_FILE
        curves = CurveWriter(self.path / _CURVES_FILE, up_to_epoch=run.trainer.epoch)
        saved_at = time.monotonic()

        def keep(epoch: Epoch) -> None:
            nonlocal saved_at
            if epoch.evaluations:
                curves.add(epoch.evaluations)
            if time.monotonic() - saved_at >= self.save_every:
                run.trainer.save(state, run.identity())
                saved_at = time.monotonic()

        yield keep
        run.trainer.save(state, run.identity())

    def save_unfinished(self, run: Run) -> None:
        """Save the best model so far of a run that was stopped, if there is one."""
        best = best_restart(run)
        if self.path is not None and best.weights:
            save_model(self.path / MODEL_FILE, trained_model(run, best, {"finished": False}))

    def save(self, run: Run, result: RunResult) -> None:
        """Save the chosen model and the result of a finished run."""
        if self.path is None:
            return
        save_model(self.path / MODEL_FILE, trained_model(run, best_restart(run), result.as_json()))
        write_atomically(self.path / RESULT_FILE, json.dumps(result.as_json(), indent=1, allow_nan=False) + "\n")
        remove(self.path / STATE_FILE)


def is_finished(folder: Path) -> bool:
    """Whether a folder holds a finished run."""
    return (folder / RESULT_FILE).exists()


def is_unfinished(folder: Path) -> bool:
    """Whether a folder holds a run that can be resumed."""
    return (folder / STATE_FILE).exists() and not is_finished(folder)
