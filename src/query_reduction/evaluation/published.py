"""The paper's own numbers, as data."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib import resources

__all__ = ["Published", "published"]


@dataclass(frozen=True, slots=True)
class Published:
    """What the paper says."""

    source: str
    unit: str
    parallel_speedup: float
    tables: dict[str, dict[str, dict[str, float]]]
    """Table → column → row → error in percent; rows ``average`` and ``failed`` sum a column up."""

    def column(self, table: str, column: str) -> dict[str, float]:
        """A column of a table; empty if the paper does not have it."""
        return self.tables.get(table, {}).get(column, {})


@cache
def published() -> Published:
    """The published numbers."""
    file = resources.files("query_reduction.evaluation") / "published.json"
    return Published(**json.loads(file.read_text(encoding="utf-8")))
