from __future__ import annotations

from query_reduction.worlds.teller import Teller

__all__ = ["TELLERS"]

TELLERS: dict[int, Teller] = {}
