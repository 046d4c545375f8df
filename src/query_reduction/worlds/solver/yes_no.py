"""Task 6: compare the place asked about with the last one mentioned."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from query_reduction.worlds.solver.reading import find, read_events

__all__ = ["SOLVERS"]


def _is_there(sentences: Sequence[str], question: str) -> str:
    who, place = find(r"Is (\w+) in the (.+)\?", question)
    places = [event.place for event in read_events(sentences) if event.kind == "move" and event.who == who]
    return "yes" if places[-1] == place else "no"


SOLVERS: dict[int, Callable[[Sequence[str], str], str]] = {6: _is_there}
