"""Rivals that only the tables need; the library finds them here when the laboratory is installed."""

from query_reduction_lab.rivals import (
    agru,
    dmn,
    dnc,
    entnet,
    gmemn2n,
    neural_reasoner,
    scrn,
    typed,
    universal_transformer,
)

__all__ = ["agru", "dmn", "dnc", "entnet", "gmemn2n", "neural_reasoner", "scrn", "typed", "universal_transformer"]
