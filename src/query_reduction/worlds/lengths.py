"""The number of sentences in a story: as published, or as requested."""

from __future__ import annotations

from query_reduction.errors import InputError
from query_reduction.worlds.options import WorldOptions

__all__ = ["story_length"]


def story_length(task: int, options: WorldOptions, published: int, *, least: int) -> int:
    """The requested number of sentences, or the published one; an error if too few to answer a question."""
    if options.sentences is None:
        return published
    if options.sentences < least:
        raise InputError(f"task {task}: sentences must be at least {least}, not {options.sentences}")
    return options.sentences
