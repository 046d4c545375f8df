"""The files of one's own data in a folder: ``train``, ``valid``, ``test``, in any format that is read."""

from __future__ import annotations

import re
from pathlib import Path

from query_reduction.errors import InputError
from query_reduction.text.formats.foreign import FOREIGN_SUFFIXES
from query_reduction.text.formats.readers import SUFFIXES

__all__ = ["data_files", "find_part_files", "part_of"]

_PART = {
    "train": "train",
    "valid": "valid",
    "validation": "valid",
    "val": "valid",
    "dev": "valid",
    "test": "test",
    "unseen": "unseen",
}
"""What a file may be called, and the part it is."""
_SHORT = {"trn": "train", "tst": "test"}
"""As published dialogs have it."""


def data_files(folder: Path) -> list[Path]:
    """The files of a folder that have a suffix of stories or dialogs, in order of their names."""
    return sorted(path for path in folder.iterdir() if path.is_file() and _suffix(path) in SUFFIXES)


def find_part_files(folder: Path) -> dict[str, Path]:
    """``{part: path}`` of a folder; the parts are train, valid (also dev, val, validation), test and unseen."""
    found: dict[str, Path] = {}
    for path in data_files(folder):
        part = _PART.get(Path(path.name.removesuffix(".gz")).stem.lower())
        if part is None:
            continue
        if part in found:
            raise InputError(f"{folder} has two files for one part: {found[part].name} and {path.name}; leave one out")
        found[part] = path
    for path in sorted(folder.iterdir()):
        if path.suffix.lower() in FOREIGN_SUFFIXES and _PART.get(path.stem.lower(), "") not in ("", *found):
            raise InputError(
                f"{path}: {path.suffix} files are not read; save it as CSV (UTF-8), .jsonl or numbered text"
            )
    return found


def part_of(path: Path) -> str:
    """The part that a file's name says it is, anywhere in it (``1.2_test.csv``): train, valid, test or empty."""
    words = re.split(r"[^a-z]+", path.name.lower())
    return next((_PART.get(word, "") or _SHORT.get(word, "") for word in reversed(words) if word in _PART | _SHORT), "")


def _suffix(path: Path) -> str:
    return Path(path.name.removesuffix(".gz")).suffix.lower()
