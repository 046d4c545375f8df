"""What an attack found, as a row of ``results/attack.md``."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Row"]


@dataclass(frozen=True, slots=True)
class Row:
    """One row of the table."""

    test: str
    tries: int
    found: str
    bar: str
    held: bool
