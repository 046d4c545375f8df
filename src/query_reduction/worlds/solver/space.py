"""Tasks 17 to 19, read from the text: facts become a graph, and the graph is searched from one end to the other."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from query_reduction.worlds.solver.relations import OPPOSITE, places_told

__all__ = ["SOLVERS"]

Step = TypeVar("Step")

_SIDES = {"above": (0, 1), "below": (0, -1), "to the right of": (1, 0), "to the left of": (-1, 0)}
_SIDE = "|".join(_SIDES)
_POSITION = re.compile(rf"The (.+) is ({_SIDE}) the (.+)\.")
_ASKED_POSITION = re.compile(rf"Is the (.+) ({_SIDE}) the (.+)\?")
_FITS = re.compile(r"The (.+) fits inside the (.+)\.")
_BIGGER = re.compile(r"The (.+) is bigger than the (.+)\.")
_DOES_FIT = re.compile(r"Does the (.+) fit in the (.+)\?")
_IS_BIGGER = re.compile(r"Is the (.+) bigger than the (.+)\?")
_HOW_TO_GO = re.compile(r"How do you go from the (.+) to the (.+)\?")


def _shortest(graph: Mapping[str, Mapping[str, Step]], start: str, end: str) -> list[Step] | None:
    """The steps of a shortest path, or None if there is no path."""
    ways: dict[str, list[Step]] = {start: []}
    waiting = deque([start])
    while waiting:
        here = waiting.popleft()
        if here == end:
            return ways[here]
        for there, step in graph.get(here, {}).items():
            if there not in ways:
                ways[there] = [*ways[here], step]
                waiting.append(there)
    return None


def _positions(sentences: Sequence[str], question: str) -> str:
    """Every fact is one step; yes if the steps from the second thing to the first lead to the side asked for."""
    asked = _ASKED_POSITION.fullmatch(question)
    if not asked:
        raise ValueError(f"not a question of task 17: {question}")
    graph: dict[str, dict[str, tuple[int, int]]] = {}
    for sentence in sentences:
        if fact := _POSITION.fullmatch(sentence):
            thing, (right, up), other = fact[1], _SIDES[fact[2]], fact[3]
            graph.setdefault(other, {})[thing] = (right, up)
            graph.setdefault(thing, {})[other] = (-right, -up)
    steps = _shortest(graph, asked[3], asked[1])
    if steps is None:
        raise ValueError(f"no fact connects the things of: {question}")
    right, up = _SIDES[asked[2]]
    return "yes" if sum(right * x + up * y for x, y in steps) > 0 else "no"


def _sizes(sentences: Sequence[str], question: str) -> str:
    """Yes if facts lead from the bigger to the smaller thing, no if they lead back."""
    if asked := _DOES_FIT.fullmatch(question):
        smaller, bigger = asked[1], asked[2]
    elif asked := _IS_BIGGER.fullmatch(question):
        bigger, smaller = asked[1], asked[2]
    else:
        raise ValueError(f"not a question of task 18: {question}")
    smaller_than: dict[str, dict[str, None]] = {}
    for sentence in sentences:
        if fact := _FITS.fullmatch(sentence):
            smaller_than.setdefault(fact[2], {})[fact[1]] = None
        elif fact := _BIGGER.fullmatch(sentence):
            smaller_than.setdefault(fact[1], {})[fact[2]] = None
    if _shortest(smaller_than, bigger, smaller) is not None:
        return "yes"
    if _shortest(smaller_than, smaller, bigger) is not None:
        return "no"
    raise ValueError(f"no fact compares the things of: {question}")


def _paths(sentences: Sequence[str], question: str) -> str:
    """The first letters of the directions of the shortest path."""
    asked = _HOW_TO_GO.fullmatch(question)
    if not asked:
        raise ValueError(f"not a question of task 19: {question}")
    graph: dict[str, dict[str, str]] = {}
    for place, direction, other in places_told(sentences):
        graph.setdefault(other, {})[place] = direction[0]
        graph.setdefault(place, {})[other] = OPPOSITE[direction][0]
    way = _shortest(graph, asked[1], asked[2])
    if way is None:
        raise ValueError(f"there is no path: {question}")
    return ",".join(way)


SOLVERS: dict[int, Callable[[Sequence[str], str], str]] = {17: _positions, 18: _sizes, 19: _paths}
