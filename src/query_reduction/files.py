"""Write a file whole or not at all: a crash or a full disk leaves the old one in place."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from query_reduction.errors import InputError

__all__ = ["write_atomically"]


def write_atomically(path: Path, content: bytes | str) -> None:
    """Replace ``path`` by a file with this content, in one step as others see it."""
    data = content.encode() if isinstance(content, str) else content
    unfinished = path.parent / f".{path.name}.{os.getpid()}.part"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with unfinished.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        unfinished.replace(path)
    except (OSError, ValueError) as error:  # a name with a null character is a ValueError
        with suppress(OSError, ValueError):
            unfinished.unlink()
        raise InputError(f"cannot write {path}: {getattr(error, 'strerror', None) or error}") from error
