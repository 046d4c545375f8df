"""What one request, one connection and one client may ask for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from query_reduction.settings import Between, check

__all__ = ["Limits"]


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds on requests and connections; anything beyond is rejected with an error that says which."""

    body_bytes: Annotated[int, Between(1, 100_000_000)] = 512_000
    """Bytes of a request's body."""
    header_bytes: Annotated[int, Between(1024, 1_000_000)] = 32_768
    """Bytes of a request's first line and headers together."""
    header_count: Annotated[int, Between(1, 10_000)] = 64
    """Headers of a request."""
    header_seconds: Annotated[float, Between(0.01, 3600)] = 5.0
    """Seconds until the headers of a request are complete."""
    idle_seconds: Annotated[int, Between(1, 3600)] = 30
    """Seconds a connection may wait without a request."""
    connections: Annotated[int, Between(1, 100_000)] = 4096
    """Open connections; for a further one, the one whose client has kept the server waiting longest is closed."""
    sentences: Annotated[int, Between(1, 1_000_000)] = 1000
    """Sentences of a story."""
    characters: Annotated[int, Between(1, 1_000_000)] = 1000
    """Characters of a sentence or a question."""
    seconds: Annotated[float, Between(0.01, 3600)] = 10.0
    """Seconds a request may take before it is abandoned."""
    waiting: Annotated[int, Between(1, 1_000_000)] = 1024
    """Questions that may wait for an answer; further ones are asked to retry later."""
    explanations: Annotated[int, Between(1, 1_000_000)] = 16
    """Traces, generated stories and chat turns that may wait; further ones are asked to retry later."""
    retry_seconds: Annotated[float, Between(0, 3600)] = 1.0
    """Seconds before a client that was asked to retry later may do so; its connection is not read before."""
    refused_seconds: Annotated[float, Between(0, 3600)] = 0.1
    """Seconds a connection is not read after a request that was refused: refusing costs more than asking for it."""

    def __post_init__(self) -> None:
        check(self)
