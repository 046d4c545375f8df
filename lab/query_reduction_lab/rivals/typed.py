"""Strongly-typed recurrent networks (Balduzzi and Ghifary, ICML 2016): T-RNN, T-GRU and T-LSTM as readers.

No gate looks at the state, only at this input and the one before: all gates are computed at once, and the state is a
linear recurrence, which ``query_reduction.scan`` runs.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from query_reduction.recurrence.scan import scan
from query_reduction.rivals.recurrent import RECIPE, RecurrentConfig, RecurrentReader
from query_reduction.rivals.registry import register
from query_reduction.stacked.network import uniform, zeros

__all__ = ["TGRUConfig", "TGRUNetwork", "TLSTMConfig", "TLSTMNetwork", "TRNNConfig", "TRNNNetwork"]


@dataclass(frozen=True, slots=True)
class TRNNConfig(RecurrentConfig):
    """The strongly-typed RNN reader."""


@dataclass(frozen=True, slots=True)
class TGRUConfig(RecurrentConfig):
    """The strongly-typed GRU reader."""


@dataclass(frozen=True, slots=True)
class TLSTMConfig(RecurrentConfig):
    """The strongly-typed LSTM reader."""


@register("t-rnn", TRNNConfig, "a strongly-typed RNN that reads sentences or words", recipe=RECIPE)
class TRNNNetwork(RecurrentReader):
    """A stack of T-RNN readers."""

    input_weight: Float[Tensor, "restart layer dim two_dim"]
    forget_bias: Float[Tensor, "restart layer dim"]

    def declare_cell(self, layers: int, dimension: int) -> None:
        """Candidate and forget gate side by side; the candidate has no bias."""
        self.declare("input_weight", (layers, dimension, 2 * dimension), uniform(dimension**-0.5))
        self.declare("forget_bias", (layers, dimension), zeros, decay_uses=0)

    def project(self, layer: int, inputs: Float[Tensor, "restart row dim"]) -> Float[Tensor, "restart row two_dim"]:
        """W x_t and V x_t."""
        return torch.bmm(inputs, self.input_weight[:, layer])

    def states(
        self, layer: int, projected: Float[Tensor, "restart batch time two_dim"]
    ) -> Float[Tensor, "restart batch time dim"]:
        """h_t = f_t h_{t-1} + (1 - f_t) z_t, with z_t = W x_t and f_t = σ(V x_t + b)."""
        z, f = projected.chunk(2, dim=3)
        f = torch.sigmoid(f + self.forget_bias[:, layer, None, None])
        return _forgetting(f, (1 - f) * z)


class _TwoInputReader(RecurrentReader):
    """What T-GRU and T-LSTM share: candidate, forget gate and output of this input and the one before."""

    input_weight: Float[Tensor, "restart layer dim three_dim"]
    before_weight: Float[Tensor, "restart layer dim three_dim"]
    bias: Float[Tensor, "restart layer three_dim"]

    def declare_cell(self, layers: int, dimension: int) -> None:
        """Candidate, forget gate and output side by side."""
        for source in ("input", "before"):
            self.declare(f"{source}_weight", (layers, dimension, 3 * dimension), uniform((2 * dimension) ** -0.5))
        self.declare("bias", (layers, 3 * dimension), zeros, decay_uses=0)

    def project(self, layer: int, inputs: Float[Tensor, "restart row dim"]) -> Float[Tensor, "restart row six_dim"]:
        """W x_t + b, and V x_t for the step after this."""
        now = torch.baddbmm(self.bias[:, layer].unsqueeze(1), inputs, self.input_weight[:, layer])
        return torch.cat((now, torch.bmm(inputs, self.before_weight[:, layer])), dim=2)

    def gates(self, projected: Float[Tensor, "restart batch time six_dim"]) -> tuple[Tensor, Tensor, Tensor]:
        """z_t, f_t = σ(…) and o_t = tanh(…), each of V x_{t-1} + W x_t + b, with x_0 = 0."""
        now, before = projected.chunk(2, dim=3)
        z, f, o = (now + _later(before[:, :, :-1])).chunk(3, dim=3)
        # tanh; on a CPU, PyTorch's own takes six times as long as its sigmoid.
        return z, torch.sigmoid(f), 2 * torch.sigmoid(2 * o) - 1


@register("t-gru", TGRUConfig, "a strongly-typed GRU that reads sentences or words", recipe=RECIPE)
class TGRUNetwork(_TwoInputReader):
    """A stack of T-GRU readers."""

    def states(
        self, layer: int, projected: Float[Tensor, "restart batch time six_dim"]
    ) -> Float[Tensor, "restart batch time dim"]:
        """h_t = f_t h_{t-1} + z_t o_t."""
        z, f, o = self.gates(projected)
        return _forgetting(f, z * o)


@register("t-lstm", TLSTMConfig, "a strongly-typed LSTM that reads sentences or words", recipe=RECIPE)
class TLSTMNetwork(_TwoInputReader):
    """A stack of T-LSTM readers."""

    def states(
        self, layer: int, projected: Float[Tensor, "restart batch time six_dim"]
    ) -> Float[Tensor, "restart batch time dim"]:
        """c_t = f_t c_{t-1} + (1 - f_t) z_t and h_t = c_t o_t."""
        z, f, o = self.gates(projected)
        return _forgetting(f, (1 - f) * z) * o


def _later(x: Float[Tensor, "restart batch time dim"]) -> Float[Tensor, "restart batch later dim"]:
    """Shifted one step later, with zeros first."""
    return torch.nn.functional.pad(x, (0, 0, 1, 0))


def _forgetting(
    f: Float[Tensor, "restart batch time dim"], v: Float[Tensor, "restart batch time dim"]
) -> Float[Tensor, "restart batch time dim"]:
    """h_t = f_t h_{t-1} + v_t from h_0 = 0, by the scan, whose gate is 1 - f."""
    return scan((1 - f).flatten(0, 1), v.flatten(0, 1)).view(v.shape)
