"""What is remarkable about some data: how bad it is, how often it occurs, where, and what to do."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeAlias

__all__ = ["Finding", "Severity", "counted", "shortened", "worst"]

Severity: TypeAlias = Literal["error", "warning", "note"]
_FROM_WORST: tuple[Severity, ...] = ("error", "warning", "note")
_LONGEST = 80


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was found in a file."""

    kind: str
    """A short name for scripts, such as ``contradiction``."""
    severity: Severity
    """error: it cannot be used like this; warning: a result would mislead; note: good to know."""
    count: int
    """How many questions, answers, stories or lines it concerns."""
    what: str
    """What was found."""
    todo: str
    """What to do about it."""
    example: str = ""
    file: str = ""
    line: int = 0
    """The line of the example; 0 if it has none."""

    def __str__(self) -> str:
        place = f"{self.file or 'line'}{':' if self.file else ' '}{self.line}" if self.line else self.file
        example = f", e.g. {self.example}" if self.example else ""
        todo = f": {self.todo}" if self.todo else ""
        return f"{place + ': ' if place else ''}{self.severity}: {self.what}{example}{todo}"

    def as_json(self) -> dict[str, Any]:
        """All of it as plain values."""
        return asdict(self)


def worst(findings: list[Finding]) -> Severity | None:
    """The worst severity among findings; None if there are none."""
    return next((level for level in _FROM_WORST if any(one.severity == level for one in findings)), None)


def counted(count: int, one: str, several: str = "") -> str:
    """A number with its noun: ``1 story``, ``2 stories``."""
    return f"{count} {one if count == 1 else several or one + 's'}"


def shortened(text: str) -> str:
    """A text as an example: in quotes, on one line, not too long."""
    line = " ".join(text.split())
    return f'"{line if len(line) <= _LONGEST else line[: _LONGEST - 1] + "…"}"'
