"""The Dynamic Memory Network DMN+ (Xiong et al., "Dynamic Memory Networks for Visual and Textual Question Answering",
ICML 2016): facts that know their neighbours, read several times with attention. Equation numbers are the paper's.

The attention's softmax is over the facts of a story, as in the paper; widely used code, which produced the results of
other papers, took it over the batch.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

import torch
from jaxtyping import Float, Int
from torch import Tensor

from query_reduction.encoders.position import encode_sentences
from query_reduction.heads.arrays import HeadConfig
from query_reduction.heads.stacked import build_head
from query_reduction.rivals.registry import register
from query_reduction.rivals.vector_reader import VectorReader
from query_reduction.settings import Between, check
from query_reduction.stacked.layers import (
    GRU,
    Linear,
    at_end,
    dropout,
    glorot,
    left_at_end,
    look_up,
    present,
)
from query_reduction.stacked.network import (
    BatchTrace,
    LayerTrace,
    Seeds,
    uniform,
    without_meaning,
    zeros,
)
from query_reduction.stacked.packed import Packing, pack, packed_gru
from query_reduction.stacked.tensors import TensorBatch
from query_reduction.text.vocabulary import Vocabulary

__all__ = ["RECIPE", "DMNConfig", "DynamicMemoryNetwork"]

RECIPE: Mapping[str, Any] = {
    "optimiser": "adam",
    "learning_rate": 0.001,
    "halve_every": 0,
    "batch": 128,
    "l2": 0.001,
    "l2_counting": "once",
    "max_epochs": 256,
    "evaluate_every": 2,
    "patience": 60,
    "solved_epochs": 20,
    "keep": "loss",
}
"""The paper's training, but the last 50 sentences of a story instead of 70 (130 on task 3, whose supporting facts are
no further back than 40). Its patience of 20 epochs is for ten times as many questions; the weight decay comes from a
comment in the paper's LaTeX source, as the text itself gives none."""


@dataclass(frozen=True, slots=True)
class DMNConfig:
    """The Dynamic Memory Network DMN+."""

    passes: Annotated[int, Between(1, 64)] = 3
    """Number of passes over the facts; each ends in a new memory."""
    dimension: Annotated[int, Between(1, 4096)] = 80
    """Size of word vectors, facts and memories."""
    dropout: Annotated[float, Between(0, 0.95)] = 0.1
    """Dropout rate of the sentence vectors and of the answer's input."""

    def __post_init__(self) -> None:
        check(self)


@register("dmn", DMNConfig, "the Dynamic Memory Network DMN+: fused facts, attention GRU, episodes", recipe=RECIPE)
class DynamicMemoryNetwork(VectorReader):
    """A stack of Dynamic Memory Networks."""

    stage = "pass"
    embedding: Float[Tensor, "restart vocabulary dim"]
    fusion_input: Float[Tensor, "restart 2 dim three_dim"]
    fusion_state: Float[Tensor, "restart 2 dim three_dim"]
    fusion_bias: Float[Tensor, "restart 2 2 three_dim"]
    attention_first: Float[Tensor, "restart 4 dim dim"]
    attention_bias: Float[Tensor, "restart dim"]
    attention_second: Float[Tensor, "restart dim 1"]
    episode_input: Float[Tensor, "restart dim two_dim"]
    episode_state: Float[Tensor, "restart dim two_dim"]
    episode_bias: Float[Tensor, "restart two_dim"]

    def __init__(self, config: DMNConfig, vocabulary: Vocabulary, head: HeadConfig, seeds: Seeds) -> None:
        super().__init__(seeds)
        self.config = config
        self.noisy = config.dropout > 0
        d = config.dimension
        square = glorot(d, d)
        self.declare("embedding", (vocabulary.size, d), without_meaning(uniform(1.0)))
        # Forward and backward in time; reset, update and candidate side by side.
        self.declare("fusion_input", (2, d, 3 * d), square)
        self.declare("fusion_state", (2, d, 3 * d), square)
        self.declare("fusion_bias", (2, 2, 3 * d), zeros, decay_uses=0)
        # A block of W1 for each part of z; b2 would change nothing, as a softmax follows.
        self.declare("attention_first", (4, d, d), glorot(4 * d, d))
        self.declare("attention_bias", (d,), zeros, decay_uses=0)
        self.declare("attention_second", (d, 1), glorot(d, 1))
        # Reset and candidate; the attention replaces the update gate.
        self.declare("episode_input", (d, 2 * d), square)
        self.declare("episode_state", (d, 2 * d), square)
        self.declare("episode_bias", (2 * d,), zeros, decay_uses=0)
        self.question_reader = GRU(seeds, d, d)
        self.updates = torch.nn.ModuleList(Linear(seeds, 3 * d, d) for _ in range(config.passes))
        self.head = build_head(head, vocabulary, self, 2 * d, glorot(2 * d, len(vocabulary.answers)))

    def read(self, batch: TensorBatch, recorded: list[Tensor] | None = None) -> Float[Tensor, "restart batch two_dim"]:
        """The last memory and the question, concatenated; the attention of every pass is appended to ``recorded``."""
        # The facts of all stories are packed: nothing is computed past a story's end.
        packing = pack(batch.lengths)
        told = look_up(self._sentences(batch.words), batch.stories[packing.sequence, packing.time])
        facts = self._fused(self._drop(told), packing, batch.lengths)
        q = self._questions(batch)
        first = self.attention_first
        # The part that depends only on facts and question is the same in every pass.
        asked = self._interaction(facts, look_up(q, packing.sequence), first[:, 0::2])
        asked = asked + self.attention_bias.unsqueeze(1)
        episode_inputs = torch.baddbmm(self.episode_bias.unsqueeze(1), facts, self.episode_input)
        memory = q
        for update in self.updates:
            # Equations 8 and 9: Z = W2 tanh(W1 z + b1) + b2, g = softmax(Z) over the facts.
            hidden = torch.tanh(asked + self._interaction(facts, look_up(memory, packing.sequence), first[:, 1::2]))
            attention = _softmax((hidden @ self.attention_second).squeeze(2), packing, batch)
            given = attention[:, packing.sequence, packing.time]
            context = self._episode(episode_inputs, given, packing) * (batch.lengths > 0).unsqueeze(1)
            # Equation 13: m^t = ReLU(W^t [m^{t-1}; c^t; q] + b), with separate weights for every pass.
            memory = torch.relu(update(torch.cat((memory, context, q), dim=2)))
            if recorded is not None:
                recorded.append(attention)
        return self._drop(torch.cat((memory, q), dim=2))

    def _sentences(self, words: Int[Tensor, "sentence word"]) -> Float[Tensor, "restart sentence dim"]:
        """f_i = Σ_j l_j ∘ w_ij with the position weights of equation 2, using each sentence's own length."""
        return encode_sentences(self.embedding, words, 0)

    def _questions(self, batch: TensorBatch) -> Float[Tensor, "restart batch dim"]:
        """The last state of a GRU over the question's words; each distinct question is read once."""
        rows, which = batch.questions.unique(return_inverse=True)
        words = batch.words[rows.long()]
        lengths = (words > 0).sum(1)
        words = words[:, : int(lengths.max()) if len(lengths) else 0]
        return look_up(at_end(self.question_reader(look_up(self.embedding, words)), lengths), which)

    def _fused(
        self, x: Float[Tensor, "restart row dim"], packing: Packing, lengths: Int[Tensor, "batch"]
    ) -> Float[Tensor, "restart row dim"]:
        """Equations 4 to 6: a GRU forward and one backward over the facts, added."""
        restarts, rows, d = x.shape
        turned = packing.turned(lengths)
        both = torch.stack((x, x.index_select(1, turned)), dim=1).view(2 * restarts, rows, d)
        bias = self.fusion_bias.flatten(0, 1)
        projected = torch.baddbmm(bias[:, 0].unsqueeze(1), both, self.fusion_input.flatten(0, 1))
        states = packed_gru(projected, self.fusion_state.flatten(0, 1), bias[:, 1], packing.counts)
        forward, backward = states.view(restarts, 2, rows, d).unbind(1)
        return forward + backward.index_select(1, turned)

    @staticmethod
    def _interaction(
        facts: Float[Tensor, "restart row dim"],
        other: Float[Tensor, "restart row dim"],
        weights: Float[Tensor, "restart 2 dim dim"],
    ) -> Float[Tensor, "restart row dim"]:
        """The part of W1 z, z = [f ∘ q; f ∘ m; |f - q|; |f - m|], that concerns q or m."""
        return torch.cat((facts * other, (facts - other).abs()), dim=2) @ weights.flatten(1, 2)

    def _episode(
        self,
        inputs: Float[Tensor, "restart row two_dim"],
        attention: Float[Tensor, "restart row"],
        packing: Packing,
    ) -> Float[Tensor, "restart batch dim"]:
        """Equations 11 and 12: h_i = g_i h̃_i + (1 - g_i) h_{i-1}, h̃_i = tanh(W f_i + r_i ∘ U h_{i-1} + b)."""
        h = inputs.new_zeros(len(inputs), max(packing.counts, default=0), self.config.dimension)
        if not packing.counts:
            return inputs.new_zeros(len(inputs), len(packing.last), self.config.dimension)
        states = []
        steps = zip(inputs.split(packing.counts, 1), attention.unsqueeze(2).split(packing.counts, 1), strict=True)
        for step, g in steps:
            h = h[:, : step.shape[1]]
            reset_f, new_f = step.chunk(2, dim=2)
            reset_h, new_h = (h @ self.episode_state).chunk(2, dim=2)
            h = torch.lerp(h, torch.tanh(new_f + torch.sigmoid(reset_f + reset_h) * new_h), g)
            states.append(h)
        return torch.cat(states, dim=1).index_select(1, packing.last)

    def _drop(self, x: Float[Tensor, "restart *rows dim"]) -> Float[Tensor, "restart *rows dim"]:
        return dropout(x, self.config.dropout, self.noise) if self.noisy and self.training else x

    def trace(self, batch: TensorBatch) -> BatchTrace:
        """The attention of every pass, and how much of its context comes from each sentence."""
        recorded: list[Tensor] = []
        scores = self.head.scores(self, self.read(batch, recorded), batch)
        # c = Σ_i g_i Π_{j>i} (1 - g_j) h̃_i: what later facts leave of each.
        gates = [attention.unsqueeze(3) for attention in recorded]
        return BatchTrace(tuple(LayerTrace({"attention": g}, left_at_end(g).squeeze(3)) for g in gates), scores)


def _softmax(
    importance: Float[Tensor, "restart row"], packing: Packing, batch: TensorBatch
) -> Float[Tensor, "restart batch time"]:
    """The softmax over the facts of each story; 0 past its end."""
    inside = present(batch.lengths, batch.stories.shape[1])
    lowest = importance.new_full((len(importance), *inside.shape), torch.finfo(importance.dtype).min)
    place = packing.sequence * inside.shape[1] + packing.time
    return lowest.flatten(1).index_copy(1, place, importance).view(lowest.shape).softmax(2) * inside
