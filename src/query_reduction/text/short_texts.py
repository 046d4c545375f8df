"""What was found out about a text is remembered, if the text is short: stories repeat their sentences."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Concatenate, ParamSpec, TypeVar, cast

__all__ = ["remember_short"]

_LONGEST = 1000
"""Characters of the longest text that is remembered: a few thousand long ones would fill the memory."""

Rest = ParamSpec("Rest")
Found = TypeVar("Found")


def remember_short(
    function: Callable[Concatenate[str, Rest], Found], texts: int
) -> Callable[Concatenate[str, Rest], Found]:
    """The function, remembering its results for so many short texts."""
    remembered = cast("Callable[Concatenate[str, Rest], Found]", lru_cache(texts)(function))

    def result(text: str, /, *rest: Rest.args, **named: Rest.kwargs) -> Found:
        return (remembered if len(text) <= _LONGEST else function)(text, *rest, **named)

    return result
