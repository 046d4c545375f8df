"""The Query-Reduction Network's whole training step in JAX: one compiled function, restarts stacked by ``vmap``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
from jax import lax
from jax import numpy as jnp

from query_reduction.qrn.network import QRNConfig, QueryReductionNetwork
from query_reduction.text.batch import Batch
from query_reduction.training.recipes import Recipe

__all__ = ["jax_losses", "jax_step", "plain_batch", "weights_of"]

_EPSILON = 1e-10
"""Of Adagrad, as PyTorch has it."""


def weights_of(network: QueryReductionNetwork) -> dict[str, Any]:
    """The network's weights, each with its leading restart dimension."""
    return {name: jnp.asarray(value.detach().numpy()) for name, value in network.named_parameters()}


def plain_batch(batch: Batch) -> dict[str, Any]:
    """A batch as arrays."""
    names = ("words", "stories", "lengths", "questions", "answers")
    return {name: getattr(batch, name) for name in names}


def _positions(words: Any, dimension: int, longest: int) -> Any:
    """The weights of ``networks.encoder.position_weights``, where the compiler can fuse them."""
    j = jnp.arange(1, words.shape[1] + 1, dtype=jnp.float32)
    k = jnp.arange(1, dimension + 1, dtype=jnp.float32) / dimension
    return ((1 - k) + (j / longest)[:, None] * (2 * k - 1)) * (words > 0)[:, :, None]


def _recurrence(keep: Any, v: Any, *, reverse: bool) -> Any:
    def combine(before: Any, after: Any) -> Any:
        return before[0] * after[0], before[1] * after[0] + after[1]

    return lax.associative_scan(combine, (jnp.broadcast_to(keep, v.shape), v), reverse=reverse, axis=1)[1]


def jax_losses(config: QRNConfig, longest: int, weights: dict[str, Any], batch: dict[str, Any]) -> Any:
    """Cross-entropy of every question for one restart, tied weights; the same equations as in ``networks.qrn``."""
    positions = _positions(batch["words"], config.dimension, longest)
    table = (weights["embedding"][batch["words"]] * positions).sum(1)
    x = table[batch["stories"]]
    q = jnp.broadcast_to(table[batch["questions"]][:, None], x.shape)
    inside = (jnp.arange(x.shape[1]) < batch["lengths"][:, None])[:, :, None]
    from_sentences = x @ weights["candidate_sentence"][0] + weights["candidate_bias"][0]
    for layer in range(config.layers):
        last = layer == config.layers - 1
        similarity = x * q
        gate = similarity @ weights["update_weight"][0].T + weights["update_bias"][0] - config.forget_bias
        z = jnp.where(inside, jax.nn.sigmoid(gate), 0)
        v = z * jnp.tanh(q @ weights["candidate_query"][0] + from_sentences)
        if last or not config.reset_gate:
            values = [v, v]
        else:
            scores = jnp.einsum("btd,sgd->sbtg", similarity, weights["reset_weight"][0])
            values = list(jax.nn.sigmoid(scores + weights["reset_bias"][0][:, None, None]) * v)
        q = _recurrence(1 - z, values[0], reverse=False)
        if not last:
            q = q + _recurrence(1 - z, values[1], reverse=True)
    reduced = q[jnp.arange(q.shape[0]), jnp.maximum(batch["lengths"] - 1, 0)]
    scores = jax.nn.log_softmax(reduced @ weights["answer_weight"].T)
    return -scores[jnp.arange(scores.shape[0]), batch["answers"]]


def jax_step(
    network: QueryReductionNetwork, config: QRNConfig, make_batch: Callable[[], Batch], longest: int, rate: float
) -> Callable[[], object]:
    """A step: loss, gradient, weight decay and Adagrad in one compiled function that reuses the weights' memory."""
    recipe = Recipe()
    weights = weights_of(network)
    decay = {name: recipe.l2 * uses for name, uses in network.decay_uses()}

    def total(weights: dict[str, Any], batch: dict[str, Any]) -> Any:
        return jax.vmap(lambda own: jax_losses(config, longest, own, batch))(weights).mean(1).sum()

    def update(weights: dict[str, Any], squares: dict[str, Any], batch: dict[str, Any]) -> Any:
        gradients = jax.grad(total)(weights, batch)
        gradients = {name: gradients[name] + decay[name] * value for name, value in weights.items()}
        squares = {name: value + gradients[name] ** 2 for name, value in squares.items()}
        moved = {
            name: value - rate * gradients[name] / (jnp.sqrt(squares[name]) + _EPSILON)
            for name, value in weights.items()
        }
        return moved, squares

    compiled = jax.jit(update, donate_argnums=(0, 1))
    state = weights, {name: jnp.full_like(value, recipe.accumulator) for name, value in weights.items()}

    def step() -> None:
        nonlocal state
        state = jax.block_until_ready(compiled(*state, plain_batch(make_batch())))

    return step
