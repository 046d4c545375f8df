"""The Universal Transformer (Dehghani et al., ICLR 2019) as it reads stories: every sentence is one position, the
question the last one, and all positions are refined together by applying the same step repeatedly.

With halting (Graves, 2016, as listed in the paper's appendix) each position decides for itself after how many steps to
stop.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn import functional

from query_reduction.encoders.position import encode_masked
from query_reduction.errors import InputError
from query_reduction.heads.arrays import HeadConfig
from query_reduction.heads.stacked import build_head
from query_reduction.rivals.registry import register
from query_reduction.rivals.vector_reader import VectorReader
from query_reduction.settings import Between, check
from query_reduction.stacked.layers import LayerNorm, Linear, dropout, look_up, present
from query_reduction.stacked.network import (
    BatchTrace,
    LayerTrace,
    Seeds,
    normal,
    ones,
    without_meaning,
)
from query_reduction.stacked.tensors import TensorBatch
from query_reduction.text.vocabulary import Vocabulary

__all__ = ["RECIPE", "UTConfig", "UniversalTransformer"]

RECIPE: Mapping[str, Any] = {
    "optimiser": "adam",
    "learning_rate": 0.001,
    "halve_every": 20,
    "batch": 32,
    "l2": 0.0,
    "clip": 5.0,
    "max_epochs": 60,
    "evaluate_every": 2,
    "patience": 20,
    "solved_epochs": 10,
    "memory": 70,
    "writing": "any",
}
"""Feasible on two processor cores, unlike the published 100,000 steps of 4096 questions with 8000 warm-up steps."""


@dataclass(frozen=True, slots=True)
class UTConfig:
    """The Universal Transformer."""

    steps: Annotated[int, Between(1, 64)] = 6
    """Number of times the step is applied; with halting, the maximum number."""
    dimension: Annotated[int, Between(1, 4096)] = 64
    """Size of word vectors and positions."""
    heads: Annotated[int, Between(1, 64)] = 4
    """Attention heads; the dimension must be a multiple of them."""
    inner: Annotated[int, Between(1, 16384)] = 128
    """Units between the two layers of the transition function."""
    halting: bool = False
    """Let each position stop once its halting probabilities add up to the threshold."""
    threshold: Annotated[float, Between(0.01, 1)] = 0.99
    """The sum of halting probabilities at which a position stops."""
    ponder: Annotated[float, Between(0, 10)] = 0.01
    """Cost per step, added to the loss with halting."""
    dropout: Annotated[float, Between(0, 0.95)] = 0.1
    """Dropout rate of each sublayer's output."""
    signal: Annotated[float, Between(0, 100)] = 1.0
    """Scale of the position and step signals relative to a position's content; the paper uses 1."""
    count_from: Literal["start", "question"] = "start"
    """Positions are numbered from the start of the story, as in the paper, or back from the question."""
    answer_from: Literal["mean", "question"] = "question"
    """The answer is read from the mean of all positions, as in the paper, or from the question's position, which erred
    less on development questions of task 6."""

    normalise: Literal["after", "before"] = "before"
    """Layer normalisation after each sublayer's addition, as in the paper's equations, or before each sublayer and once
    at the end, as in its authors' code. A sentence's vector is a sum of words: unless it is normalised first, the first
    softmax is nearly a choice of one position, and it takes long to learn another."""

    def __post_init__(self) -> None:
        check(self)
        if self.dimension % self.heads:
            raise InputError(f"dimension must be a multiple of heads, not {self.dimension} with {self.heads} heads")


@dataclass(frozen=True, slots=True)
class _Layout:
    """Which positions there are: a row for each sentence and question of a batch, so that padding costs nothing."""

    inside: Bool[Tensor, "batch position"]
    """Where a story's positions stand when all stories are padded to the same length."""
    told: Bool[Tensor, "batch position"]
    """Those of them that are sentences of the story and not its question."""
    rows: Int[Tensor, "row"]
    """Each row's place among all batch · position ones."""
    story: Int[Tensor, "row"]
    """The story a row belongs to …"""
    place: Int[Tensor, "row"]
    """… and its place in it, from 0; the question follows the last sentence."""
    sentences: Int[Tensor, "row"]
    """The number of each row's sentence; questions are counted after all sentences."""
    asked: Int[Tensor, "batch"]
    """The row of each question."""
    hidden: Float[Tensor, "batch 1 1 position"]
    """Added to attention scores: nothing where a story has a position, and minus infinity in its padding."""

    @property
    def positions(self) -> int:
        """How many positions the longest story has, its question included."""
        return self.inside.shape[1]

    def spread(self, x: Float[Tensor, "restart row dim"]) -> Float[Tensor, "restart batch position dim"]:
        """Rows at their places among padding, which is 0."""
        restarts, _, d = x.shape
        padded = x.new_zeros(restarts, self.inside.numel(), d)
        return padded.index_copy(1, self.rows, x).view(restarts, *self.inside.shape, d)

    def mean(self, x: Float[Tensor, "restart row dim"]) -> Float[Tensor, "restart batch dim"]:
        """The mean over the positions of each story."""
        return self.spread(x).sum(2) / self.inside.sum(1, keepdim=True)


def _lay_out(batch: TensorBatch, dtype: torch.dtype) -> _Layout:
    time = batch.stories.shape[1]
    inside = present(batch.lengths + 1, time + 1)
    story, place = inside.nonzero(as_tuple=True)
    asked = inside.sum(1).cumsum(0) - 1
    sentences = functional.pad(batch.stories.long(), (0, 1))[story, place]
    sentences[asked] = len(batch.words) + batch.questions.long()
    rows = story * (time + 1) + place
    hidden = torch.zeros(inside.shape, dtype=dtype).masked_fill(~inside, -torch.inf)[:, None, None]
    return _Layout(inside, present(batch.lengths, time + 1), rows, story, place, sentences, asked, hidden)


@dataclass(frozen=True, slots=True)
class _Record:
    """What a trace keeps of every step."""

    attention: list[Float[Tensor, "restart batch position"]] = field(default_factory=list)
    """The question's attention to every position."""
    halted: list[Float[Tensor, "restart batch position"]] = field(default_factory=list)
    """With halting, the sum of the halting probabilities of every sentence …"""
    asking: list[Bool[Tensor, "restart batch"]] = field(default_factory=list)
    """… and whether the question had not halted before the step."""


@register(
    "ut", UTConfig, "the Universal Transformer: one step of self-attention over the sentences, repeated", recipe=RECIPE
)
class UniversalTransformer(VectorReader):
    """A stack of Universal Transformers."""

    stage = "step"
    embedding: Float[Tensor, "restart vocabulary dim"]
    story_mask: Float[Tensor, "restart place dim"]
    question_mask: Float[Tensor, "restart place dim"]
    halting_weight: Float[Tensor, "restart dim 1"]
    halting_bias: Float[Tensor, "restart 1"]

    def __init__(self, config: UTConfig, vocabulary: Vocabulary, head: HeadConfig, seeds: Seeds) -> None:
        super().__init__(seeds)
        self.config = config
        self.noisy = config.dropout > 0
        d, uses = config.dimension, config.steps
        self.declare("embedding", (vocabulary.size, d), without_meaning(normal(1.0)))
        self.declare("story_mask", (vocabulary.longest_sentence, d), ones, decay_uses=0)
        self.declare("question_mask", (vocabulary.longest_sentence, d), ones, decay_uses=0)
        self.query_key_value = Linear(seeds, d, 3 * d, bias=False, start=normal(d**-0.5), decay_uses=uses)
        self.heads_out = Linear(seeds, d, d, bias=False, decay_uses=uses)
        self.attention_norm = LayerNorm(seeds, d)
        self.transition_in = Linear(seeds, d, config.inner, decay_uses=uses)
        self.transition_out = Linear(seeds, config.inner, d, decay_uses=uses)
        self.transition_norm = LayerNorm(seeds, d)
        if config.normalise == "before":
            self.last_norm = LayerNorm(seeds, d)
        if config.halting:
            # A bias of 1 at the start, so that few steps are taken until more are needed.
            self.declare("halting_weight", (d, 1), normal(d**-0.5))
            self.declare("halting_bias", (1,), ones, decay_uses=0)
        self.head = build_head(head, vocabulary, self, d)

    def losses(self, batch: TensorBatch) -> Float[Tensor, "restart batch"]:
        """Cross-entropy of every correct answer, and with halting the cost of the steps."""
        vector, pondered = self.ponder(batch)
        losses = self.head.losses(self, vector, batch)
        return losses if pondered is None else losses + self.config.ponder * pondered

    def read(self, batch: TensorBatch) -> Float[Tensor, "restart batch dim"]:
        """The vector each answer is read from."""
        return self.ponder(batch)[0]

    def ponder(
        self, batch: TensorBatch, record: _Record | None = None
    ) -> tuple[Float[Tensor, "restart batch dim"], Float[Tensor, "restart batch"] | None]:
        """The answer vector, and with halting the pondering cost of each question."""
        layout = _lay_out(batch, self.embedding.dtype)
        state = look_up(self._table(batch.words), layout.sentences)
        places = layout.place
        if self.config.count_from == "question":
            places = batch.lengths.long()[layout.story] - places
        position = self._signal(places, state.dtype)
        pondered = None
        if self.config.halting:
            state, pondered = self._until_rest(state, position, layout, record)
        else:
            for step in range(self.config.steps):
                state = self._step(self._marked(state, position, step), layout, record)
        if self.config.answer_from == "question":
            state = state.index_select(1, layout.asked)
        if self.config.normalise == "before":
            state = self.last_norm(state)
        return state if self.config.answer_from == "question" else layout.mean(state), pondered

    def _table(self, words: Int[Tensor, "sentence word"]) -> Float[Tensor, "restart twice_sentence dim"]:
        """Every sentence as one of a story, then every sentence as a question."""
        masks = (self.story_mask, self.question_mask)
        return torch.cat([encode_masked(self.embedding, mask, words) for mask in masks], dim=1)

    def _marked(self, state: Tensor, position: Tensor, step: int) -> Tensor:
        """H + P^t: every step adds the signals of the position and of the step itself."""
        return state + position + self._signal(torch.tensor([step]), state.dtype)

    def _signal(self, places: Int[Tensor, "*shape"], dtype: torch.dtype) -> Float[Tensor, "*shape dim"]:
        return self.config.signal * waves(places, self.config.dimension, dtype)

    def _step(
        self, state: Float[Tensor, "restart row dim"], layout: _Layout, record: _Record | None
    ) -> Float[Tensor, "restart row dim"]:
        """A = LayerNorm(H + MultiHead(H)), then LayerNorm(A + Transition(A)), with the same weights at every step."""
        restarts, _, d = state.shape
        heads, first = self.config.heads, self.config.normalise == "before"
        entering = self.attention_norm(state) if first else state
        apart = layout.spread(self.query_key_value(entering)).view(-1, layout.positions, 3, heads, d // heads)
        query, key, value = apart.transpose(1, 3).unbind(2)  # (restart · batch) x head x position x part
        hidden = layout.hidden.repeat(restarts, 1, 1, 1)
        if record is not None:
            scored = (query * (d // heads) ** -0.5) @ key.transpose(2, 3) + hidden
            attention = scored.softmax(3).mean(1).view(restarts, -1, layout.positions)
            asking = attention.index_select(1, layout.rows[layout.asked])
            record.attention.append(asking * layout.told)
        together = functional.scaled_dot_product_attention(
            query, key, value, attn_mask=hidden.expand(-1, heads, layout.positions, -1)
        )
        together = together.transpose(1, 2).reshape(restarts, -1, d).index_select(1, layout.rows)
        attended = self.heads_out(together)
        a = state + self._drop(attended)
        a = a if first else self.attention_norm(a)
        transition = self.transition_out(torch.relu(self.transition_in(self.transition_norm(a) if first else a)))
        refined: Tensor = a + self._drop(transition)
        return refined if first else self.transition_norm(refined)

    def _until_rest(
        self, state: Tensor, position: Tensor, layout: _Layout, record: _Record | None
    ) -> tuple[Float[Tensor, "restart row dim"], Float[Tensor, "restart batch"]]:
        """Adaptive computation time: a halted position keeps its output, whatever the others do."""
        halted = state.new_zeros(state.shape[:2])
        remainders, updates = torch.zeros_like(halted), torch.zeros_like(halted)
        output = torch.zeros_like(state)
        for step in range(self.config.steps):
            running = halted < 1
            if not running.any():
                break
            marked = self._marked(state, position, step)
            wish = torch.einsum("rnd,rdo->rn", marked, self.halting_weight) + self.halting_bias
            p = torch.sigmoid(wish)
            resting = running & (halted + p > self.config.threshold)
            going_on = running & ~resting
            halted = halted + p * going_on
            remainders = remainders + (1 - halted) * resting
            halted = torch.where(resting, 1.0, halted)
            updates = updates + running
            weight = p * going_on + remainders * resting
            state = self._step(marked, layout, record)
            output = torch.lerp(output, state, weight.unsqueeze(2))
            if record is not None:
                record.halted.append(layout.spread(halted.unsqueeze(2)).squeeze(3) * layout.told)
                record.asking.append(running.index_select(1, layout.asked))
        return output, layout.mean((updates + remainders).unsqueeze(2)).squeeze(2)

    def _drop(self, x: Float[Tensor, "restart *rows dim"]) -> Float[Tensor, "restart *rows dim"]:
        return dropout(x, self.config.dropout, self.noise) if self.noisy and self.training else x

    def trace(self, batch: TensorBatch) -> BatchTrace:
        """The question's attention to each sentence at every step, averaged over the heads; with halting, also how far
        the sentence has halted: the sum of its halting probabilities, 1 once it has stopped. What the question attends
        to after it has halted changes no answer that is read from it, and has no weight."""
        record = _Record()
        scores = self.head.scores(self, self.ponder(batch, record)[0], batch)
        layers = []
        for step, attention in enumerate(record.attention):
            gates, weights = {"attention": attention[:, :, :-1].unsqueeze(3)}, attention[:, :, :-1]
            if self.config.halting:
                gates["halting"] = record.halted[step][:, :, :-1].unsqueeze(3)
                if self.config.answer_from == "question":
                    weights = weights * record.asking[step].unsqueeze(2)
            layers.append(LayerTrace(gates, weights))
        return BatchTrace(tuple(layers), scores)


def waves(places: Int[Tensor, "*shape"], dimension: int, dtype: torch.dtype) -> Float[Tensor, "*shape dim"]:
    """sin and cos of each position at wavelengths from 2π to 20000π (Vaswani et al., 2017), side by side."""
    pairs = (dimension + 1) // 2
    angle = places.unsqueeze(-1).to(dtype) * 10000.0 ** (-torch.arange(pairs, dtype=dtype) / pairs)
    return torch.cat((angle.sin(), angle.cos()), dim=-1)[..., :dimension]
