"""Write a file whole or not at all: a crash or a full disk leaves the old one in place."""

from __future__ import annotations

import os
from pathlib import Path

from query_reduction.errors import InputError

__all__ = ["write_atomically"]


def write_atomically(path: Path, content: bytes | str) -> None:
    """Replace ``path`` by a file with this content, in one step as others see it."""
    data = content.encode() if isinstance(content, str) else content
    unfinished = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with unfinished.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        unfinished.replace(path)
    except OSError as error:
        unfinished.unlink(missing_ok=True)
        raise InputError(f"cannot write {path}: {error.strerror or error}") from error
