"""What the native code must know about a network besides its weights."""

from __future__ import annotations

import functools
from dataclasses import dataclass

__all__ = ["Shape"]


@dataclass(frozen=True, slots=True)
class Shape:
    """The fields are those of ``QRNConfig``."""

    layers: int
    dimension: int
    tied: bool
    reset_gate: bool
    vector_gates: bool
    forget_bias: float
    gate_stretch: float = 1.0

    def parameters(self) -> dict[str, tuple[int, ...]]:
        """The parameters in the order of ``ReaderCall``, with their shapes after the restart dimension."""
        return _parameters(self)


@functools.lru_cache(maxsize=64)
def _parameters(shape: Shape) -> dict[str, tuple[int, ...]]:
    d, own = shape.dimension, 1 if shape.tied else shape.layers
    gate = d if shape.vector_gates else 1
    shapes: dict[str, tuple[int, ...]] = {
        "candidate_query": (own, d, d),
        "candidate_sentence": (own, d, d),
        "candidate_bias": (own, d),
        "update_weight": (own, gate, d),
        "update_bias": (own, gate),
    }
    if shape.reset_gate and shape.layers > 1:
        own_reset = 1 if shape.tied else shape.layers - 1
        shapes |= {"reset_weight": (own_reset, 2, gate, d), "reset_bias": (own_reset, 2, gate)}
    return shapes
