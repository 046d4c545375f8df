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

from query_reduction.data.vocabulary import Vocabulary
from query_reduction.inference.heads import HeadConfig
from query_reduction.networks.encoder import encode_sentences
from query_reduction.networks.heads import build_head
from query_reduction.networks.layers import GRU, Linear, at_end, dropout, glorot, look_up, present, wordless
from query_reduction.networks.packed import gru_states
from query_reduction.networks.protocol import BatchTrace, LayerTrace, Seeds, StackedNetwork, uniform, zeros
from query_reduction.networks.registry import register
from query_reduction.networks.tensors import TensorBatch
from query_reduction.settings import Between, check

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
"""The paper's training. Its patience of 20 epochs is for ten times as many questions; the weight decay comes from a
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
class DynamicMemoryNetwork(StackedNetwork):
    """A stack of Dynamic Memory Networks."""

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
    answer_weight: Float[Tensor, "restart answer two_dim"]
    answer_current: Float[Tensor, "restart word two_dim"]
    answer_match: Float[Tensor, "restart position 2 two_dim"]

    def __init__(self, config: DMNConfig, vocabulary: Vocabulary, head: HeadConfig, seeds: Seeds) -> None:
        super().__init__(seeds)
        self.config = config
        self.noisy = config.dropout > 0
        d = config.dimension
        square = glorot(d, d)
        self.declare("embedding", (vocabulary.size, d), wordless(uniform(1.0)))
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

    def scores(self, batch: TensorBatch) -> Float[Tensor, "restart batch answer"]:
        """The score of every answer."""
        return self.head.scores(self, self.read(batch), batch)

    def losses(self, batch: TensorBatch) -> Float[Tensor, "restart batch"]:
        """The cross-entropy of every correct answer."""
        return self.head.losses(self, self.read(batch), batch)

    def read(self, batch: TensorBatch, recorded: list[Tensor] | None = None) -> Float[Tensor, "restart batch two_dim"]:
        """The last memory and the question, concatenated; the attention of every pass is appended to ``recorded``."""
        facts = self._fused(self._drop(look_up(self._sentences(batch.words), batch.stories)), batch.lengths)
        q = self._questions(batch)
        inside = present(batch.lengths, facts.shape[2])
        first = self.attention_first
        # The part that depends only on facts and question is the same in every pass.
        asked = self._interaction(facts, q, first[:, 0], first[:, 2]) + self.attention_bias[:, None, None]
        episode_inputs = torch.einsum("rbtd,rde->rbte", facts, self.episode_input) + self.episode_bias[:, None, None]
        memory = q
        for update in self.updates:
            # Equations 8 and 9: Z = W2 tanh(W1 z + b1) + b2, g = softmax(Z) over the facts.
            hidden = torch.tanh(asked + self._interaction(facts, memory, first[:, 1], first[:, 3]))
            importance = torch.einsum("rbtd,rdo->rbt", hidden, self.attention_second)
            lowest = torch.finfo(importance.dtype).min
            attention = importance.masked_fill(~inside, lowest).softmax(2) * inside
            context = self._episode(episode_inputs, attention)
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
        self, x: Float[Tensor, "restart batch time dim"], lengths: Int[Tensor, "batch"]
    ) -> Float[Tensor, "restart batch time dim"]:
        """Equations 4 to 6: a GRU forward and one backward over the facts, added."""
        restarts, batch, time, d = x.shape
        # Reversed within each story's length; what lies past the end is never read.
        turned = (lengths.long().unsqueeze(1) - 1 - torch.arange(time)).clamp(min=0).view(1, batch, time, 1)
        both = torch.stack((x, torch.take_along_dim(x, turned, dim=2)), dim=1).view(2 * restarts, batch * time, d)
        bias = self.fusion_bias.flatten(0, 1)
        projected = torch.baddbmm(bias[:, 0].unsqueeze(1), both, self.fusion_input.flatten(0, 1))
        states = gru_states(
            projected.view(2 * restarts, batch, time, 3 * d), self.fusion_state.flatten(0, 1), bias[:, 1]
        ).view(restarts, 2, batch, time, d)
        return states[:, 0] + torch.take_along_dim(states[:, 1], turned, dim=2)

    @staticmethod
    def _interaction(facts: Tensor, other: Tensor, product: Tensor, distance: Tensor) -> Tensor:
        """The part of W1 z, z = [f ∘ q; f ∘ m; |f - q|; |f - m|], that concerns q or m."""
        other = other.unsqueeze(2)
        return torch.einsum("rbtd,rde->rbte", facts * other, product) + torch.einsum(
            "rbtd,rde->rbte", (facts - other).abs(), distance
        )

    def _episode(
        self, inputs: Float[Tensor, "restart batch time two_dim"], attention: Float[Tensor, "restart batch time"]
    ) -> Float[Tensor, "restart batch dim"]:
        """Equations 11 and 12: h_i = g_i h̃_i + (1 - g_i) h_{i-1}, h̃_i = tanh(W f_i + r_i ∘ U h_{i-1} + b)."""
        h = inputs.new_zeros(*inputs.shape[:2], self.config.dimension)
        for step, g in zip(inputs.unbind(2), attention.unsqueeze(3).unbind(2), strict=True):
            reset_f, new_f = step.chunk(2, dim=2)
            reset_h, new_h = (h @ self.episode_state).chunk(2, dim=2)
            h = torch.lerp(h, torch.tanh(new_f + torch.sigmoid(reset_f + reset_h) * new_h), g)
        return h

    def _drop(self, x: Float[Tensor, "restart *rows dim"]) -> Float[Tensor, "restart *rows dim"]:
        return dropout(x, self.config.dropout, self.noise) if self.noisy and self.training else x

    def trace(self, batch: TensorBatch) -> BatchTrace:
        """The attention of every pass, and how much of its context comes from each sentence."""
        recorded: list[Tensor] = []
        scores = self.head.scores(self, self.read(batch, recorded), batch)
        return BatchTrace(tuple(LayerTrace({"attention": g.unsqueeze(3)}, _read_weights(g)) for g in recorded), scores)


def _read_weights(attention: Float[Tensor, "restart batch time"]) -> Float[Tensor, "restart batch time"]:
    """c = Σ_i g_i Π_{j>i} (1 - g_j) h̃_i: what later facts leave of each."""
    left = (1 - attention).flip(2).cumprod(2).flip(2)
    after = torch.cat((left[:, :, 1:], torch.ones_like(left[:, :, :1])), dim=2)
    return attention * after
