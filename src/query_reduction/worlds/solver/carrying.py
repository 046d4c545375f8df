from __future__ import annotations

from collections.abc import Callable, Sequence

__all__ = ["SOLVERS"]

SOLVERS: dict[int, Callable[[Sequence[str], str], str]] = {}
