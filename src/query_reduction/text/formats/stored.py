"""Plain values in model files, checked as they are read: a file may come from anywhere."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from query_reduction.errors import InputError

__all__ = ["Bounds"]


@dataclass(frozen=True, slots=True)
class Bounds:
    """How large values may be. Each function returns a value if it is what its name says, or raises ``InputError``."""

    entries: int
    """Of a list or an object."""
    letters: int
    """Of a text."""

    def list(self, value: object, name: str) -> list[object]:
        """A list of anything."""
        if not isinstance(value, list) or len(value) > self.entries:
            raise InputError(f"{name} must be a list of at most {self.entries} entries")
        return value

    def text(self, value: object, name: str) -> str:
        """A text."""
        if not isinstance(value, str) or len(value) > self.letters:
            raise InputError(f"{name} must be text of at most {self.letters} letters")
        return value

    def texts(self, value: object, name: str) -> tuple[str, ...]:
        """A list of texts."""
        entries = self.list(value, name)
        self._check_texts(entries, name)
        return tuple(entries)  # type: ignore[arg-type]

    def _check_texts(self, values: Iterable[object], name: str) -> None:
        """Many at once: a model file has thousands."""
        if any(not isinstance(value, str) or len(value) > self.letters for value in values):
            raise InputError(f"{name} must be text of at most {self.letters} letters")

    def pair(self, value: object, name: str) -> tuple[str, str]:
        """A list of two texts."""
        found = self.texts(value, name)
        if len(found) != 2:
            raise InputError(f"{name} must be two texts")
        return found[0], found[1]

    def mapping(self, value: object, name: str) -> Mapping[str, object]:
        """An object of anything."""
        if not isinstance(value, dict) or len(value) > self.entries:
            raise InputError(f"{name} must be an object of at most {self.entries} entries")
        self._check_texts(value, name)
        return value

    def table(self, value: object, name: str) -> dict[str, str]:
        """An object of texts."""
        entries = self.mapping(value, name)
        self._check_texts(entries.values(), name)
        return dict(entries)  # type: ignore[arg-type]

    def count(self, value: object, name: str) -> int:
        """A whole number from 0 to the number of entries."""
        if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= self.entries:
            raise InputError(f"{name} must be a number from 0 to {self.entries}")
        return value
