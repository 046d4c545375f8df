"""The Differentiable Neural Computer (Graves et al., "Hybrid computing using a neural network with dynamic external
memory", Nature 2016): an LSTM reads word by word and writes to, and reads from, a memory that it addresses by content,
by what is free, and by the order of writing. Names and symbols are those of the paper's methods.

The changes of Franke et al. ("Robust and Scalable Differentiable Neural Computer for Question Answering", 2018) are
settings: no temporal links, normalised control of the memory, and dropout on the way that bypasses it. Here a question
is a sequence of its own, its story's words and then its own; the paper asks all questions of a story in one sequence.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional

from query_reduction.data.batch import Batch
from query_reduction.data.vocabulary import Vocabulary
from query_reduction.networks.heads import HeadConfig, build_head
from query_reduction.networks.layers import LayerNorm, Linear, at_end, dropout, glorot, look_up, wordless
from query_reduction.networks.protocol import Seeds, StackedNetwork, normal, zeros
from query_reduction.networks.recurrent import word_sequence
from query_reduction.networks.registry import register
from query_reduction.settings import Between, check

__all__ = ["RECIPE", "DNCConfig", "DifferentiableNeuralComputer"]

RECIPE: Mapping[str, Any] = {
    "optimiser": "adam",
    "learning_rate": 0.003,
    "halve_every": 30,
    "batch": 32,
    "l2": 0.0,
    "clip": 10.0,
    "max_epochs": 100,
    "evaluate_every": 2,
    "patience": 40,
    "solved_epochs": 10,
}
"""The clipping of Franke et al.; Adam, and a larger learning rate, where they take RMSProp for far longer."""

_LEAST = 1e-6
"""Keeps norms and usages away from zero, where their gradients have no value."""


@dataclass(frozen=True, slots=True)
class DNCConfig:
    """The Differentiable Neural Computer."""

    dimension: Annotated[int, Between(1, 4096)] = 64
    """Units of the controller."""
    word_dimension: Annotated[int, Between(1, 4096)] = 32
    """Size of word vectors."""
    slots: Annotated[int, Between(1, 4096)] = 32
    """Rows N of the memory."""
    width: Annotated[int, Between(1, 4096)] = 24
    """Size W of a row."""
    heads: Annotated[int, Between(1, 64)] = 2
    """Read heads R."""
    links: bool = True
    """Temporal links: heads may move to what was written after, or before, what they read last."""
    normalised: bool = False
    """Layer normalisation of what the controller tells the memory."""
    bypass_dropout: Annotated[float, Between(0, 0.95)] = 0.0
    """Share of the controller's own part of the output that is left out in training, so that memory is used."""

    def __post_init__(self) -> None:
        check(self)


class _Memory(NamedTuple):
    """The state of the memory between two words; every tensor begins with restart and batch."""

    rows: Float[Tensor, "restart batch slot width"]
    usage: Float[Tensor, "restart batch slot"]
    writing: Float[Tensor, "restart batch slot"]
    """The last write weighting w^w."""
    reading: Float[Tensor, "restart batch head slot"]
    """The last read weightings w^r."""
    precedence: Float[Tensor, "restart batch slot"]
    links: Float[Tensor, "restart batch slot slot"]
    """How much row i was written right after row j."""


@register("dnc", DNCConfig, "the Differentiable Neural Computer: an LSTM with a memory, word by word")
class DifferentiableNeuralComputer(StackedNetwork):
    """A stack of Differentiable Neural Computers."""

    embedding: Float[Tensor, "restart vocabulary word_dim"]
    input_weight: Float[Tensor, "restart word_dim four_dim"]
    state_weight: Float[Tensor, "restart reads_and_dim four_dim"]
    bias: Float[Tensor, "restart four_dim"]
    answer_weight: Float[Tensor, "restart answer out"]
    answer_current: Float[Tensor, "restart word out"]
    answer_match: Float[Tensor, "restart position 2 out"]

    def __init__(self, config: DNCConfig, vocabulary: Vocabulary, head: HeadConfig, seeds: Seeds) -> None:
        super().__init__(seeds)
        self.config = config
        self.noisy = config.bypass_dropout > 0
        d, reads = config.dimension, config.heads * config.width
        self.declare("embedding", (vocabulary.size, config.word_dimension), wordless(normal(0.3)))
        # Input, forget and output gate and candidate of the LSTM, side by side.
        inputs = config.word_dimension + reads + d
        self.declare("input_weight", (config.word_dimension, 4 * d), glorot(inputs, d))
        self.declare("state_weight", (reads + d, 4 * d), glorot(inputs, d))
        self.declare("bias", (4 * d,), zeros, decay_uses=0)
        # Read keys, write key, write vector, erase vector; strengths; free, allocation and write gates; read modes.
        per_head = 1 + 1 + (3 if config.links else 0)
        self._sizes = [reads, config.width, config.width, config.width, config.heads, 1, config.heads, 1, 1]
        self._sizes += [3 * config.heads] if config.links else []
        assert sum(self._sizes) == reads + 3 * config.width + 3 + per_head * config.heads
        self.interface = Linear(seeds, d, sum(self._sizes))
        if config.normalised:
            self.interface_norm = LayerNorm(seeds, sum(self._sizes))
        # W_y h + W_r [r^1; …; r^R] is one product with both side by side.
        self.head = build_head(head, vocabulary, self, d + reads)

    def scores(self, batch: Batch) -> Float[Tensor, "restart batch answer"]:
        """Scores of every answer."""
        return self.head.scores(self, self.read(batch), batch)

    def losses(self, batch: Batch) -> Float[Tensor, "restart batch"]:
        """Cross entropy of every right answer."""
        return self.head.losses(self, self.read(batch), batch)

    def read(self, batch: Batch) -> Float[Tensor, "restart batch out"]:
        """The controller's output and what the heads read, after each question's last word."""
        d = self.config.dimension
        words, lengths = word_sequence(batch)
        x = look_up(self.embedding, words)
        restarts, questions, time, _ = x.shape
        # What depends on the words alone is one product for all steps.
        projected = torch.baddbmm(self.bias.unsqueeze(1), x.flatten(1, 2), self.input_weight)
        reads_and_h = x.new_zeros(restarts, questions, self.state_weight.shape[1])
        cell = x.new_zeros(restarts, questions, d)
        memory = self._empty(x)
        outputs = []
        for step in projected.view(restarts, questions, time, 4 * d).unbind(2):
            i, f, o, n = torch.baddbmm(step, reads_and_h, self.state_weight).chunk(4, dim=2)
            cell = torch.addcmul(torch.sigmoid(f + 1) * cell, torch.sigmoid(i), torch.tanh(n))
            h = torch.sigmoid(o) * torch.tanh(cell)
            memory, reads = self._access(memory, h)
            reads_and_h = torch.cat((reads, h), dim=2)
            outputs.append(reads_and_h)
        states = torch.stack(outputs, dim=2) if outputs else reads_and_h.unsqueeze(2)[:, :, :0]
        reads, h = at_end(states, lengths).split((self.config.heads * self.config.width, d), dim=2)
        if self.noisy and self.training:
            h = dropout(h, self.config.bypass_dropout, self.noise)
        return torch.cat((h, reads), dim=2)

    def _empty(self, like: Tensor) -> _Memory:
        c, most = self.config, like.shape[:2]
        one = like.new_zeros(*most, c.slots)
        links = like.new_zeros(*most, c.slots, c.slots) if c.links else like.new_zeros(*most, 0, 0)
        return _Memory(
            like.new_zeros(*most, c.slots, c.width), one, one, like.new_zeros(*most, c.heads, c.slots), one, links
        )

    def _access(self, memory: _Memory, h: Tensor) -> tuple[_Memory, Float[Tensor, "restart batch reads"]]:
        """Write once, then read with every head."""
        c = self.config
        told = self.interface(h)
        parts = (self.interface_norm(told) if c.normalised else told).split(self._sizes, dim=2)
        read_keys, write_key, write_vector, erase, read_strengths, write_strength = parts[:6]
        free, allocation_gate, write_gate = (torch.sigmoid(part) for part in parts[6:9])

        # ψ = Π_i (1 - f^i w^{r,i}): what no head frees; u = (u + w^w - u ∘ w^w) ∘ ψ.
        retention = (1 - free.unsqueeze(3) * memory.reading).prod(2)
        usage = torch.lerp(memory.usage, torch.ones_like(memory.usage), memory.writing) * retention
        # w^w = g^w (g^a a + (1 - g^a) c^w)
        found = _by_content(memory.rows, write_key.unsqueeze(2), write_strength).squeeze(2)
        writing = write_gate * torch.lerp(found, _allocation(usage), allocation_gate)
        # M = M ∘ (1 - w^w e^T) + w^w v^T
        place = writing.unsqueeze(3)
        rows = memory.rows * (1 - place * torch.sigmoid(erase).unsqueeze(2)) + place * write_vector.unsqueeze(2)

        reading = _by_content(rows, read_keys.unflatten(2, (c.heads, c.width)), read_strengths)
        links, precedence = memory.links, memory.precedence
        if c.links:
            # L_ij = (1 - w_i - w_j) L_ij + w_i p_j, none from a row to itself; p = (1 - Σ w) p + w.
            links = (1 - place - writing.unsqueeze(2)) * links + place * precedence.unsqueeze(2)
            links = links * (1 - torch.eye(c.slots, dtype=links.dtype))
            precedence = (1 - writing.sum(2, keepdim=True)) * precedence + writing
            # w^r = π_1 b + π_2 c + π_3 f, with b = L^T w^r and f = L w^r of the step before.
            backward, content, forward = parts[9].unflatten(2, (c.heads, 3)).softmax(3).unsqueeze(3).unbind(4)
            reading = (
                backward * (memory.reading @ links)
                + content * reading
                + forward * (memory.reading @ links.transpose(2, 3))
            )
        return _Memory(rows, usage, writing, reading, precedence, links), (reading @ rows).flatten(2)


def _by_content(
    rows: Float[Tensor, "restart batch slot width"],
    keys: Float[Tensor, "restart batch head width"],
    strengths: Float[Tensor, "restart batch head"],
) -> Float[Tensor, "restart batch head slot"]:
    """C(M, k, β)[i] ∝ exp(β cos(k, M[i])), with β = 1 + log(1 + e^x)."""
    lengths = rows.square().sum(3).add(_LEAST).sqrt().unsqueeze(2)
    key_lengths = keys.square().sum(3, keepdim=True).add(_LEAST).sqrt()
    cosine = keys @ rows.transpose(2, 3) / (lengths * key_lengths)
    return ((1 + functional.softplus(strengths)).unsqueeze(3) * cosine).softmax(3)


def _allocation(usage: Float[Tensor, "restart batch slot"]) -> Float[Tensor, "restart batch slot"]:
    """a[φ_j] = (1 - u[φ_j]) Π_{i<j} u[φ_i], φ the slots from the freest to the fullest."""
    ordered, order = (_LEAST + (1 - _LEAST) * usage).sort(dim=2, stable=True)
    fuller = ordered.cumprod(2)
    before = torch.cat((torch.ones_like(fuller[:, :, :1]), fuller[:, :, :-1]), dim=2)
    return torch.zeros_like(usage).scatter(2, order, (1 - ordered) * before)
