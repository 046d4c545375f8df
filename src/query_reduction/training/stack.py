"""The parameters of a stack of restarts in one flat buffer, and an optimiser over it.

One buffer means one optimiser step is a few passes over memory, however many parameters and restarts there are.
The network's parameters are views into it, and so are their gradients.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

import torch
from torch import Tensor, nn

from query_reduction.stacked.network import StackedNetwork
from query_reduction.training.optimisers import build_optimiser, native_update
from query_reduction.training.recipes import Recipe

__all__ = ["ParameterStack"]

_LANES = 64
"""Buffers are filled up to a multiple of this: PyTorch's optimisers round the last numbers, which do not fill a vector
of the processor, differently from the others, and which ones these are must not depend on the number of restarts."""


class _Run(NamedTuple):
    """Parameters that are updated together."""

    decay: float
    values: Tensor
    gradients: Tensor
    memory: dict[str, Tensor]


class ParameterStack:
    """Values, gradients, weight decay and optimiser state of all parameters of a network stack."""

    def __init__(self, network: StackedNetwork, recipe: Recipe) -> None:
        self._network = network
        self._names = [name for name, _ in network.named_parameters()]
        self._recipe = recipe
        self._optimiser = build_optimiser(recipe)
        self._readout = network.readout()
        self._uses = self._uses_of_parameters()
        by_uses = sorted(range(len(self._uses)), key=self._uses.__getitem__)
        self._alike = [list(run) for _, run in groupby(by_uses, key=self._uses.__getitem__)]
        values = [parameter.detach() for parameter in network.parameters()]
        memory = {
            kind: [torch.full_like(value, start) for value in values] for kind, start in self._optimiser.memory.items()
        }
        self._adopt(values, memory, steps=0)

    def _adopt(self, values: Sequence[Tensor], memory: Mapping[str, Sequence[Tensor]], steps: int) -> None:
        """Lay the parameters out in fresh buffers and point the network at them."""
        self._shapes = [value.shape for value in values]
        self._values = self._flat(values)
        self._memory = {kind: self._flat(remembered) for kind, remembered in memory.items()}
        self._gradients = torch.zeros_like(self._values)
        self._steps = steps
        self._runs = self._runs_of_like_decay()
        sizes = [(run.values.numel(), run.decay) for run in self._runs]
        self._update = native_update(self._optimiser, self._values, self._gradients, self._memory, sizes)
        views = zip(self._names, self._views(self._values), self._views(self._gradients), strict=True)
        for name, value, gradient in views:
            parameter = nn.Parameter(value)
            parameter.grad = gradient
            module, _, own_name = name.rpartition(".")
            setattr(self._network.get_submodule(module), own_name, parameter)

    def _uses_of_parameters(self) -> list[int]:
        """How often weight decay counts each parameter."""
        declared = dict(self._network.decay_uses())
        uses = [declared[name] for name in self._names]
        return [min(own, 1) for own in uses] if self._recipe.l2_counting == "once" else uses

    def _runs_of_like_decay(self) -> list[_Run]:
        """Parameters with the same weight decay, which are neighbours in the buffers, are updated in one go."""
        sizes = [_filled_up(sum(self._shapes[number].numel() for number in run)) for run in self._alike]
        values, gradients = self._values.split(sizes), self._gradients.split(sizes)
        memory = {kind: remembered.split(sizes) for kind, remembered in self._memory.items()}
        return [
            _Run(
                self._recipe.l2 * self._uses[run[0]],
                values[number],
                gradients[number],
                {kind: pieces[number] for kind, pieces in memory.items()},
            )
            for number, run in enumerate(self._alike)
        ]

    def _flat(self, pieces: Sequence[Tensor]) -> Tensor:
        """One buffer: the parameters of each run of like decay, filled up with zeros."""
        parts: list[Tensor] = []
        for run in self._alike:
            own = [pieces[number].reshape(-1) for number in run]
            size = sum(piece.numel() for piece in own)
            parts += [*own, own[0].new_zeros(_filled_up(size) - size)]
        return torch.cat(parts)

    def _views(self, flat: Tensor) -> list[Tensor]:
        views: dict[int, Tensor] = {}
        start = 0
        for run in self._alike:
            for number in run:
                shape = self._shapes[number]
                views[number] = flat[start : start + shape.numel()].view(shape)
                start += shape.numel()
            start = _filled_up(start)
        return [views[number] for number in range(len(views))]

    def zero_gradients(self) -> None:
        """Clear the gradients of the last step; autograd adds the next ones in place."""
        self._gradients.zero_()

    @torch.no_grad()
    def clip_gradients(self, most: float) -> None:
        """Clip each restart's gradient to the norm ``most``."""
        views = self._views(self._gradients)
        norms = torch.stack([torch.linalg.vector_norm(view.flatten(1), dim=1) for view in views])
        scale = most / torch.linalg.vector_norm(norms, dim=0)
        if (scale >= 1).all():
            return
        scale = scale.clamp(max=1.0)
        for view in views:
            view.mul_(scale.view(-1, *[1] * (view.dim() - 1)))

    @torch.no_grad()
    def step(self, learning_rate: float, *, readout_only: bool = False) -> None:
        """One step of the optimiser, weight decay included; with ``readout_only`` all other weights stay the same."""
        named = zip(self._names, self._views(self._values), strict=True) if readout_only else ()
        held = [(view, view.clone()) for name, view in named if name not in self._readout]
        self._step_all(learning_rate)
        for view, before in held:
            view.copy_(before)

    def _step_all(self, learning_rate: float) -> None:
        count, self._steps = self._steps, self._steps + 1
        if self._update is not None:
            self._update.take(learning_rate, self._steps)
            return
        for run in self._runs:
            self._optimiser.step(run.values, run.gradients, run.memory, count, rate=learning_rate, decay=run.decay)

    @torch.no_grad()
    def forget_steps(self) -> None:
        """Let the optimiser begin anew, from the weights as they are."""
        for kind, start in self._optimiser.memory.items():
            for view in self._views(self._memory[kind]):
                view.fill_(start)
        self._steps = 0

    def keep(self, positions: Iterable[int]) -> None:
        """Drop all restarts except those at these positions of the stack."""
        index = torch.tensor(list(positions), dtype=torch.int64)

        def kept(flat: Tensor) -> list[Tensor]:
            return [view.index_select(0, index) for view in self._views(flat)]

        memory = {kind: kept(remembered) for kind, remembered in self._memory.items()}
        self._adopt(kept(self._values), memory, self._steps)

    def weights(self, position: int) -> dict[str, Tensor]:
        """A copy of one restart's parameters, each with a leading dimension of 1."""
        views = zip(self._names, self._views(self._values), strict=True)
        return {name: value[position : position + 1].clone() for name, value in views}

    @torch.no_grad()
    def largest(self) -> Tensor:
        """The largest magnitude among each restart's parameters."""
        return torch.stack([view.abs().flatten(1).amax(1) for view in self._views(self._values)]).amax(0)

    @property
    def kinds(self) -> list[str]:
        """What is kept of each parameter: its value and the optimiser's memory."""
        return ["value", *self._memory]

    def state(self) -> dict[str, Tensor]:
        """Values and optimiser state by name, to be saved."""
        found = {"steps": torch.tensor(float(self._steps))}
        for kind, flat in {"value": self._values, **self._memory}.items():
            named = zip(self._names, self._views(flat), strict=True)
            found |= {f"{kind}/{name}": view.clone() for name, view in named}
        return found

    def restore(self, state: dict[str, Tensor]) -> None:
        """Load the result of ``state``."""

        def named(kind: str) -> list[Tensor]:
            return [state[f"{kind}/{name}"] for name in self._names]

        self._adopt(named("value"), {kind: named(kind) for kind in self._memory}, int(state["steps"]))


def _filled_up(size: int) -> int:
    return -(-size // _LANES) * _LANES
