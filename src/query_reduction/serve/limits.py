"""What one request may ask for."""

from __future__ import annotations

from dataclasses import dataclass

from query_reduction.errors import InputError

__all__ = ["Limits"]


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds on a request; anything beyond is rejected with an error that says which."""

    body_bytes: int = 512_000
    """Bytes of a request's body."""
    sentences: int = 1000
    """Sentences of a story."""
    characters: int = 1000
    """Characters of a sentence or a question."""
    seconds: float = 10.0
    """Seconds a request may take before it is abandoned."""
    waiting: int = 1024
    """Questions that may wait for their turn; further ones are asked to retry later."""

    def __post_init__(self) -> None:
        for name in ("body_bytes", "sentences", "characters", "seconds", "waiting"):
            if getattr(self, name) <= 0:
                raise InputError(f"--{name.replace('_', '-')} must be above 0")
