"""What training, saving, testing and explaining ask of a network, and all they know about one.

A *stacked network* holds several restarts of one network as parameters with a leading restart dimension, and never
mixes them: a single network is a stack of one. A network declares each parameter with its initial values and its
share of weight decay, computes losses and scores of a batch, and may record how it read the batch.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor, nn

from query_reduction.errors import InputError
from query_reduction.network import Floats
from query_reduction.stacked.tensors import TensorBatch

__all__ = [
    "BatchTrace",
    "LayerTrace",
    "NoValues",
    "Seeds",
    "StackedModule",
    "StackedNetwork",
    "Start",
    "normal",
    "ones",
    "take_weights",
    "uniform",
    "without_meaning",
    "zeros",
]

Start = Callable[[tuple[int, ...], torch.Generator], Tensor]
"""Gives the initial values of one restart's parameter."""


def zeros(shape: tuple[int, ...], generator: torch.Generator) -> Tensor:
    """All zero."""
    return torch.zeros(shape)


def ones(shape: tuple[int, ...], generator: torch.Generator) -> Tensor:
    """All one."""
    return torch.ones(shape)


def uniform(deviation: float) -> Start:
    """Uniform around zero with this standard deviation."""
    return lambda shape, generator: (torch.rand(shape, generator=generator) * 2 - 1) * (math.sqrt(3) * deviation)


def normal(deviation: float, mean: float = 0.0) -> Start:
    """Normal with this standard deviation, around zero unless another mean is given."""
    return lambda shape, generator: torch.randn(shape, generator=generator) * deviation + mean


def without_meaning(start: Start, rarity: Float[Tensor, "word"] | None = None) -> Start:
    """Word vectors, (…, word, dim), where word 0 (no word) and word 1 (an unknown word) have no meaning: they are zero.

    The other words may be weighted by their rarity.
    """

    def vectors(shape: tuple[int, ...], generator: torch.Generator) -> Tensor:
        weight = start(shape, generator)
        weight[..., :2, :] = 0
        return weight if rarity is None else weight * rarity.unsqueeze(1)

    return vectors


class Seeds:
    """The random numbers each restart of a stack starts from: they depend on its number, never on its neighbours."""

    def __init__(
        self,
        restarts: Sequence[int] = (0,),
        seed: int = 0,
        rarity: Float[Tensor, "vocabulary"] | None = None,
        fixed: Mapping[str, Tensor] | None = None,
    ) -> None:
        """``fixed`` has values by name that are not trained, each with a leading dimension of one."""
        self.restarts = tuple(restarts)
        self._fixed = fixed or {}
        self.rarity = rarity
        """How rare each word is in the training part, from 0 (in every sentence) to 1 (in one of ten, or fewer): for
        networks whose initial values depend on it."""
        self._generators = [
            torch.Generator().manual_seed(int(np.random.SeedSequence((seed, restart)).generate_state(1)[0]))
            for restart in restarts
        ]

    def draw(self, start: Start, shape: tuple[int, ...]) -> Tensor:
        """Initial values for every restart, stacked."""
        return torch.stack([start(shape, generator) for generator in self._generators])

    def fixed(self, name: str, shape: tuple[int, ...]) -> Tensor:
        """Values that are not trained, with a leading dimension of one."""
        values = self._fixed.get(name)
        found = None if values is None else tuple(values.shape)
        if values is None or found != (1, *shape):
            raise InputError(f"{name} is {found or 'missing'} but the settings require {(1, *shape)}")
        return values


class NoValues(Seeds):
    """For a stack of one whose weights are loaded from a file: parameters have shapes but take no memory yet."""

    def draw(self, start: Start, shape: tuple[int, ...]) -> Tensor:
        """A tensor without values."""
        return torch.empty((1, *shape), device="meta")

    def fixed(self, name: str, shape: tuple[int, ...]) -> Tensor:
        """A tensor without values."""
        return torch.empty((1, *shape), device="meta")


class StackedModule(nn.Module):
    """A part of a stacked network that declares its own parameters; parts may be nested."""

    def __init__(self, seeds: Seeds) -> None:
        super().__init__()
        self._seeds = seeds
        self._decay_uses: dict[str, int] = {}
        self._readout: list[str] = []

    def declare(
        self, name: str, shape: tuple[int, ...], start: Start, *, decay_uses: int = 1, readout: bool = False
    ) -> None:
        """Register a parameter, given its shape without the restart dimension.

        ``decay_uses`` is how often a forward pass uses it, which the original code multiplies weight decay by;
        0 exempts it from weight decay. ``readout`` marks those that score answers, given what was read.
        """
        self.register_parameter(name, nn.Parameter(self._seeds.draw(start, shape)))
        self._decay_uses[name] = decay_uses
        if readout:
            self._readout.append(name)

    def fix(self, name: str, shape: tuple[int, ...]) -> None:
        """Register values that are the same for all restarts and are not trained, given by the seeds under this name.

        They are saved with the weights.
        """
        self.register_buffer(name, self._seeds.fixed(name, shape))

    def decay_uses(self) -> Iterator[tuple[str, int]]:
        """How often weight decay counts each parameter, in the order of ``named_parameters``."""
        for prefix, module in self._parts():
            for name, uses in module._decay_uses.items():
                yield prefix + name, uses

    def readout(self) -> frozenset[str]:
        """The names of the parameters that score answers, given what was read."""
        return frozenset(prefix + name for prefix, module in self._parts() for name in module._readout)

    def _parts(self) -> Iterator[tuple[str, StackedModule]]:
        """The parts that declare parameters, itself first, with what stands before the names of these."""
        for name, module in self.named_modules():
            if isinstance(module, StackedModule):
                yield f"{name}." if name else "", module


@dataclass(frozen=True, slots=True)
class LayerTrace:
    """What one layer (or hop) did at every sentence."""

    gates: Mapping[str, Float[Tensor, "restart batch time gate"]]
    """Values from 0 to 1 by name: ``update``, ``reset_forward``, ``attention`` …; one per sentence, or one per unit."""
    weights: Float[Tensor, "restart batch time"]
    """How much of the answer was read from each sentence: at least 0, summing to at most 1."""


@dataclass(frozen=True, slots=True)
class BatchTrace:
    """How a stack read a batch."""

    layers: tuple[LayerTrace, ...]
    scores: Float[Tensor, "restart batch answer"]


class StackedNetwork(StackedModule, ABC):
    """A stack of networks. Each reads the same batches with its own weights."""

    stage: str = "layer"
    """What one part of its trace is called by its authors: a layer, a hop, a pass or a step."""
    reads: bool = True
    """Whether its answers depend on the story; if so, giving all questions the same answer is a sign of collapse."""
    shares_stories: bool = False
    """Whether it reads a story once for all questions about it in a batch, which should then be trained on together."""
    noisy: bool = False
    """Whether it trains with noise (dropout and the like), drawn from ``noise`` while ``training``."""
    noise: torch.Generator
    """Set before each training step of a noisy network, from the seed, the epoch and the step. What is drawn from it
    must not depend on how many restarts there are, so noise is shared by all restarts."""

    @property
    def restarts(self) -> int:
        """How many restarts the stack holds now; it shrinks as restarts finish."""
        return next(self.parameters()).shape[0]

    @abstractmethod
    def losses(self, batch: TensorBatch) -> Float[Tensor, "restart batch"]:
        """The loss of every question for every restart."""

    def backpropagate(self, batch: TensorBatch, scale: float = 1.0) -> Float[Tensor, "restart"]:
        """The mean loss of every restart; the gradient of ``scale`` times it goes to each ``grad``, which is zero."""
        losses = self.losses(batch).mean(1)
        # Restarts share no parameter, so the sum's gradient is each one's own.
        (losses.sum() * scale).backward()
        return losses.detach()

    @abstractmethod
    def scores(self, batch: TensorBatch) -> Float[Tensor, "restart batch answer"]:
        """The score of every answer; their softmax gives the probabilities."""

    def trace(self, batch: TensorBatch) -> BatchTrace | None:
        """How the batch was read; None if the network has nothing to show.

        Query-Reduction Networks show their reading in use, without PyTorch: ``inference.reader``.
        """
        return None

    @property
    def shows_reading(self) -> bool:
        """Whether it has a trace."""
        return type(self).trace is not StackedNetwork.trace

    def go_on(self) -> None:
        """Called once before training if the network begins with trained weights, for those that start differently."""

    def begin_epoch(self, epoch: int) -> None:
        """Called before each training epoch, for networks whose computation changes as they train."""

    def use_native(self, wanted: bool) -> None:
        """Compute with native code if requested and possible, otherwise with plain PyTorch."""


@torch.no_grad()
def take_weights(
    network: StackedNetwork, weights: Mapping[str, Floats], grown: Collection[tuple[int, int]] = ()
) -> None:
    """Let every restart of a network begin with the weights of a trained one of the same kind, a stack of one.

    ``grown`` has the numbers of words and of answers, before and now. Rows of those that the trained network does not
    have keep their initial values: they come after the others.
    """
    for name, parameter in network.named_parameters():
        trained = torch.from_numpy(weights[name])
        for before, now in zip(trained.shape[1:], parameter.shape[1:], strict=True):
            if before != now and (before, now) not in grown:
                raise InputError(
                    "this network cannot go on with new words or answers: its weights do not have their order"
                )
        parameter[:, *(slice(size) for size in trained.shape[1:])] = trained
