"""How much each sentence contributed to an answer: the exact weights of the final read, composed through the layers.

The answer vector is a weighted sum of the last layer's candidates, h_T = Σ_i w_i h̃_i with w_i = z_i Π_{j>i}(1 − z_j).
Each of those candidates was made with a query that is itself a weighted sum of the candidates one layer below:
q_t = Σ_i F_ti h̃_i + Σ_i B_ti h̃_i, with F and B from the update and reset gates forward and backward in time. Following
the weights down gives, for every layer, how much of each sentence's candidate the answer was read from:

    w^K_i = z_i Π_{j>i}(1 − z_j)                    what the last layer read
    w^k_i = ½ Σ_t w^{k+1}_t (F^k_ti + B^k_ti)       what shaped the queries it was read with

The half stands for the two directions, whose weights sum to at most 1 each. So every layer's weights are at least 0 and
sum to at most 1; the rest was blocked by reset gates or never read. Nothing is approximated: the
weights of a layer reproduce the weighted mean of the queries above it (twice that, below the last layer), which the
tests check. No T x T matrix is built: a row of weights times F is the recurrence run in reverse.

Vector gates have one weight per unit; weights are averaged over the units at every layer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from query_reduction.network import Floats
from query_reduction.recurrence.arrays import scan
from query_reduction.text.batch import Ints

if TYPE_CHECKING:
    from jaxtyping import Float, Int

__all__ = ["LayerGates", "contributions", "forward_states", "read_weights", "unit_weights"]


@dataclass(frozen=True, slots=True)
class LayerGates:
    """What one layer of a Query-Reduction Network did at every sentence."""

    update: Float[Floats, "batch time gate"]
    reset_forward: Float[Floats, "batch time gate"] | None
    reset_backward: Float[Floats, "batch time gate"] | None
    candidate: Float[Floats, "batch time dim"]
    """What the query would become."""
    reduced: Float[Floats, "batch time dim"]
    """What the query became: the input to the next layer."""

    def named(self) -> dict[str, Float[Floats, "batch time gate"]]:
        """The gates this layer has, by name."""
        gates = {"update": self.update, "reset_forward": self.reset_forward, "reset_backward": self.reset_backward}
        return {name: gate for name, gate in gates.items() if gate is not None}


def contributions(layers: Sequence[LayerGates], lengths: Int[Ints, "batch"]) -> Float[Floats, "batch time"]:
    """One number per sentence: the mean over the layers of its weights. At least 0; a story's sum is at most 1."""
    shares: Floats = np.mean(read_weights(layers, lengths), axis=0)
    return shares


def read_weights(layers: Sequence[LayerGates], lengths: Int[Ints, "batch"]) -> list[Float[Floats, "batch time"]]:
    """The weights of every layer's candidates in the answer, first layer first; 0 past a story's length."""
    if not layers:
        return []
    batch, time, _ = layers[0].update.shape
    weights: Floats = np.zeros((batch, time), layers[0].update.dtype)
    # The answer is the last layer's state at the last sentence.
    told = np.flatnonzero(lengths > 0)
    weights[told, lengths[told] - 1] = 1
    found = []
    for number, layer in reversed(list(enumerate(layers))):
        is_last = number == len(layers) - 1
        weights = unit_weights(layer, weights, lengths, is_last=is_last).mean(-1)
        found.append(weights)
    return found[::-1]


def unit_weights(
    layer: LayerGates, above: Float[Floats, "batch time"], lengths: Int[Ints, "batch"], *, is_last: bool
) -> Float[Floats, "batch time gate"]:
    """The weights of a layer's candidates, per gate unit, given the weights of the states it passes on."""
    z = layer.update
    v = np.broadcast_to(above[:, :, None], z.shape)
    # A row of weights times F_ti = z_i r_i Π_{i<j<=t}(1 - z_j): from the end of the story to its start, each step
    # past sentence i + 1 costs 1 - z_{i+1}.
    forward = scan(np.roll(z, -1, axis=1), v, lengths, reverse=True)
    forward = forward if layer.reset_forward is None else layer.reset_forward * forward
    if is_last:
        return z * forward
    backward = scan(np.roll(z, 1, axis=1), v, lengths, reverse=False)
    backward = backward if layer.reset_backward is None else layer.reset_backward * backward
    return z * (forward + backward) / 2


def forward_states(
    layer: LayerGates, lengths: Int[Ints, "batch"]
) -> tuple[Float[Floats, "batch time dim"], Float[Floats, "batch time"]]:
    """A layer's query at each sentence, from the sentences so far only, and how much of it has been read: the
    sum of its weights, from 0 (nothing yet, or all reset) to 1."""
    v = layer.update if layer.reset_forward is None else layer.update * layer.reset_forward
    state = scan(layer.update, v * layer.candidate, lengths, reverse=False)
    return state, scan(layer.update, v, lengths, reverse=False).mean(-1)
