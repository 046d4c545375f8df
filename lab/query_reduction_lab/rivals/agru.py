"""The attention GRU of Dynamic Memory Networks as a reader of sentences (Kumar et al., ICML 2016; Xiong et al., ICML
2016).

In an ordinary GRU the state decides what to take from an input; here the question decides. Sentences are read several
times: each pass ends in an episode, and a second GRU folds the episodes into the memory that guides the next pass.
Unlike the original, it is not trained on supporting facts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import torch
from jaxtyping import Float
from torch import Tensor

from query_reduction.encoders.position import encode_sentences
from query_reduction.heads.arrays import HeadConfig
from query_reduction.heads.stacked import build_head
from query_reduction.rivals.registry import register
from query_reduction.rivals.vector_reader import VectorReader
from query_reduction.settings import Between, check
from query_reduction.stacked.layers import left_at_end, present
from query_reduction.stacked.network import (
    BatchTrace,
    LayerTrace,
    Seeds,
    normal,
    uniform,
    without_meaning,
    zeros,
)
from query_reduction.stacked.tensors import TensorBatch
from query_reduction.text.vocabulary import Vocabulary

__all__ = ["RECIPE", "AGRUConfig", "AttentionGRU"]

RECIPE: Mapping[str, Any] = {
    "optimiser": "adam",
    "learning_rate": 0.003,
    "halve_every": 25,
    "batch": 32,
    "clip": 5.0,
    "l2": 0.0,
    "max_epochs": 100,
    "evaluate_every": 2,
    "patience": 30,
    "writing": "any",
}
"""The published results used supporting facts in training; these are common settings and have not been tuned."""


@dataclass(frozen=True, slots=True)
class AGRUConfig:
    """The attention GRU reader."""

    passes: Annotated[int, Between(1, 64)] = 3
    """Number of passes over the sentences."""
    dimension: Annotated[int, Between(1, 4096)] = 50
    """Size d of sentence vectors, states and memories."""
    gate: Literal["update", "step"] = "update"
    """Attention replaces the GRU's update gate (Xiong et al.), or scales the step of a complete GRU (Kumar et al.)."""

    def __post_init__(self) -> None:
        check(self)


@register("agru", AGRUConfig, "a GRU gated by the question's attention, in several passes", recipe=RECIPE)
class AttentionGRU(VectorReader):
    """A stack of attention GRU readers."""

    stage = "pass"
    embedding: Float[Tensor, "restart vocabulary dim"]
    attention_bilinear: Float[Tensor, "restart dim dim"]
    attention_plain: Float[Tensor, "restart 3 dim dim"]
    attention_compared: Float[Tensor, "restart four_dim dim"]
    attention_products: Float[Tensor, "restart 2 dim"]
    attention_bias: Float[Tensor, "restart dim"]
    attention_output: Float[Tensor, "restart dim 1"]
    attention_output_bias: Float[Tensor, "restart 1"]
    episode_input: Float[Tensor, "restart dim gates_dim"]
    episode_state: Float[Tensor, "restart dim gates_dim"]
    episode_bias: Float[Tensor, "restart 2 gates_dim"]
    memory_input: Float[Tensor, "restart dim three_dim"]
    memory_state: Float[Tensor, "restart dim three_dim"]
    memory_bias: Float[Tensor, "restart 2 three_dim"]

    def __init__(self, config: AGRUConfig, vocabulary: Vocabulary, head: HeadConfig, seeds: Seeds) -> None:
        super().__init__(seeds)
        self.config = config
        self._longest = vocabulary.longest_sentence
        d, uses = config.dimension, config.passes
        self.declare("embedding", (vocabulary.size, d), without_meaning(normal(0.5)))
        start = uniform(d**-0.5)
        self.declare("attention_bilinear", (d, d), start, decay_uses=uses)
        self.declare("attention_plain", (3, d, d), uniform((7 * d) ** -0.5), decay_uses=uses)
        self.declare("attention_compared", (4 * d, d), uniform((7 * d) ** -0.5), decay_uses=uses)
        self.declare("attention_products", (2, d), uniform((7 * d) ** -0.5), decay_uses=uses)
        self.declare("attention_bias", (d,), zeros, decay_uses=0)
        self.declare("attention_output", (d, 1), start, decay_uses=uses)
        self.declare("attention_output_bias", (1,), zeros, decay_uses=0)
        for cell, gates in (("episode", 2 if config.gate == "update" else 3), ("memory", 3)):
            self.declare(f"{cell}_input", (d, gates * d), uniform((2 * d) ** -0.5), decay_uses=uses)
            self.declare(f"{cell}_state", (d, gates * d), uniform((2 * d) ** -0.5), decay_uses=uses)
            self.declare(f"{cell}_bias", (2, gates * d), zeros, decay_uses=0)
        self.head = build_head(head, vocabulary, self, d)

    def trace(self, batch: TensorBatch) -> BatchTrace:
        """The attention of each pass, and how much of each sentence remains in its episode."""
        recorded: list[tuple[Tensor, Tensor]] = []
        memory = self.read(batch, recorded)
        layers = tuple(LayerTrace({"attention": g}, left_at_end(steps).mean(3)) for g, steps in recorded)
        return BatchTrace(layers, self.head.scores(self, memory, batch))

    def read(
        self, batch: TensorBatch, recorded: list[tuple[Tensor, Tensor]] | None = None
    ) -> Float[Tensor, "restart batch dim"]:
        """The memory after the last pass; of each pass, the attention and how far every unit of the state moved are
        appended to ``recorded``."""
        table = encode_sentences(self.embedding, batch.words, self._longest)
        facts = table[:, batch.stories.long()]
        q = table[:, batch.questions.long()]
        # The part that depends only on the facts is one product for all passes and steps.
        entering = torch.baddbmm(self.episode_bias[:, :1], table, self.episode_input)[:, batch.stories.long()]
        told = present(batch.lengths, facts.shape[2]).unsqueeze(2)
        memory = q
        for _ in range(self.config.passes):
            g = self._attention(facts, q, memory) * told
            moved: list[Tensor] = []
            episode = self._episode(entering, g, moved if recorded is not None else None)
            memory = self._remember(episode, memory)
            if recorded is not None:
                recorded.append((g, torch.stack(moved, dim=2) if moved else g))
        return memory

    def _attention(
        self,
        f: Float[Tensor, "restart batch time dim"],
        q: Float[Tensor, "restart batch dim"],
        m: Float[Tensor, "restart batch dim"],
    ) -> Float[Tensor, "restart batch time 1"]:
        """g = σ(W₂ tanh(W₁ z + b₁) + b₂), z = [f, m, q, f∘q, f∘m, |f-q|, |f-m|, fᵀW_b q, fᵀW_b m]."""
        of_fact, of_memory, of_question = self.attention_plain.unbind(1)
        hidden = torch.einsum("rbtd,rde->rbte", f, of_fact)
        hidden = hidden + (torch.baddbmm(self.attention_bias.unsqueeze(1), m, of_memory) + q @ of_question).unsqueeze(2)
        asked = torch.stack((q, m), dim=2)
        together = torch.cat(
            [f * q.unsqueeze(2), f * m.unsqueeze(2), (f - q.unsqueeze(2)).abs(), (f - m.unsqueeze(2)).abs()], dim=3
        )
        hidden = hidden + torch.einsum("rbtd,rde->rbte", together, self.attention_compared)
        products = torch.einsum("rbtd,rde,rbse->rbts", f, self.attention_bilinear, asked)
        hidden = torch.tanh(hidden + torch.einsum("rbts,rse->rbte", products, self.attention_products))
        score = torch.einsum("rbtd,rdo->rbto", hidden, self.attention_output)
        return torch.sigmoid(score + self.attention_output_bias[:, None, None])

    def _episode(
        self,
        entering: Float[Tensor, "restart batch time gates_dim"],
        g: Float[Tensor, "restart batch time 1"],
        moved: list[Tensor] | None,
    ) -> Float[Tensor, "restart batch dim"]:
        """The state after the last fact, from zero: h = g h̃ + (1 - g) h, or h = g GRU(f, h) + (1 - g) h; how far each
        fact moves it towards h̃, which is g or g (1 - z), is appended to ``moved``."""
        h = entering.new_zeros(*entering.shape[:2], self.config.dimension)
        bias = self.episode_bias[:, 1:]
        for step, attention in zip(entering.unbind(2), g.unbind(2), strict=True):
            candidate, kept = _gru_step(step, torch.baddbmm(bias, h, self.episode_state), h)
            if moved is not None:
                moved.append(attention.expand_as(h) if kept is None else attention * (1 - kept))
            h = torch.lerp(h, _moved(candidate, kept, h), attention)
        return h

    def _remember(
        self, episode: Float[Tensor, "restart batch dim"], memory: Float[Tensor, "restart batch dim"]
    ) -> Float[Tensor, "restart batch dim"]:
        """m = GRU(e, m)."""
        entering = torch.baddbmm(self.memory_bias[:, :1], episode, self.memory_input)
        carried = torch.baddbmm(self.memory_bias[:, 1:], memory, self.memory_state)
        return _moved(*_gru_step(entering, carried, memory), memory)


def _gru_step(
    x: Float[Tensor, "restart batch gates_dim"],
    u: Float[Tensor, "restart batch gates_dim"],
    h: Float[Tensor, "restart batch dim"],
) -> tuple[Float[Tensor, "restart batch dim"], Float[Tensor, "restart batch dim"] | None]:
    """h̃ = tanh(x + σ(reset) ∘ u), and the update gate z if there is one. Gates lie side by side, reset first."""
    gates_x, gates_u = x.split(h.shape[2], dim=2), u.split(h.shape[2], dim=2)
    new = torch.tanh(gates_x[-1] + torch.sigmoid(gates_x[0] + gates_u[0]) * gates_u[-1])
    return new, None if len(gates_x) == 2 else torch.sigmoid(gates_x[1] + gates_u[1])


def _moved(candidate: Tensor, kept: Tensor | None, h: Tensor) -> Float[Tensor, "restart batch dim"]:
    """(1 - z) h̃ + z h, or h̃ without an update gate."""
    return candidate if kept is None else torch.lerp(candidate, h, kept)
