"""Tasks 11 to 13: a pronoun means whoever the last named movers were."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from query_reduction.worlds.solver.reading import find

__all__ = ["SOLVERS"]

_MOVE = re.compile(r"(.+) (?:moved|went|went back|travelled|journeyed) to the (.+)\.")
_PRONOUN = re.compile(r"(?:Then|After that|Afterwards|Following that) (?:he|she|they)")


def _where_is(sentences: Sequence[str], question: str) -> str:
    (who,) = find(r"Where is (\w+)\?", question)
    place_of: dict[str, str] = {}
    movers: list[str] = []
    for sentence in sentences:
        match = _MOVE.fullmatch(sentence)
        if match is None:
            continue
        if not _PRONOUN.fullmatch(match[1]):
            movers = match[1].split(" and ")
        for mover in movers:
            place_of[mover] = match[2]
    return place_of[who]


SOLVERS: dict[int, Callable[[Sequence[str], str], str]] = dict.fromkeys((11, 12, 13), _where_is)
