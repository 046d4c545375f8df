"""Write a file whole or not at all, and keep two processes out of one folder.

A crash or a full disk leaves the old file in place. A killed process leaves at most an unfinished file whose name ends
in ``.part``; whoever writes there next removes it. Locks are the operating system's, so they end with their process.
"""

from __future__ import annotations

import errno
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from query_reduction.errors import InputError

try:
    import fcntl
except ImportError as error:
    raise ImportError("query-reduction runs on Linux and macOS; on Windows, use it inside WSL") from error

__all__ = ["append", "lock", "locked", "remove", "remove_leftovers", "rename", "write_atomically"]


def write_atomically(path: Path, content: bytes | str) -> None:
    """Replace ``path`` by a file with this content, in one step as others see it."""
    unfinished = None
    try:
        data = content.encode() if isinstance(content, str) else content
        path.parent.mkdir(parents=True, exist_ok=True)
        remove_leftovers(path.parent, path.name)
        unfinished, descriptor = _unfinished(path)
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
            rename(unfinished, path)
    except BaseException as error:
        if unfinished is not None:
            with suppress(OSError):
                unfinished.unlink()
        if isinstance(error, (OSError, ValueError)):  # a null character in a name is a ValueError, and half a character
            raise _cannot_write(path, error) from error
        raise


def rename(unfinished: Path, path: Path) -> None:
    """Give a finished file its name, in one step and for good."""
    unfinished.replace(path)
    _sync_folder(path.parent)


def append(path: Path, text: str) -> None:
    """Add text to the end of a file."""
    try:
        with path.open("a", encoding="utf-8") as file:
            file.write(text)
    except (OSError, ValueError) as error:
        raise _cannot_write(path, error) from error


def remove(path: Path) -> None:
    """Delete a file, if it exists."""
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise InputError(f"cannot delete {path}: {error.strerror or error}") from error


def remove_leftovers(folder: Path, name: str = "*") -> None:
    """Delete the unfinished files that killed processes left in a folder, those of one file or of all."""
    # A name is taken literally: it may hold brackets.
    ours = [entry for entry in folder.glob(".*.part") if name == "*" or entry.name.startswith(f".{name}.")]
    for entry in ours:
        with suppress(OSError):
            descriptor = os.open(entry, os.O_RDONLY)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)  # fails while its writer lives
                entry.unlink()
            finally:
                os.close(descriptor)


@contextmanager
def locked(folder: Path, busy: str | None = None) -> Iterator[None]:
    """Keep other processes out of a folder, which is created; waits for them or, with ``busy``, raises that error."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(folder, os.O_RDONLY)  # the folder itself, so that there is no lock file to clean up
    except (OSError, ValueError) as error:
        raise _cannot_write(folder, error) from error
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | (fcntl.LOCK_NB if busy else 0))
        except OSError as error:
            taken = busy if isinstance(error, BlockingIOError) else None
            raise InputError(taken or f"cannot lock {folder}: {error.strerror or error}") from error
        yield
    finally:
        os.close(descriptor)


def lock(file: IO[bytes], path: Path) -> bool:
    """Keep other processes from locking an open file; False if one has, or has given the file another name since."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except (BlockingIOError, FileNotFoundError):
        return False
    except OSError:  # a file system without locks
        return True


def _unfinished(path: Path) -> tuple[Path, int]:
    """A new file beside ``path``, locked for as long as it is open."""
    while True:
        unfinished = path.parent / f".{path.name}.{secrets.token_hex(4)}.part"
        descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
        with suppress(OSError):  # a file system without locks: then nobody takes it for a leftover either
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        if os.fstat(descriptor).st_nlink:
            return unfinished, descriptor
        os.close(descriptor)  # another process took it for a leftover, just before it was locked


def _sync_folder(folder: Path) -> None:
    """Make a renaming last, even if the power fails now."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):  # some file systems cannot, and the file itself is safe
            raise
    finally:
        os.close(descriptor)


def _cannot_write(path: Path, error: Exception) -> InputError:
    reason = getattr(error, "strerror", None) or error
    if isinstance(error, UnicodeError):
        reason = "a text holds half a character (a lone surrogate)"
    return InputError(f"cannot write {path}: {reason}")
