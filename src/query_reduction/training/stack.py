"""The parameters of a stack of restarts in one flat buffer, and Adagrad over it.

One buffer means one optimiser step is a few passes over memory, however many parameters and restarts there are.
The network's parameters are views into it, and so are their gradients.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.optim.adagrad import adagrad

from query_reduction.config import ModelConfig
from query_reduction.model import QueryReductionNetwork
from query_reduction.training.data_parallel import Share

__all__ = ["ParameterStack"]

_EPSILON = 1e-10


class _Run(NamedTuple):
    """Parameters that are updated together."""

    decay: float
    values: Tensor
    gradients: Tensor
    sums: Tensor
    step: Tensor
    """What PyTorch counts steps with; only a falling learning rate would need it."""


class ParameterStack:
    """Values, gradients, Adagrad sums and weight decay of all parameters of a network stack."""

    def __init__(self, network: QueryReductionNetwork, *, accumulator: float, l2: float, count_per_use: bool) -> None:
        self._network = network
        self._names = [name for name, _ in network.named_parameters()]
        self._l2 = l2
        self._count_per_use = count_per_use
        values = [parameter.detach() for parameter in network.parameters()]
        self._adopt(values, [torch.full_like(value, accumulator) for value in values])

    def _adopt(self, values: Sequence[Tensor], sums: Sequence[Tensor]) -> None:
        """Lay the parameters out in fresh buffers and point the network at them."""
        self._shapes = [value.shape for value in values]
        self._values = torch.cat([value.reshape(-1) for value in values])
        self._sums = torch.cat([total.reshape(-1) for total in sums])
        self._gradients = torch.zeros_like(self._values)
        self._runs = self._runs_of_like_decay()
        views = zip(self._names, self._views(self._values), self._views(self._gradients), strict=True)
        for name, value, gradient in views:
            parameter = nn.Parameter(value)
            parameter.grad = gradient
            setattr(self._network, name, parameter)

    def _runs_of_like_decay(self) -> list[_Run]:
        """Neighbours in the buffers with the same weight decay are updated in one go."""
        uses = [_uses(name, self._network.config, self._count_per_use) for name in self._names]
        alike = [list(run) for _, run in groupby(range(len(uses)), key=uses.__getitem__)]
        sizes = [sum(self._shapes[number].numel() for number in run) for run in alike]
        buffers = (buffer.split(sizes) for buffer in (self._values, self._gradients, self._sums))
        return [
            _Run(self._l2 * uses[run[0]], values, gradients, sums, torch.zeros(()))
            for run, values, gradients, sums in zip(alike, *buffers, strict=True)
        ]

    def _views(self, flat: Tensor) -> list[Tensor]:
        pieces = flat.split([shape.numel() for shape in self._shapes])
        return [piece.view(shape) for piece, shape in zip(pieces, self._shapes, strict=True)]

    def zero_gradients(self) -> None:
        """Forget the gradients of the last step; autograd adds the next ones in place."""
        self._gradients.zero_()

    def share_gradients(self, share: Share) -> None:
        """Add up the gradients of all processes that train together: one buffer, one message."""
        share.add_up(self._gradients)

    @torch.no_grad()
    def step(self, learning_rate: float) -> None:
        """Adagrad with weight decay in the gradient, as L2 in the loss would give."""
        for run in self._runs:
            adagrad(
                [run.values],
                [run.gradients],
                [run.sums],
                [run.step],
                fused=run.values.device.type == "cpu",
                lr=learning_rate,
                weight_decay=run.decay,
                lr_decay=0.0,
                eps=_EPSILON,
                maximize=False,
            )

    def keep(self, positions: Iterable[int]) -> None:
        """Let all restarts but those at these positions of the stack go."""
        index = torch.tensor(list(positions), dtype=torch.int64)
        self._adopt(
            [value.index_select(0, index) for value in self._views(self._values)],
            [total.index_select(0, index) for total in self._views(self._sums)],
        )

    def weights(self, position: int) -> dict[str, Tensor]:
        """A copy of one restart's parameters, each with a leading dimension of 1."""
        views = zip(self._names, self._views(self._values), strict=True)
        return {name: value[position : position + 1].clone() for name, value in views}

    def state(self) -> dict[str, Tensor]:
        """Values and Adagrad sums by name, to be saved."""
        values = zip(self._names, self._views(self._values), strict=True)
        sums = zip(self._names, self._views(self._sums), strict=True)
        return {f"value/{name}": value.clone() for name, value in values} | {
            f"sum/{name}": total.clone() for name, total in sums
        }

    def restore(self, state: dict[str, Tensor]) -> None:
        """Take over what ``state`` gave."""
        self._adopt([state[f"value/{name}"] for name in self._names], [state[f"sum/{name}"] for name in self._names])


def _uses(name: str, config: ModelConfig, count_per_use: bool) -> int:
    """How often weight decay counts a parameter: biases never, a tied weight once, or once a layer (the original)."""
    if name.endswith("bias"):
        return 0
    if not count_per_use or not config.tied or name.startswith(("embedding", "answer", "decoder")):
        return 1
    return config.layers - 1 if name.startswith("reset") else config.layers
