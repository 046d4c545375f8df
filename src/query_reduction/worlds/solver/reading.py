"""Reads the sentences about people, places and things; knows English verbs and nothing else of the worlds."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

__all__ = ["Event", "find", "read_events"]

_KINDS = {
    "move": r"(?P<who>\w+) (?:moved|went|went back|travelled|journeyed) to the (?P<place>.+)\.",
    "get": r"(?P<who>\w+) (?:took|got|grabbed|picked up) the (?P<thing>.+?)(?: there)?\.",
    "drop": r"(?P<who>\w+) (?:dropped|discarded|left|put down) the (?P<thing>.+?)(?: there)?\.",
    "give": r"(?P<who>\w+) (?:gave|passed|handed) the (?P<thing>.+) to (?P<whom>\w+)\.",
}
_PATTERNS = {kind: re.compile(pattern) for kind, pattern in _KINDS.items()}


class Event(NamedTuple):
    """One thing that happened: move, get, drop or give."""

    kind: str
    who: str
    place: str = ""
    thing: str = ""
    whom: str = ""


def read_events(sentences: Iterable[str]) -> Iterator[Event]:
    """The events in the sentences, in order; other sentences are skipped."""
    for sentence in sentences:
        for kind, pattern in _PATTERNS.items():
            match = pattern.fullmatch(sentence)
            if match:
                yield Event(kind, **match.groupdict())
                break


def find(pattern: str, text: str) -> tuple[str, ...]:
    """The groups of a pattern that the whole text must fit."""
    match = re.fullmatch(pattern, text)
    if match is None:
        raise ValueError(f"cannot read {text!r}")
    return match.groups()
