"""Long short-term memory (Hochreiter and Schmidhuber, 1997) as the reader: the baseline of the bAbI tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import torch
from jaxtyping import Float
from torch import Tensor

from query_reduction.networks.protocol import uniform, zeros
from query_reduction.networks.recurrent import RECIPE, RecurrentConfig, RecurrentReader
from query_reduction.networks.registry import register
from query_reduction.settings import Between

__all__ = ["LSTMConfig", "LSTMNetwork"]


@dataclass(frozen=True, slots=True)
class LSTMConfig(RecurrentConfig):
    """The LSTM reader."""

    forget_bias: Annotated[float, Between(-100, 100)] = 1.0
    """Added inside the forget gate, so that it starts mostly open."""


@register("lstm", LSTMConfig, "long short-term memory that reads sentences or words", recipe=RECIPE)
class LSTMNetwork(RecurrentReader):
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

    def layer(
        self, layer: int, inputs: Float[Tensor, "restart batch time dim"]
    ) -> Float[Tensor, "restart batch time dim"]:
        """c_t = f_t c_{t-1} + i_t tanh(n_t) and h_t = o_t tanh(c_t)."""
        # The part that depends only on the input is one product for all steps.
        projected = torch.einsum("rbtd,rde->rbte", inputs, self.input_weight[:, layer])
        projected = projected + self.bias[:, layer, None, None]
        h = c = torch.zeros_like(inputs[:, :, 0])
        states = []
        for step in projected.unbind(2):
            i, f, o, n = torch.baddbmm(step, h, self.state_weight[:, layer]).chunk(4, dim=2)
            kept = torch.sigmoid(f + self.config.forget_bias) * c
            c = torch.addcmul(kept, torch.sigmoid(i), torch.tanh(n))
            h = torch.sigmoid(o) * torch.tanh(c)
            states.append(h)
        return torch.stack(states, dim=2)
