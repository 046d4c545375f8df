"""A batch of questions as tensors: what the network reads."""

from __future__ import annotations

from dataclasses import dataclass

from jaxtyping import Int
from torch import Tensor

__all__ = ["Batch"]


@dataclass(frozen=True, slots=True)
class Batch:
    """Questions and their stories as numbers. Each distinct sentence (or question) appears once, as a row of words."""

    words: Int[Tensor, "sentence word"]
    """Word indices, 0 after the end of a sentence."""
    stories: Int[Tensor, "batch time"]
    """The story each question sees, as rows of ``words``; entries past its length are ignored."""
    lengths: Int[Tensor, "batch"]
    questions: Int[Tensor, "batch"]
    """The question, as a row of ``words``."""
    answers: Int[Tensor, "batch"]
    """The index of the correct answer; -1 if it is not a known one."""
