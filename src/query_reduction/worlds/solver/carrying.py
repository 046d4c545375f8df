"""Tasks 7 and 8: what everybody holds, and in which order each first touched what."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from query_reduction.worlds.solver.reading import find, read_events

__all__ = ["SOLVERS"]

_NUMBERS = ["none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]


def _how_many(sentences: Sequence[str], question: str) -> str:
    (who,) = find(r"How many objects is (\w+) carrying\?", question)
    count = len(_held_by(who, sentences))
    return _NUMBERS[count] if count < len(_NUMBERS) else str(count)


def _which(sentences: Sequence[str], question: str) -> str:
    (who,) = find(r"What is (\w+) carrying\?", question)
    return ",".join(_held_by(who, sentences)) or "nothing"


def _held_by(who: str, sentences: Sequence[str]) -> list[str]:
    """What the person holds, in the order of first touch."""
    touched: dict[str, bool] = {}
    for event in read_events(sentences):
        if event.thing and who in (event.who, event.whom):
            touched[event.thing] = event.kind == "get" or event.whom == who
    return [thing for thing, held in touched.items() if held]


SOLVERS: dict[int, Callable[[Sequence[str], str], str]] = {7: _how_many, 8: _which}
