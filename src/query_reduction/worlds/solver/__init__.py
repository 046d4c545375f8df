"""Slow reference solvers, one per task: they read only the text of a story and know nothing of the worlds.

They are the independent check of the generators, and of the published data.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from query_reduction.worlds.solver import (
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

__all__ = ["SOLVERS", "solve"]

SOLVERS: dict[int, Callable[[Sequence[str], str], str]] = {
    task: solver
    for module in (
        moving, relations, giving, yes_no, carrying, uncertain, coreference, timeline, deduction, space, motives,
    )
    for task, solver in module.SOLVERS.items()
}  # fmt: skip


def solve(task: int, sentences: Sequence[str], question: str) -> str:
    """The answer to a question of a task, from the sentences before it."""
    return SOLVERS[task](sentences, question)
