"""A batch of questions as arrays: what a network reads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from jaxtyping import Int

__all__ = ["Batch"]

Ints = NDArray[np.integer[Any]]


@dataclass(frozen=True, slots=True)
class Batch:
    """Questions and their stories as numbers. Each distinct sentence (or question) appears once, as a row of words."""

    words: Int[Ints, "sentence word"]
    """Word indices, 0 after the end of a sentence."""
    stories: Int[Ints, "batch time"]
    """The story each question sees, as rows of ``words``; entries past its length are ignored."""
    lengths: Int[Ints, "batch"]
    questions: Int[Ints, "batch"]
    """The question, as a row of ``words``."""
    answers: Int[Ints, "batch"]
    """The index of the correct answer; -1 if it is not a known one."""
