"""How many sentences a story has: as published, or as asked for."""

from __future__ import annotations

from query_reduction.errors import InputError
from query_reduction.worlds.options import WorldOptions

__all__ = ["story_length"]


def story_length(task: int, options: WorldOptions, published: int, *, least: int) -> int:
    """The sentences asked for, or the published number; an error where a question could not be answered from them."""
    if options.sentences is None:
        return published
    if options.sentences < least:
        raise InputError(f"task {task}: sentences must be at least {least}, not {options.sentences}")
    return options.sentences
