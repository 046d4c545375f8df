"""Peers of the training step: PyTorch's recurrent modules as readers, and a loop over time whose backward is linear."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from query_reduction.encoders.position import encode_sentences
from query_reduction.recurrence.scan import BACKENDS
from query_reduction.stacked.tensors import TensorBatch
from query_reduction.text.encoding import EncodedQuestions
from query_reduction.text.vocabulary import Vocabulary
from query_reduction.training.recipes import Recipe
from query_reduction_lab.bench.peers_torch import unbound_states

__all__ = ["PlainReader", "build_peer", "plain_step", "scan_unbound"]


def scan_unbound(z: Tensor, v: Tensor, lengths: Tensor, initial: Tensor, *, reverse: bool) -> Tensor:
    """All h_t by a loop over ``unbind``; padding is dealt with once, before and after the loop."""
    batch, time, _ = v.shape
    inside = (torch.arange(time) < lengths.view(batch, 1)).unsqueeze(-1)
    keep = torch.where(inside, 1 - z, torch.ones_like(z))
    v = torch.where(inside, v, torch.zeros_like(v))
    if reverse:
        keep, v = keep.flip(1), v.flip(1)
    # The state before the first step comes in as one more value in front.
    v = torch.cat((initial.unsqueeze(1), v), dim=1)
    keep = torch.cat((torch.ones_like(keep[:, :1]), keep), dim=1)
    h = unbound_states(keep, v)[:, 1:]
    return torch.where(inside, h.flip(1) if reverse else h, torch.zeros_like(h))


# The reference loop of the package is written to be obvious; this one to be as fast as a loop can be.
BACKENDS["unbound loop"] = scan_unbound


class PlainReader(nn.Module):
    """One GRU or LSTM reader as a PyTorch user would write it: the answer is read from the last state.

    Sequences are padded and time comes first, which is PyTorch's fastest path on a CPU; packing them costs more than it
    saves when stories have similar lengths.
    """

    def __init__(self, kind: type[nn.GRU | nn.LSTM], layers: int, dimension: int, vocabulary: Vocabulary) -> None:
        super().__init__()
        self._longest = vocabulary.longest_sentence
        self.embedding = nn.Parameter(0.1 * torch.randn(1, vocabulary.size, dimension))
        self.layers = kind(dimension, dimension, layers)
        self.answer = nn.Linear(dimension, len(vocabulary.answers), bias=False)

    def loss(self, batch: TensorBatch) -> Tensor:
        """Cross-entropy of the correct answers."""
        table = encode_sentences(self.embedding, batch.words, self._longest)[0]
        inputs = table[batch.stories.T.long()] + table[batch.questions.long()]
        states = self.layers(inputs)[0]
        last = states[(batch.lengths.long() - 1).clamp(min=0), torch.arange(states.shape[1])]
        return functional.cross_entropy(self.answer(last), batch.answers.long())


def build_peer(kind: type[nn.GRU | nn.LSTM], layers: int, dimension: int, vocabulary: Vocabulary) -> PlainReader:
    """A reader with weights that are the same every time."""
    torch.manual_seed(0)
    return PlainReader(kind, layers, dimension, vocabulary)


def plain_step(
    reader: PlainReader,
    questions: EncodedQuestions,
    chosen: np.ndarray[Any, np.dtype[np.int64]],
    learning_rate: float,
) -> Callable[[], object]:
    """A step with PyTorch's own optimiser, fused."""
    recipe = Recipe()
    optimiser = torch.optim.Adagrad(
        reader.parameters(),
        learning_rate,
        weight_decay=recipe.l2,
        initial_accumulator_value=recipe.accumulator,
        fused=True,
    )

    def step() -> None:
        batch = TensorBatch.of(questions.batch(chosen))
        optimiser.zero_grad()
        reader.loss(batch).backward()
        optimiser.step()

    return step
