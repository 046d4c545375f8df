"""Task 14: put each person's moves into the order of the day."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from query_reduction.worlds.solver.reading import find, read_events

__all__ = ["SOLVERS"]

_TIMES = ("yesterday", "this morning", "this afternoon", "this evening")
_TIME = re.compile("|".join(_TIMES), re.IGNORECASE)


def _where_was(sentences: Sequence[str], question: str) -> str:
    who, place = find(r"Where was (\w+) before the (.+)\?", question)
    place_at: dict[int, str] = {}
    for sentence in sentences:
        time = _TIME.search(sentence)
        if time is None:
            continue
        plain = sentence.replace(time[0], "").strip().replace(" .", ".")
        for event in read_events([plain]):
            if event.who == who:
                place_at[_TIMES.index(time[0].lower())] = event.place
    places = [place_at[time] for time in sorted(place_at)]
    last_time_there = max(number for number, name in enumerate(places) if name == place)
    return places[last_time_there - 1]


SOLVERS: dict[int, Callable[[Sequence[str], str], str]] = {14: _where_was}
