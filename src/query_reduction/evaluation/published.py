"""The paper's own numbers, as data."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib import resources

__all__ = ["Published", "PublishedFigure", "published"]


@dataclass(frozen=True, slots=True)
class PublishedFigure:
    """A story of the paper's gate figure."""

    task: str
    question: str
    answer: str
    gates: tuple[str, ...]
    """The figure's columns."""
    sentences: dict[str, list[float]]
    """Each sentence with its gates, a value a column."""


@dataclass(frozen=True, slots=True)
class Published:
    """What the paper says."""

    source: str
    unit: str
    parallel_speedup: float
    figures: tuple[PublishedFigure, ...]
    tables: dict[str, dict[str, dict[str, float]]]
    """Table → column → row → error in percent; rows ``average`` and ``failed`` sum a column up."""

    def column(self, table: str, column: str) -> dict[str, float]:
        """A column of a table; empty if the paper does not have it."""
        return self.tables.get(table, {}).get(column, {})


@cache
def published() -> Published:
    """The published numbers."""
    file = resources.files("query_reduction.evaluation") / "published.json"
    content = json.loads(file.read_text(encoding="utf-8"))
    figures = tuple(PublishedFigure(**figure) for figure in content.pop("figures"))
    return Published(**content, figures=figures)
