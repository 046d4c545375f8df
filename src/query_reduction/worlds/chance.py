"""Random numbers that are the same on every machine: only the sequence of ``random()`` is guaranteed by Python."""

from __future__ import annotations

import random
from collections.abc import Sequence
from hashlib import sha256
from typing import TypeVar

__all__ = ["pick", "pick_other", "sample", "seeded"]

T = TypeVar("T")


def seeded(*parts: object) -> random.Random:
    """A separate generator for these parts (seed, task, split …), the same in every process."""
    digest = sha256("/".join(map(str, parts)).encode()).digest()
    return random.Random(int.from_bytes(digest[:8], "big"))


def pick(rng: random.Random, count: int) -> int:
    """A number from 0 to ``count - 1``."""
    return int(rng.random() * count)


def pick_other(rng: random.Random, count: int, excluded: int) -> int:
    """A number from 0 to ``count - 1`` that is not ``excluded``."""
    number = int(rng.random() * (count - 1))
    return number + 1 if number >= excluded else number


def sample(rng: random.Random, items: Sequence[T], count: int) -> list[T]:
    """``count`` different items in random order; all of them is a shuffle."""
    pool = list(items)
    random_ = rng.random
    for position in range(count):
        other = position + int(random_() * (len(pool) - position))
        pool[position], pool[other] = pool[other], pool[position]
    return pool[:count]
