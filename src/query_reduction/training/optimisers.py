"""The optimisers' update rules on flat buffers; PyTorch computes them.

A rule keeps a few numbers of state per weight. Weight decay is part of the gradient, as with an L2 term in the loss.
"""

from __future__ import annotations

from typing import Protocol

from torch import Tensor
from torch.optim.adagrad import adagrad
from torch.optim.adam import adam

from query_reduction.training.recipes import Recipe

__all__ = ["Adagrad", "Adam", "Descent", "Optimiser", "build_optimiser"]


class Optimiser(Protocol):
    """An update rule."""

    memory: dict[str, float]
    """The state kept per weight, by name, with its initial value."""

    def step(
        self, values: Tensor, gradients: Tensor, memory: dict[str, Tensor], count: Tensor, *, rate: float, decay: float
    ) -> None:
        """Update values and state in place; ``count`` is the number of steps so far, and is incremented."""
        ...


class Adagrad:
    """Steps get smaller the more a weight has moved."""

    def __init__(self, accumulator: float) -> None:
        self.memory = {"sum": accumulator}

    def step(
        self, values: Tensor, gradients: Tensor, memory: dict[str, Tensor], count: Tensor, *, rate: float, decay: float
    ) -> None:
        """See ``Optimiser``."""
        adagrad(
            [values],
            [gradients],
            [memory["sum"]],
            [count],
            fused=values.device.type == "cpu",
            lr=rate,
            weight_decay=decay,
            lr_decay=0.0,
            eps=1e-10,
            maximize=False,
        )


class Adam:
    """Steps follow the average gradient, divided by how much it varies."""

    def __init__(self) -> None:
        self.memory = {"average": 0.0, "square": 0.0}

    def step(
        self, values: Tensor, gradients: Tensor, memory: dict[str, Tensor], count: Tensor, *, rate: float, decay: float
    ) -> None:
        """See ``Optimiser``."""
        adam(
            [values],
            [gradients],
            [memory["average"]],
            [memory["square"]],
            [],
            [count],
            fused=values.device.type == "cpu",
            amsgrad=False,
            beta1=0.9,
            beta2=0.999,
            lr=rate,
            weight_decay=decay,
            eps=1e-8,
            maximize=False,
        )


class Descent:
    """Steps follow the gradient itself: stochastic gradient descent."""

    def __init__(self) -> None:
        self.memory: dict[str, float] = {}

    def step(
        self, values: Tensor, gradients: Tensor, memory: dict[str, Tensor], count: Tensor, *, rate: float, decay: float
    ) -> None:
        """See ``Optimiser``."""
        count += 1
        if decay:
            values.mul_(1 - rate * decay)
        values.add_(gradients, alpha=-rate)


def build_optimiser(recipe: Recipe) -> Optimiser:
    """The update rule of a recipe."""
    if recipe.optimiser == "sgd":
        return Descent()
    return Adam() if recipe.optimiser == "adam" else Adagrad(recipe.accumulator)
