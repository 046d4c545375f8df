"""Tasks 9 and 10: only the last sentence about somebody counts."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from query_reduction.worlds.solver.reading import find

__all__ = ["SOLVERS"]

_THERE = re.compile(r"(\w+) (?:is in|(?:moved|went|went back|travelled|journeyed) to) the (.+)\.")
_NOT_THERE = re.compile(r"(\w+) is (?:not|no longer) in the (.+)\.")
_EITHER = re.compile(r"(\w+) is either in the (.+) or the (.+)\.")


def _negation(sentences: Sequence[str], question: str) -> str:
    who, place = find(r"Is (\w+) in the (.+)\?", question)
    for sentence in reversed(sentences):
        there, not_there = _THERE.fullmatch(sentence), _NOT_THERE.fullmatch(sentence)
        if there and there[1] == who:
            return "yes" if there[2] == place else "no"
        if not_there and not_there[1] == who:
            if not_there[2] != place:
                raise ValueError(f"no fact decides {question!r}")
            return "no"
    raise ValueError(f"no sentence is about {who}")


def _indefinite(sentences: Sequence[str], question: str) -> str:
    who, place = find(r"Is (\w+) in the (.+)\?", question)
    for sentence in reversed(sentences):
        either, there = _EITHER.fullmatch(sentence), _THERE.fullmatch(sentence)
        if either and either[1] == who:
            return "maybe" if place in (either[2], either[3]) else "no"
        if there and there[1] == who:
            return "yes" if there[2] == place else "no"
    raise ValueError(f"no sentence is about {who}")


SOLVERS: dict[int, Callable[[Sequence[str], str], str]] = {9: _negation, 10: _indefinite}
