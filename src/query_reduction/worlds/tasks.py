"""The twenty tasks: their numbers, published file names, titles and tellers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from query_reduction.worlds import (
    carrying,
    coreference,
    deduction,
    giving,
    motives,
    moving,
    relations,
    space,
    timeline,
    uncertain,
    yes_no,
)
from query_reduction.worlds.teller import Teller

__all__ = ["TASKS", "TaskInfo"]


@dataclass(frozen=True, slots=True)
class TaskInfo:
    """One task."""

    number: int
    slug: str
    """The name between number and split in the published file names."""
    title: str
    tell: Teller
    space_before_tab: bool
    """Whether the published files put a space between a question and the tab after it."""


_TELLERS: dict[int, Teller] = {
    number: tell
    for module in (
        moving, relations, giving, yes_no, carrying, uncertain, coreference, timeline, deduction, space, motives,
    )
    for number, tell in module.TELLERS.items()
}  # fmt: skip

_NAMES = (
    ("single-supporting-fact", "Single supporting fact"),
    ("two-supporting-facts", "Two supporting facts"),
    ("three-supporting-facts", "Three supporting facts"),
    ("two-arg-relations", "Two-argument relations"),
    ("three-arg-relations", "Three-argument relations"),
    ("yes-no-questions", "Yes/no questions"),
    ("counting", "Counting"),
    ("lists-sets", "Lists and sets"),
    ("simple-negation", "Simple negation"),
    ("indefinite-knowledge", "Indefinite knowledge"),
    ("basic-coreference", "Basic coreference"),
    ("conjunction", "Conjunction"),
    ("compound-coreference", "Compound coreference"),
    ("time-reasoning", "Time reasoning"),
    ("basic-deduction", "Basic deduction"),
    ("basic-induction", "Basic induction"),
    ("positional-reasoning", "Positional reasoning"),
    ("size-reasoning", "Size reasoning"),
    ("path-finding", "Path finding"),
    ("agents-motivations", "Agents' motivations"),
)
_NO_SPACE_BEFORE_TAB = frozenset({4, 15, 16, 17, 18, 19, 20})

TASKS: Mapping[int, TaskInfo] = MappingProxyType(
    {
        number: TaskInfo(number, slug, title, _TELLERS[number], number not in _NO_SPACE_BEFORE_TAB)
        for number, (slug, title) in enumerate(_NAMES, start=1)
        if number in _TELLERS
    }
)
"""All tasks by number."""
