"""How large a simulated world is and how long its stories are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from query_reduction.settings import Between, check_ranges

__all__ = ["WorldOptions"]


@dataclass(frozen=True, slots=True)
class WorldOptions:
    """Sizes of the worlds; those that are not given are as in the published data."""

    sentences: Annotated[int | None, Between(1, 1_000_000)] = None
    """Sentences per story; it continues a little if nothing can be asked yet. Questions are spread evenly if a story
    can be interrupted, and come at its end in the other tasks (4, 15 to 19). With a haystack: sentences of story and
    haystack in all."""
    people: Annotated[int | None, Between(1, 1_000_000)] = None
    """Number of people."""
    places: Annotated[int | None, Between(1, 1_000_000)] = None
    """Number of places."""
    things: Annotated[int | None, Between(1, 1_000_000)] = None
    """Things that are carried, compared or placed."""
    distractors: Annotated[float, Between(0, 0.99)] = 0.0
    """Probability of an irrelevant sentence after each sentence."""

    def __post_init__(self) -> None:
        check_ranges(self)
