"""Gated End-to-End Memory Networks (Liu and Perez, EACL 2017): MemN2N with gates between its hops.

A hop no longer adds what it read to the query; a gate decides, for every unit, how much of the query it replaces,
as in Highway Networks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor

from query_reduction.heads.arrays import HeadConfig
from query_reduction.rivals.memn2n import RECIPE, MemN2NConfig, MemoryNetwork
from query_reduction.rivals.registry import register
from query_reduction.stacked.network import Seeds, normal
from query_reduction.text.vocabulary import Vocabulary

__all__ = ["GMemN2NConfig", "GatedMemoryNetwork"]


@dataclass(frozen=True, slots=True)
class GMemN2NConfig(MemN2NConfig):
    """The Gated End-to-End Memory Network."""

    gates: Literal["hop", "global"] = "hop"
    """One gate per hop, which the paper finds better, or one gate shared by all."""


@register("gmemn2n", GMemN2NConfig, "Gated End-to-End Memory Networks: MemN2N with gates between hops", recipe=RECIPE)
class GatedMemoryNetwork(MemoryNetwork):
    """A stack of Gated End-to-End Memory Networks."""

    config: GMemN2NConfig
    gate_weight: Float[Tensor, "restart gate dim dim"]
    gate_bias: Float[Tensor, "restart gate dim"]

    def __init__(self, config: GMemN2NConfig, vocabulary: Vocabulary, head: HeadConfig, seeds: Seeds) -> None:
        super().__init__(config, vocabulary, head, seeds)
        d = config.dimension
        gates, uses = (config.hops, 1) if config.gates == "hop" else (1, config.hops)
        self.declare("gate_weight", (gates, d, d), normal(0.1), decay_uses=uses)
        # The gates start a little more open than shut.
        self.declare("gate_bias", (gates, d), normal(0.1, mean=0.5), decay_uses=0)

    def update(
        self, hop: int, u: Float[Tensor, "restart batch dim"], o: Float[Tensor, "restart batch dim"]
    ) -> Float[Tensor, "restart batch dim"]:
        """T(u) = σ(W_T u + b_T), and the next query is o ∘ T(u) + u ∘ (1 - T(u))."""
        own = hop if self.config.gates == "hop" else 0
        gate = torch.sigmoid(torch.baddbmm(self.gate_bias[:, own, None], u, self.gate_weight[:, own]))
        return torch.lerp(self.carried(u), o, gate)
