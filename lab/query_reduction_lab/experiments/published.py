"""The paper's own numbers, as data."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

__all__ = ["FigureSource", "Published", "PublishedFigure", "published"]


@dataclass(frozen=True, slots=True)
class FigureSource:
    """Where the story of a figure was found in the published data: numbers count from 0."""

    part: str
    story: int
    question: int


@dataclass(frozen=True, slots=True)
class PublishedFigure:
    """A story or dialog of the paper's gate figures, spelled as in the data."""

    name: str
    data: str
    """babi or dialog."""
    task: str
    question: str
    answer: str
    excerpt: tuple[tuple[str, tuple[float, ...]], ...]
    """The sentences printed, each with its gates: z1, r1 forward, r1 backward, z2."""
    source: FigureSource | None
    """The whole story; without it, only the printed sentences are known."""
    note: str


@dataclass(frozen=True, slots=True)
class Published:
    """What the paper says."""

    source: str
    unit: str
    parallel_speedup: float
    figures: tuple[PublishedFigure, ...]
    tables: dict[str, dict[str, dict[str, float]]]
    """Table → column → row → error in percent; rows ``average`` and ``failed`` summarise a column."""

    def column(self, table: str, column: str) -> dict[str, float]:
        """A column of a table; empty if the paper does not have it."""
        return self.tables.get(table, {}).get(column, {})


@cache
def published() -> Published:
    """The published numbers."""
    file = resources.files("query_reduction_lab.experiments") / "published.json"
    content = json.loads(file.read_text(encoding="utf-8"))
    figures = tuple(_figure(figure) for figure in content.pop("figures"))
    return Published(**content, figures=figures)


def _figure(content: dict[str, Any]) -> PublishedFigure:
    source = content.pop("source")
    excerpt = tuple((sentence, tuple(gates)) for sentence, gates in content.pop("excerpt"))
    return PublishedFigure(**content, excerpt=excerpt, source=FigureSource(**source) if source else None)
