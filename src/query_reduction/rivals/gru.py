"""A gated recurrent unit (Cho et al., 2014) as the reader: no query is reduced, the last state answers."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from query_reduction.rivals.recurrent import RECIPE, RecurrentConfig, SteppedReader
from query_reduction.rivals.registry import register
from query_reduction.stacked.network import uniform, zeros
from query_reduction.stacked.packed import Packing, packed_gru

__all__ = ["GRUConfig", "GRUNetwork"]


@dataclass(frozen=True, slots=True)
class GRUConfig(RecurrentConfig):
    """The GRU reader."""


@register("gru", GRUConfig, "a gated recurrent unit that reads sentences or words", recipe=RECIPE)
class GRUNetwork(SteppedReader):
    """A stack of GRU readers."""

    input_weight: Float[Tensor, "restart layer dim three_dim"]
    input_bias: Float[Tensor, "restart layer three_dim"]
    state_weight: Float[Tensor, "restart layer dim three_dim"]
    state_bias: Float[Tensor, "restart layer three_dim"]

    def declare_cell(self, layers: int, dimension: int) -> None:
        """Reset, update and candidate side by side, from the input and from the state."""
        for source in ("input", "state"):
            self.declare(f"{source}_weight", (layers, dimension, 3 * dimension), uniform((3 * dimension) ** -0.5))
            self.declare(f"{source}_bias", (layers, 3 * dimension), zeros, decay_uses=0)

    def project(self, layer: int, inputs: Float[Tensor, "restart row dim"]) -> Float[Tensor, "restart row three_dim"]:
        """W x + b."""
        return torch.baddbmm(self.input_bias[:, layer].unsqueeze(1), inputs, self.input_weight[:, layer])

    def steps(
        self, layer: int, projected: Float[Tensor, "restart row three_dim"], packing: Packing
    ) -> Float[Tensor, "restart row dim"]:
        """h_t = (1 - z_t) n_t + z_t h_{t-1}, with n_t = tanh(W x_t + r_t (U h_{t-1} + b))."""
        return packed_gru(projected, self.state_weight[:, layer], self.state_bias[:, layer], packing.counts)
