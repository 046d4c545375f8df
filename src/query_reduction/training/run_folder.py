"""The folder of a training run: what is in it, and who may write there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from query_reduction.files import locked, remove, remove_leftovers

__all__ = ["RESULT_FILE", "STATE_FILE", "Place", "is_finished", "is_unfinished"]

RESULT_FILE = "result.json"
STATE_FILE = "state.safetensors"


@dataclass(frozen=True, slots=True)
class Place:
    """Where a run is stored."""

    folder: Path | None = None
    """The folder for model, result, curves and the state for resuming; None stores nothing."""
    save_every: float = 5.0
    """Seconds between two saves of the state for resuming."""
    about: str = ""
    """What the run is called in its result."""
    source: Mapping[str, str] = field(default_factory=dict)
    """The data and task as the user named them, so that the model can be tested on the same again."""

    @contextmanager
    def owned(self) -> Iterator[None]:
        """Keep other processes out of the folder, and remove what a killed one left there."""
        if self.folder is None:
            yield
            return
        with locked(
            self.folder, f"another training is writing to {self.folder}; wait for it, or choose another folder"
        ):
            remove_leftovers(self.folder)
            if is_finished(self.folder):
                remove(self.folder / STATE_FILE)
            yield


def is_finished(folder: Path) -> bool:
    """Whether a folder holds a finished run."""
    return (folder / RESULT_FILE).exists()


def is_unfinished(folder: Path) -> bool:
    """Whether a folder holds a run that can be resumed."""
    return (folder / STATE_FILE).exists() and not is_finished(folder)
