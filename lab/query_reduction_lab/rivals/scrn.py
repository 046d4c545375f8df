"""The Structurally Constrained Recurrent Network (Mikolov et al., "Learning Longer Memory in Recurrent Neural
Networks", ICLR workshop 2015) as a reader: a simple recurrent network alongside units that change slowly.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import torch
from jaxtyping import Float
from torch import Tensor

from query_reduction.errors import InputError
from query_reduction.recurrence.scan import scan
from query_reduction.rivals.recurrent import RECIPE, RecurrentConfig, RecurrentReader
from query_reduction.rivals.registry import register
from query_reduction.settings import Between
from query_reduction.stacked.network import uniform

__all__ = ["SCRNConfig", "SCRNNetwork"]


@dataclass(frozen=True, slots=True)
class SCRNConfig(RecurrentConfig):
    """The SCRN reader."""

    slow_units: Annotated[int, Between(1, 4095)] = 20
    """Number of slow units in the state; the others form a simple recurrent network."""
    slowness: Annotated[float, Between(0, 1)] = 0.95
    """The share α of a slow unit that stays at each step; it is not learned."""

    def __post_init__(self) -> None:
        # Dataclasses with slots have no zero-argument super().
        RecurrentConfig.__post_init__(self)
        if self.slow_units >= self.dimension:
            raise InputError(f"slow_units must be fewer than the dimension, {self.dimension}, not {self.slow_units}")


@register("scrn", SCRNConfig, "a recurrent network with slow units that reads sentences or words", recipe=RECIPE)
class SCRNNetwork(RecurrentReader):
    """A stack of SCRN readers. A state is the fast units followed by the slow ones."""

    config: SCRNConfig
    input_slow: Float[Tensor, "restart layer dim slow"]
    input_fast: Float[Tensor, "restart layer dim fast"]
    slow_fast: Float[Tensor, "restart layer slow fast"]
    fast_fast: Float[Tensor, "restart layer fast fast"]

    def declare_cell(self, layers: int, dimension: int) -> None:
        """B, A, P and R of the paper; there are no biases."""
        slow = self.config.slow_units
        fast = dimension - slow
        self.declare("input_slow", (layers, dimension, slow), uniform(dimension**-0.5))
        self.declare("input_fast", (layers, dimension, fast), uniform(dimension**-0.5))
        self.declare("slow_fast", (layers, slow, fast), uniform(slow**-0.5))
        self.declare("fast_fast", (layers, fast, fast), uniform(fast**-0.5))

    def project(self, layer: int, inputs: Float[Tensor, "restart row dim"]) -> Float[Tensor, "restart row dim"]:
        """A x_t for the fast units and B x_t for the slow ones."""
        return torch.bmm(inputs, torch.cat((self.input_fast[:, layer], self.input_slow[:, layer]), dim=2))

    def states(
        self, layer: int, projected: Float[Tensor, "restart batch time dim"]
    ) -> Float[Tensor, "restart batch time dim"]:
        """s_t = (1 - α) B x_t + α s_{t-1} and h_t = σ(P s_t + A x_t + R h_{t-1})."""
        slow_units = self.config.slow_units
        fast, entering = projected.split((self.config.dimension - slow_units, slow_units), dim=3)
        # The slow units are a linear recurrence: the scan's gate is 1 - α at every step.
        entering = (1 - self.config.slowness) * entering
        gate = entering.new_full((1, 1, 1), 1 - self.config.slowness)
        flat = entering.flatten(0, 1)
        slow = scan(gate.expand(*flat.shape[:2], 1).contiguous(), flat).view(entering.shape)
        fast = fast + torch.einsum("rbts,rsf->rbtf", slow, self.slow_fast[:, layer])
        weight = self.fast_fast[:, layer]
        h = torch.zeros_like(fast[:, :, 0])
        states = []
        for step in fast.unbind(2):
            h = torch.sigmoid(torch.baddbmm(step, h, weight))
            states.append(h)
        return torch.cat((torch.stack(states, dim=2), slow), dim=3)
