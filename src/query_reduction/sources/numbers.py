"""Task numbers as people write them."""

from __future__ import annotations

from query_reduction.errors import InputError

__all__ = ["parse_tasks"]


def parse_tasks(text: str) -> list[int]:
    """Task numbers from ``2``, ``1-5,19`` or ``all``."""
    if text == "all":
        return list(range(1, 21))
    tasks: list[int] = []
    for piece in text.split(","):
        first, dash, last = piece.strip().partition("-")
        if not first.isdecimal() or (dash and not last.isdecimal()):
            raise InputError(f"no task {piece.strip()!r}: write a number (2), a range (1-5), a list (1,2,19) or 'all'")
        tasks.extend(range(int(first), int(last or first) + 1))
    if not tasks or not all(1 <= task <= 20 for task in tasks):
        raise InputError(f"tasks go from 1 to 20, not {text!r}")
    return list(dict.fromkeys(tasks))
