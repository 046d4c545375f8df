"""Long short-term memory (Hochreiter and Schmidhuber, 1997) as the reader: the baseline of the bAbI tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional

from query_reduction.rivals.recurrent import RECIPE, RecurrentConfig, SteppedReader
from query_reduction.rivals.registry import register
from query_reduction.settings import Between
from query_reduction.stacked.network import uniform, zeros
from query_reduction.stacked.packed import Packing, packed_lstm

__all__ = ["LSTMConfig", "LSTMNetwork"]


@dataclass(frozen=True, slots=True)
class LSTMConfig(RecurrentConfig):
    """The LSTM reader."""

    forget_bias: Annotated[float, Between(-100, 100)] = 1.0
    """Added inside the forget gate, so that it starts mostly open."""


@register("lstm", LSTMConfig, "long short-term memory that reads sentences or words", recipe=RECIPE)
class LSTMNetwork(SteppedReader):
    """A stack of LSTM readers."""

    config: LSTMConfig
    input_weight: Float[Tensor, "restart layer dim four_dim"]
    state_weight: Float[Tensor, "restart layer dim four_dim"]
    bias: Float[Tensor, "restart layer four_dim"]

    def declare_cell(self, layers: int, dimension: int) -> None:
        """Input, forget and output gate and candidate side by side, from the input and from the state."""
        for source in ("input", "state"):
            self.declare(f"{source}_weight", (layers, dimension, 4 * dimension), uniform((3 * dimension) ** -0.5))
        self.declare("bias", (layers, 4 * dimension), zeros, decay_uses=0)

    def project(self, layer: int, inputs: Float[Tensor, "restart row dim"]) -> Float[Tensor, "restart row four_dim"]:
        """W x + b, with the forget gate's own bias."""
        d = self.config.dimension
        bias = self.bias[:, layer] + functional.pad(self.bias.new_full((d,), self.config.forget_bias), (d, 2 * d))
        return torch.baddbmm(bias.unsqueeze(1), inputs, self.input_weight[:, layer])

    def steps(
        self, layer: int, projected: Float[Tensor, "restart row four_dim"], packing: Packing
    ) -> Float[Tensor, "restart row dim"]:
        """c_t = f_t c_{t-1} + i_t tanh(n_t) and h_t = o_t tanh(c_t)."""
        return packed_lstm(projected, self.state_weight[:, layer], packing.counts)
