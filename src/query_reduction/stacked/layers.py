"""Building blocks of several stacked networks: a linear layer, layer normalisation, a GRU, dropout, lookups.

Every part works on tensors whose first dimension is the restart, and never mixes restarts.
"""

from __future__ import annotations

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn import functional

from query_reduction.stacked.network import Seeds, StackedModule, Start, ones, uniform, zeros
from query_reduction.stacked.packed import gru_states

__all__ = [
    "GRU",
    "LayerNorm",
    "Linear",
    "at_end",
    "dropout",
    "glorot",
    "left_at_end",
    "look_up",
    "present",
]


def glorot(inputs: int, outputs: int) -> Start:
    """Uniform with variance 2 / (inputs + outputs) (Glorot and Bengio, 2010)."""
    return uniform((2 / (inputs + outputs)) ** 0.5)


class Linear(StackedModule):
    """y = x W + b over the last dimension, with separate weights per restart."""

    weight: Float[Tensor, "restart in out"]
    bias: Float[Tensor, "restart out"]

    def __init__(
        self,
        seeds: Seeds,
        inputs: int,
        outputs: int,
        *,
        bias: bool = True,
        start: Start | None = None,
        decay_uses: int = 1,
    ) -> None:
        super().__init__(seeds)
        self.declare("weight", (inputs, outputs), start or glorot(inputs, outputs), decay_uses=decay_uses)
        if bias:
            self.declare("bias", (outputs,), zeros, decay_uses=0)
        self._has_bias = bias

    def forward(self, x: Float[Tensor, "restart *rows in"]) -> Float[Tensor, "restart *rows out"]:
        """One batched product."""
        rows = x.flatten(1, -2)
        y = torch.baddbmm(self.bias.unsqueeze(1), rows, self.weight) if self._has_bias else rows @ self.weight
        return y.view(*x.shape[:-1], y.shape[-1])


class LayerNorm(StackedModule):
    """Mean 0 and variance 1 over the last dimension, then a learned scale and shift (Ba et al., 2016)."""

    scale: Float[Tensor, "restart dim"]
    shift: Float[Tensor, "restart dim"]

    def __init__(self, seeds: Seeds, dimension: int) -> None:
        super().__init__(seeds)
        self.declare("scale", (dimension,), ones, decay_uses=0)
        self.declare("shift", (dimension,), zeros, decay_uses=0)

    def forward(self, x: Float[Tensor, "restart *rows dim"]) -> Float[Tensor, "restart *rows dim"]:
        """Normalise; the shape stays the same."""
        own = (x.shape[0], *[1] * (x.dim() - 2), x.shape[-1])
        return torch.addcmul(self.shift.view(own), functional.layer_norm(x, x.shape[-1:]), self.scale.view(own))


class GRU(StackedModule):
    """A gated recurrent unit (Cho et al., 2014): reset, update and candidate side by side."""

    input_weight: Float[Tensor, "restart in three_dim"]
    input_bias: Float[Tensor, "restart three_dim"]
    state_weight: Float[Tensor, "restart dim three_dim"]
    state_bias: Float[Tensor, "restart three_dim"]

    def __init__(self, seeds: Seeds, inputs: int, dimension: int) -> None:
        super().__init__(seeds)
        self.declare("input_weight", (inputs, 3 * dimension), glorot(inputs, dimension))
        self.declare("input_bias", (3 * dimension,), zeros, decay_uses=0)
        self.declare("state_weight", (dimension, 3 * dimension), glorot(dimension, dimension))
        self.declare("state_bias", (3 * dimension,), zeros, decay_uses=0)

    def forward(
        self, x: Float[Tensor, "restart rows time in"], start: Float[Tensor, "restart rows dim"] | None = None
    ) -> Float[Tensor, "restart rows time dim"]:
        """The states after each step, from a first state of zero unless another is given."""
        # The part that depends only on the input is one product for all steps.
        projected = torch.baddbmm(self.input_bias.unsqueeze(1), x.flatten(1, 2), self.input_weight)
        return gru_states(projected.unflatten(1, x.shape[1:3]), self.state_weight, self.state_bias, start)


def at_end(
    states: Float[Tensor, "restart rows time dim"], lengths: Int[Tensor, "rows"]
) -> Float[Tensor, "restart rows dim"]:
    """The state after each row's last step; zero if there is none."""
    if states.shape[2] == 0:
        return states.new_zeros(*states.shape[:2], states.shape[3])
    last = (lengths.long() - 1).clamp(min=0).view(1, -1, 1, 1)
    return torch.take_along_dim(states, last, dim=2).squeeze(2) * (lengths > 0).unsqueeze(1)


def left_at_end(gates: Float[Tensor, "restart batch time gate"]) -> Float[Tensor, "restart batch time gate"]:
    """z_t Π_{s>t}(1 - z_s): how much of each sentence's input remains at the end; gates are 0 past a story's end."""
    kept = (1 - gates).flip(2).cumprod(2).flip(2)
    return gates * torch.cat((kept[:, :, 1:], torch.ones_like(kept[:, :, :1])), dim=2)


def look_up(
    table: Float[Tensor, "restart row dim"], rows: Int[Tensor, "*shape"]
) -> Float[Tensor, "restart *shape dim"]:
    """Rows of every restart's table. The gradient adds whole rows, which is faster than that of ``table[:, rows]``."""
    found = table.index_select(1, rows.long().flatten())
    return found.view(table.shape[0], *rows.shape, table.shape[2])


def present(lengths: Int[Tensor, "batch"], time: int) -> Tensor:
    """Which of ``time`` positions lie within each length: batch x time."""
    return torch.arange(time) < lengths.long().unsqueeze(1)


def dropout(
    x: Float[Tensor, "restart *rows dim"], share: float, noise: torch.Generator
) -> Float[Tensor, "restart *rows dim"]:
    """Dropout: zero this share of the values and scale up the rest, with the same mask for every restart."""
    kept = torch.rand(x.shape[1:], generator=noise, dtype=x.dtype) >= share
    return x * (kept.to(x.dtype) / (1 - share))
