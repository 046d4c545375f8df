"""How large a simulated world is and how long its stories are."""

from __future__ import annotations

from dataclasses import dataclass

from query_reduction.errors import InputError

__all__ = ["WorldOptions"]


@dataclass(frozen=True, slots=True)
class WorldOptions:
    """Sizes of the worlds; ``None`` means as in the published data."""

    sentences: int | None = None
    """Sentences per story; it continues a little if nothing can be asked yet. Questions are spread evenly if a story
    can be interrupted, and come at its end in the other tasks (4, 15 to 19). With a haystack: sentences of story and
    haystack in all."""
    people: int | None = None
    """Number of people."""
    places: int | None = None
    """Number of places."""
    things: int | None = None
    """Things that are carried, compared or placed."""
    distractors: float = 0.0
    """Probability of an irrelevant sentence after each sentence."""

    def __post_init__(self) -> None:
        for name in ("sentences", "people", "places", "things"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise InputError(f"{name} must be at least 1, not {value}")
        if not 0.0 <= self.distractors < 1.0:
            raise InputError(f"distractors must be a probability from 0 to below 1, not {self.distractors}")
