"""Task 4, read from the text: the fact that names the place and the direction asked for, in either order."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

__all__ = ["OPPOSITE", "SOLVERS", "places_told"]

OPPOSITE = {"north": "south", "south": "north", "east": "west", "west": "east"}

_FACT = re.compile(r"The (.+) is (north|south|east|west) of the (.+)\.")
_WHAT_LIES = re.compile(r"What is (north|south|east|west) of the (.+)\?")
_LIES_OF_WHAT = re.compile(r"What is the (.+) (north|south|east|west) of\?")


def places_told(sentences: Sequence[str]) -> list[tuple[str, str, str]]:
    """Every fact as place, direction, other place: the place lies in that direction of the other."""
    return [(fact[1], fact[2], fact[3]) for sentence in sentences if (fact := _FACT.fullmatch(sentence))]


def _relations(sentences: Sequence[str], question: str) -> str:
    if asked := _WHAT_LIES.fullmatch(question):
        direction, place = asked[1], asked[2]
    elif asked := _LIES_OF_WHAT.fullmatch(question):
        place, direction = asked[1], OPPOSITE[asked[2]]
    else:
        raise ValueError(f"not a question of task 4: {question}")
    found = set()
    for subject, told, other in places_told(sentences):
        if (told, other) == (direction, place):
            found.add(subject)
        if (OPPOSITE[told], subject) == (direction, place):
            found.add(other)
    (answer,) = found
    return answer


SOLVERS: dict[int, Callable[[Sequence[str], str], str]] = {4: _relations}
