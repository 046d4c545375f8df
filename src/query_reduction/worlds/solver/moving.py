"""Tasks 1 to 3: keep track of who is where with what."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from query_reduction.worlds.solver.reading import Event, find, read_events

__all__ = ["SOLVERS"]


def _where_is(sentences: Sequence[str], question: str) -> str:
    (who,) = find(r"Where is (\w+)\?", question)
    return [event.place for event in read_events(sentences) if event.kind == "move" and event.who == who][-1]


def _where_is_thing(sentences: Sequence[str], question: str) -> str:
    (thing,) = find(r"Where is the (.+)\?", question)
    return _places_of(thing, read_events(sentences))[-1]


def _where_was_thing(sentences: Sequence[str], question: str) -> str:
    thing, place = find(r"Where was the (.+) before the (.+)\?", question)
    places = _places_of(thing, read_events(sentences))
    last_time_there = max(number for number, name in enumerate(places) if name == place)
    return places[last_time_there - 1]


def _places_of(thing: str, events: Iterable[Event]) -> list[str]:
    """The places where the thing is known to have been, in order, none twice running."""
    place_of: dict[str, str] = {}
    holder = ""
    places: list[str] = []
    for event in events:
        carrier = holder
        if event.kind == "move":
            place_of[event.who] = event.place
        elif event.thing == thing:
            carrier = event.who
            holder = {"get": event.who, "drop": "", "give": event.whom}[event.kind]
        place = place_of.get(carrier)
        if place and places[-1:] != [place]:
            places.append(place)
    return places


SOLVERS: dict[int, Callable[[Sequence[str], str], str]] = {1: _where_is, 2: _where_is_thing, 3: _where_was_thing}
