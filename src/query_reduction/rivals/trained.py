"""A trained network of this package in use: arrays in, arrays out, PyTorch in between."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from query_reduction.heads.arrays import HeadConfig
from query_reduction.network import Floats, TracedBatch, TracedLayer
from query_reduction.qrn.reader import check_shapes
from query_reduction.rivals.registry import kind_of
from query_reduction.stacked.network import NoValues, StackedNetwork
from query_reduction.stacked.tensors import TensorBatch
from query_reduction.text.batch import Batch
from query_reduction.text.vocabulary import Vocabulary

__all__ = ["Trained", "restore_network"]


def restore_network(
    config: Any, vocabulary: Vocabulary, head: HeadConfig, weights: Mapping[str, Floats]
) -> StackedNetwork:
    """A stack of one with these weights, whose names and shapes are compared before anything is allocated."""
    network = kind_of(config).build(config, vocabulary, head, NoValues())
    check_shapes(weights, {name: tuple(values.shape[1:]) for name, values in network.state_dict().items()})
    network.load_state_dict({name: torch.from_numpy(weight) for name, weight in weights.items()}, assign=True)
    return network.eval()


class Trained:
    """One trained network; see ``inference.network``."""

    def __init__(self, stack: StackedNetwork) -> None:
        """``stack`` is a stack of one."""
        self._stack = stack.eval()

    @property
    def shows_reading(self) -> bool:
        """Whether the network records what it attends to."""
        return self._stack.shows_reading

    @property
    def stage(self) -> str:
        """What one layer of its trace is called: a layer, a hop, a pass or a step."""
        return self._stack.stage

    @torch.inference_mode()
    def scores(self, batch: Batch) -> Floats:
        """See ``Network``."""
        scores: Floats = self._stack.scores(TensorBatch.of(batch))[0].numpy()
        return scores

    @torch.inference_mode()
    def trace(self, batch: Batch) -> TracedBatch | None:
        """See ``Network``."""
        read = self._stack.trace(TensorBatch.of(batch))
        if read is None:
            return None
        layers = tuple(
            TracedLayer({name: gate[0].numpy() for name, gate in layer.gates.items()}, layer.weights[0].numpy())
            for layer in read.layers
        )
        return TracedBatch(layers, read.scores[0].numpy())
