"""What a teller is: it tells one story of one task in a world of its own, with questions and their proofs."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import TypeAlias

from query_reduction.data.stories import Story
from query_reduction.worlds.options import WorldOptions
from query_reduction.worlds.words import Words

__all__ = ["Teller"]

Teller: TypeAlias = Callable[[random.Random, Words, WorldOptions], Story]
"""Chance, words and sizes in; one story out, its ``task`` set. Distractors and splits are not its concern."""
