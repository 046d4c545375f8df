"""Open an untrusted text file of unknown size: plain or gzip, with only a bounded part of it in memory."""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import IO, Protocol

from query_reduction.text.formats.foreign import BEGINNING, foreign_file

__all__ = [
    "LONGEST_LINE",
    "MOST_LOADED",
    "BoundedReader",
    "UnreadableError",
    "first_characters",
    "open_text",
    "watched_reading",
]

LONGEST_LINE = 1 << 26
"""Maximum number of characters in a line."""
MOST_LOADED = 1 << 28
"""Maximum number of characters in a file that has to be read whole (a JSON array)."""

_MOST_UNFOLDED = 1 << 27
_MOST_FOLD = 100
"""Text compresses to about a tenth; a file that expands beyond both of these is meant to fill memory or disk."""
_GZIP = b"\x1f\x8b"
_LOOKED_AT = 1 << 16


class UnreadableError(Exception):
    """Why a file cannot be read; becomes a Problem."""


class _Readable(Protocol):
    def read(self, size: int, /) -> bytes: ...


class BoundedReader(io.RawIOBase):
    """Reads from ``source`` and refuses to return more than ``most`` bytes."""

    def __init__(self, source: _Readable, most: int) -> None:
        self._source = source
        self._left = most

    def readable(self) -> bool:
        """True."""
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        """Fill the buffer; UnreadableError if there is more than allowed."""
        data = self._source.read(len(buffer))
        self._left -= len(data)
        if self._left < 0:
            raise UnreadableError("expands to far more than compressed text does; unpack it yourself if you trust it")
        buffer[: len(data)] = data
        return len(data)


_watched: ContextVar[list[IO[bytes]] | None] = ContextVar("watched", default=None)


@contextmanager
def watched_reading() -> Iterator[Callable[[], int]]:
    """For progress bars: yields a function that says how many bytes of the files opened inside have been read."""
    opened: list[IO[bytes]] = []
    before = _watched.set(opened)
    try:
        yield lambda: sum(0 if file.closed else file.tell() for file in opened)
    finally:
        _watched.reset(before)


@contextmanager
def open_text(path: Path) -> Iterator[IO[str]]:
    """The text of a file, unpacked if it is gzip (by its first bytes), with LF line ends and no byte order mark."""
    try:
        with path.open("rb") as file:
            if (watched := _watched.get()) is not None:
                watched.append(file)
            beginning = file.read(BEGINNING)
            file.seek(0)
            packed = beginning.startswith(_GZIP)
            if foreign := foreign_file(beginning, path):
                raise UnreadableError(foreign)
            if not packed and path.suffix == ".gz":
                raise UnreadableError("named .gz, but not a gzip file")
            if not packed:
                with io.TextIOWrapper(file, "utf-8-sig") as text:
                    yield text
                return
            most = max(_MOST_UNFOLDED, _MOST_FOLD * path.stat().st_size)
            with (
                gzip.GzipFile(fileobj=file) as unpacked,
                io.BufferedReader(BoundedReader(unpacked, most), _LOOKED_AT) as bounded,
                io.TextIOWrapper(bounded, "utf-8-sig") as text,
            ):
                yield text
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise UnreadableError("a damaged gzip file, or one cut short") from error
    except OSError as error:
        raise UnreadableError(error.strerror or "cannot be read") from error


def first_characters(path: Path) -> str:
    """The beginning of a file, or an empty text if it cannot be read: reading it will say why."""
    try:
        with open_text(path) as text:
            return text.read(_LOOKED_AT)
    except (UnreadableError, UnicodeDecodeError):
        return ""
