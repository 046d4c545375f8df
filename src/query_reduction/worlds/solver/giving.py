"""Task 5: the last gift that fits the question."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from query_reduction.worlds.solver.reading import read_events

__all__ = ["SOLVERS"]

# Each question: what it says of the gift, and which part of the gift it asks for.
_FORMS = (
    (r"What did (?P<who>\w+) give to (?P<whom>\w+)\?", "thing"),
    (r"Who gave the (?P<thing>.+) to (?P<whom>\w+)\?", "who"),
    (r"Who gave the (?P<thing>.+)\?", "who"),
    (r"Who received the (?P<thing>.+)\?", "whom"),
    (r"Who did (?P<who>\w+) give the (?P<thing>.+) to\?", "whom"),
)


def _gift(sentences: Sequence[str], question: str) -> str:
    said, wanted = _understand(question)
    gifts = [event._asdict() for event in read_events(sentences) if event.kind == "give"]
    return str([gift[wanted] for gift in gifts if said.items() <= gift.items()][-1])


def _understand(question: str) -> tuple[dict[str, str], str]:
    for pattern, wanted in _FORMS:
        match = re.fullmatch(pattern, question)
        if match:
            return match.groupdict(), wanted
    raise ValueError(f"cannot read {question!r}")


SOLVERS: dict[int, Callable[[Sequence[str], str], str]] = {5: _gift}
