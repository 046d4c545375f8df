"""Models that come with the package: small, trained on generated stories, tested on the published ones.

Each is one safetensors file here, named as it is loaded: ``task2.safetensors`` is ``qr.load("task2")``.
``studies/make_models.py`` makes them.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from query_reduction.errors import InputError

__all__ = ["FOLDER", "ReadyModel", "find_model", "ready_models", "size_limit", "story_tasks"]

FOLDER = Path(__file__).parent
_SHOWN = 60
"""Letters of a name that is too long."""
"""Where they are."""
_MOST_HEADER = 50_000_000


@dataclass(frozen=True, slots=True)
class ReadyModel:
    """A model that comes with the package, as described by its file's header."""

    name: str
    path: Path
    size: int
    """Bytes."""
    card: Mapping[str, Any]
    """What it was trained on, by which command, and its measured errors."""


def size_limit(name: str) -> int:
    """The most bytes a model may add to the package."""
    return 3_000_000 if name == "joint" else 200_000


def ready_models() -> list[ReadyModel]:
    """All models that come with the package, in natural order."""
    found = [ReadyModel(path.stem, path, path.stat().st_size, _card(path)) for path in FOLDER.glob("*.safetensors")]
    return sorted(found, key=lambda model: (len(model.name.rstrip("0123456789")), len(model.name), model.name))


def find_model(name: str | Path) -> Path:
    """Where a model is: a path that exists, or the file of a ready model."""
    path = Path(name)
    try:
        if path.exists():
            return path
    except OSError as error:  # longer than a file's name can be
        raise InputError(f"{str(name)[:_SHOWN]}…: {error.strerror}") from error
    ready = FOLDER / f"{name}.safetensors"
    # A plain name only: anything with a folder in it was meant as a path.
    if Path(str(name)).name == str(name) and ready.is_file():
        return ready
    names = [model.name for model in ready_models()]
    near = get_close_matches(str(name), names, 1)
    meant = f"did you mean {near[0]}? " if near else ""
    known = ", ".join(names) or "none"
    raise InputError(f"{name}: no such file or folder, and no ready model of that name ({meant}available: {known})")


def story_tasks(card: Mapping[str, Any]) -> list[int]:
    """The story tasks a model was tested on, by its card: those for which stories can be generated."""
    from query_reduction.worlds import TASKS  # a whole package, and answers need none of it

    tested = card.get("test_errors", {}).get("answer", {})
    return [task for task in TASKS if str(task) in tested]


def _card(path: Path) -> dict[str, Any]:
    """The card in a model's header, without reading its weights."""
    with path.open("rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        header = json.loads(file.read(min(length, _MOST_HEADER)))
    card: dict[str, Any] = json.loads(header.get("__metadata__", {}).get("card", "{}"))
    return card
