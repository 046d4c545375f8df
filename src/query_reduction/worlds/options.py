"""How large a simulated world is and how long its stories are."""

from __future__ import annotations

from dataclasses import dataclass

from query_reduction.errors import InputError

__all__ = ["WorldOptions"]


@dataclass(frozen=True, slots=True)
class WorldOptions:
    """Sizes of the worlds; ``None`` means as in the published data."""

    sentences: int | None = None
    """Sentences a story has; it goes on a little where nothing can be asked yet. Questions are spread evenly where
    a story can be interrupted, and stand at its end in the other tasks (4, 15 to 19)."""
    people: int | None = None
    """People who take part."""
    places: int | None = None
    """Places there are to be in."""
    things: int | None = None
    """Things that are carried, compared or placed."""
    distractors: float = 0.0
    """Chance of a sentence that has nothing to do with any question, after each sentence."""

    def __post_init__(self) -> None:
        for name in ("sentences", "people", "places", "things"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise InputError(f"{name} must be at least 1, not {value}")
        if not 0.0 <= self.distractors < 1.0:
            raise InputError(f"distractors is a chance from 0 to below 1, not {self.distractors}")
