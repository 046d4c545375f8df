"""The rules by which weights follow their gradients, on flat buffers; PyTorch computes them.

A rule remembers a few numbers about every weight. Weight decay is part of the gradient, as L2 in the loss would
give it.
"""

from __future__ import annotations

from typing import Protocol

from torch import Tensor
from torch.optim.adagrad import adagrad
from torch.optim.adam import adam

from query_reduction.training.recipes import Recipe

__all__ = ["Adagrad", "Adam", "Descent", "Optimiser", "build_optimiser"]


class Optimiser(Protocol):
    """A rule."""

    memory: dict[str, float]
    """What it remembers about a weight, with the value it starts from."""

    def step(
        self, values: Tensor, gradients: Tensor, memory: dict[str, Tensor], count: Tensor, *, rate: float, decay: float
    ) -> None:
        """Change values and memory in place; ``count`` is how many steps there were, and is counted on."""
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
    """Steps follow the average gradient, measured by how much it varies."""

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
    """The rule a recipe asks for."""
    if recipe.optimiser == "sgd":
        return Descent()
    return Adam() if recipe.optimiser == "adam" else Adagrad(recipe.accumulator)
