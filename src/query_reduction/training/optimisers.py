"""The optimisers' update rules on flat buffers, computed by PyTorch or, to the same bits or nearly, by native code.

A rule keeps a few numbers of state per weight. Weight decay is part of the gradient, as with an L2 term in the loss.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import torch
from torch import Tensor
from torch.optim.adagrad import adagrad
from torch.optim.adam import adam

from query_reduction.native import library as native
from query_reduction.native.update import Update
from query_reduction.training.recipes import Recipe

__all__ = ["Adagrad", "Adam", "Descent", "Optimiser", "build_optimiser", "native_update"]


class Optimiser(Protocol):
    """An update rule."""

    memory: dict[str, float]
    """The state kept per weight, by name, with its initial value."""

    def step(
        self, values: Tensor, gradients: Tensor, memory: dict[str, Tensor], count: int, *, rate: float, decay: float
    ) -> None:
        """Update values and state in place; ``count`` is the number of steps before this one."""
        ...


class Adagrad:
    """Steps get smaller the more a weight has moved."""

    epsilon = 1e-10

    def __init__(self, accumulator: float) -> None:
        self.memory = {"sum": accumulator}

    def step(
        self, values: Tensor, gradients: Tensor, memory: dict[str, Tensor], count: int, *, rate: float, decay: float
    ) -> None:
        """See ``Optimiser``."""
        adagrad(
            [values],
            [gradients],
            [memory["sum"]],
            [_counter(count)],
            fused=values.device.type == "cpu",
            lr=rate,
            weight_decay=decay,
            lr_decay=0.0,
            eps=self.epsilon,
            maximize=False,
        )


class Adam:
    """Steps follow the average gradient, divided by how much it varies."""

    epsilon = 1e-8
    betas = (0.9, 0.999)

    def __init__(self) -> None:
        self.memory = {"average": 0.0, "square": 0.0}

    def step(
        self, values: Tensor, gradients: Tensor, memory: dict[str, Tensor], count: int, *, rate: float, decay: float
    ) -> None:
        """See ``Optimiser``."""
        adam(
            [values],
            [gradients],
            [memory["average"]],
            [memory["square"]],
            [],
            [_counter(count)],
            fused=values.device.type == "cpu",
            amsgrad=False,
            beta1=self.betas[0],
            beta2=self.betas[1],
            lr=rate,
            weight_decay=decay,
            eps=self.epsilon,
            maximize=False,
        )


class Descent:
    """Steps follow the gradient itself: stochastic gradient descent."""

    def __init__(self) -> None:
        self.memory: dict[str, float] = {}

    def step(
        self, values: Tensor, gradients: Tensor, memory: dict[str, Tensor], count: int, *, rate: float, decay: float
    ) -> None:
        """See ``Optimiser``."""
        if decay:
            values.mul_(1 - rate * decay)
        values.add_(gradients, alpha=-rate)


def build_optimiser(recipe: Recipe) -> Optimiser:
    """The update rule of a recipe."""
    if recipe.optimiser == "sgd":
        return Descent()
    return Adam() if recipe.optimiser == "adam" else Adagrad(recipe.accumulator)


def native_update(
    rule: Optimiser, values: Tensor, gradients: Tensor, memory: dict[str, Tensor], runs: Sequence[tuple[int, float]]
) -> Update | None:
    """The rule in native code for these buffers, parts of which have different weight decay; None if there is none."""
    if not native.available() or not native.supports(values):
        return None
    if isinstance(rule, Adagrad):
        return Update(values, gradients, (memory["sum"],), runs, epsilon=rule.epsilon)
    if isinstance(rule, Adam):
        both = memory["average"], memory["square"]
        return Update(values, gradients, both, runs, epsilon=rule.epsilon, betas=rule.betas)
    return None


def _counter(count: int) -> Tensor:
    """PyTorch's fused optimisers count steps in single precision, and increment the counter themselves."""
    return torch.tensor(float(count), dtype=torch.float32)
