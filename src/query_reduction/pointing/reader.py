"""Words in the context of their sentence: a gated scan on windows of three words, a GRU, or every word by itself."""

from __future__ import annotations

from collections.abc import Callable

from query_reduction.pointing.arrays import Array, Operations, Weights
from query_reduction.pointing.batch import Batch

__all__ = ["READERS", "linear"]


def linear(weights: Weights, name: str, values: Array) -> Array:
    """W x + b."""
    return values @ weights[name].T + weights[f"{name}_bias"]


def _scan(ops: Operations, weights: Weights, words: Array, batch: Batch[Array]) -> Array:
    """h_t = z_t * tanh(W w_t) + (1 - z_t) * h_{t-1}, where w_t is a word between its neighbours; both directions."""
    rows, length, dimension = words.shape
    words = words * ops.inside(batch.word_counts, length, words)[:, :, None]
    nothing = ops.zeros((rows, 1, dimension), words)
    before, after = ops.join([nothing, words[:, :-1]], 1), ops.join([words[:, 1:], nothing], 1)
    # Sentences differ in length: only their words are computed.
    mixed = linear(weights, "read", ops.join([before, words, after]).reshape(rows * length, -1)[batch.word_places])
    unit = mixed.shape[-1] // 4
    gates = ops.sigmoid(mixed[:, : 2 * unit])
    both = ops.join([gates, gates * ops.tanh(mixed[:, 2 * unit :])])
    both = ops.sum_at(both, batch.word_places, rows * length).reshape(rows, length, -1)
    ahead, back, forward, backward = (both[..., unit * part : unit * (part + 1)] for part in range(4))
    forward = ops.scan(ahead, forward, batch.word_counts)
    backward = ops.scan(back, backward, batch.word_counts, reverse=True)
    return ops.join([forward, backward])


def _gru(ops: Operations, weights: Weights, words: Array, batch: Batch[Array]) -> Array:
    """A gated recurrent unit (Cho et al., 2014) in both directions, for comparison."""
    inside = ops.inside(batch.word_counts, words.shape[1], words)[:, :, None]
    return ops.join([_one_way(ops, weights, words, inside, direction) for direction in ("forward", "backward")])


def _one_way(ops: Operations, weights: Weights, words: Array, inside: Array, direction: str) -> Array:
    rows, length, _ = words.shape
    given = linear(weights, f"read_{direction}", words)
    unit = given.shape[-1] // 3
    state = ops.zeros((rows, unit), words)
    states: list[Array] = []
    for place in range(length) if direction == "forward" else reversed(range(length)):
        again = linear(weights, f"again_{direction}", state)
        gates = ops.sigmoid(given[:, place, : 2 * unit] + again[:, : 2 * unit])
        new = ops.tanh(given[:, place, 2 * unit :] + gates[:, :unit] * again[:, 2 * unit :])
        state = (state + gates[:, unit:] * (new - state)) * inside[:, place]
        states.append(state[:, None])
    return ops.join(states if direction == "forward" else states[::-1], 1)


def _bag(ops: Operations, weights: Weights, words: Array, batch: Batch[Array]) -> Array:
    return ops.tanh(linear(weights, "read", words)) * ops.inside(batch.word_counts, words.shape[1], words)[:, :, None]


READERS: dict[str, Callable[[Operations, Weights, Array, Batch[Array]], Array]] = {
    "scan": _scan,
    "gru": _gru,
    "bag": _bag,
}
