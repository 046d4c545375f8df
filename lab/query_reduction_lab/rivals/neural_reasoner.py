"""The Neural Reasoner (Peng et al., "Towards Neural Network-based Reasoning", 2015): the question meets every fact in a
deep network, the resulting questions are pooled into one, and the next layer starts from that.

Facts have no order here. The encoder is also trained to preserve each sentence: a decoder reconstructs it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional

from query_reduction.heads.arrays import HeadConfig
from query_reduction.heads.stacked import build_head
from query_reduction.rivals.registry import register
from query_reduction.rivals.vector_reader import VectorReader
from query_reduction.settings import Between, check
from query_reduction.stacked.layers import GRU, Linear, at_end, look_up, present
from query_reduction.stacked.network import BatchTrace, LayerTrace, Seeds, normal, without_meaning
from query_reduction.stacked.tensors import TensorBatch
from query_reduction.text.vocabulary import NO_WORD, Vocabulary

__all__ = ["RECIPE", "NeuralReasoner", "NeuralReasonerConfig"]

RECIPE: Mapping[str, Any] = {
    "optimiser": "adam",
    "learning_rate": 0.002,
    "halve_every": 50,
    "batch": 32,
    "l2": 0.0,
    "clip": 5.0,
    "max_epochs": 100,
    "evaluate_every": 2,
    "patience": 40,
    "solved_epochs": 10,
}
"""A recipe of ours: the authors' settings are not known to us. On task 17 it took 16 epochs to leave a plateau."""


@dataclass(frozen=True, slots=True)
class NeuralReasonerConfig:
    """The Neural Reasoner."""

    layers: Annotated[int, Between(1, 64)] = 2
    """Reasoning layers."""
    depth: Annotated[int, Between(1, 16)] = 2
    """Layers of the network in which question and fact meet, in each reasoning layer."""
    dimension: Annotated[int, Between(1, 4096)] = 50
    """Size of word vectors, questions and facts."""
    pooling: Literal["max", "mean"] = "mean"
    """How the questions that met the facts are pooled into one. With the largest values task 17 was not learned."""
    retelling: Annotated[float, Between(0, 0.99)] = 0.1
    """The weight α of the reconstruction loss of question and facts; 0 leaves out the decoder."""

    def __post_init__(self) -> None:
        check(self)


class _Meeting(Linear):
    """One layer of the network in which question and fact meet."""

    def forward(self, x: Float[Tensor, "restart *rows in"]) -> Float[Tensor, "restart *rows out"]:
        """tanh(x W + b)."""
        return torch.tanh(super().forward(x))


@register(
    "neural-reasoner",
    NeuralReasonerConfig,
    "the Neural Reasoner: the question meets each fact, then pooling",
    recipe=RECIPE,
)
class NeuralReasoner(VectorReader):
    """A stack of Neural Reasoners."""

    embedding: Float[Tensor, "restart vocabulary dim"]

    def __init__(self, config: NeuralReasonerConfig, vocabulary: Vocabulary, head: HeadConfig, seeds: Seeds) -> None:
        super().__init__(seeds)
        self.config = config
        d = config.dimension
        self.declare("embedding", (vocabulary.size, d), without_meaning(normal(0.3)))
        self.encoder = GRU(seeds, d, d)
        # The facts that leave the last layer are not needed.
        self.meetings = nn.ModuleList(
            nn.Sequential(
                *(_Meeting(seeds, 2 * d, 2 * d) for _ in range(config.depth - 1)), _Meeting(seeds, 2 * d, out)
            )
            for out in (*[2 * d] * (config.layers - 1), d)
        )
        self.head = build_head(head, vocabulary, self, d)
        if config.retelling:
            self.decoder = GRU(seeds, d, d)
            self.teller = Linear(seeds, d, vocabulary.size)

    def losses(self, batch: TensorBatch) -> Float[Tensor, "restart batch"]:
        """(1 - α) times the cross-entropy of every correct answer, plus α times that of the reconstructed words."""
        table = self._encode(batch)
        losses = self.head.losses(self, self.reason(table, batch), batch)
        share = self.config.retelling
        return (1 - share) * losses + share * self._retelling(table, batch) if share else losses

    def _encode(self, batch: TensorBatch) -> Float[Tensor, "restart sentence dim"]:
        """The last state of a GRU over the words of every distinct sentence or question."""
        return at_end(self.encoder(look_up(self.embedding, batch.words)), (batch.words > 0).sum(1))

    def read(self, batch: TensorBatch) -> Float[Tensor, "restart batch dim"]:
        """The vector each answer is read from."""
        return self.reason(self._encode(batch), batch)

    def reason(
        self, table: Float[Tensor, "restart sentence dim"], batch: TensorBatch, recorded: list[Tensor] | None = None
    ) -> Float[Tensor, "restart batch dim"]:
        """The question after the last layer; each fact's share of it, layer by layer, is appended to ``recorded``."""
        facts = look_up(table, batch.stories)
        q = look_up(table, batch.questions)
        if facts.shape[2] == 0:
            return torch.zeros_like(q)
        inside = present(batch.lengths, facts.shape[2])
        for meeting in self.meetings:
            # [q_k; f_k] = DNN([q; f_k]) for every fact k.
            met = meeting(torch.cat((q.unsqueeze(2).expand_as(facts), facts), dim=3))
            d = self.config.dimension
            questions, facts = met[..., :d], met[..., d:]
            q, given = self._pool(questions, inside)
            if recorded is not None:
                recorded.append(given)
        return q

    def _pool(self, questions: Tensor, inside: Tensor) -> tuple[Tensor, Float[Tensor, "restart batch time"]]:
        """Many questions pooled into one, zero if there are none; and the share of its units taken from each fact."""
        if self.config.pooling == "mean":
            share = inside.to(questions.dtype) / inside.sum(1, keepdim=True).clamp(min=1)
            return torch.einsum("rbtd,bt->rbd", questions, share), share.expand(questions.shape[0], -1, -1)
        # tanh is above -1, so values past the end are never the largest.
        largest = questions.masked_fill(~inside[:, :, None], -1.0).max(dim=2)
        some = inside.any(1)[:, None]
        chosen = functional.one_hot(largest.indices, questions.shape[2]).to(questions.dtype).mean(2)
        return largest.values * some, chosen * some

    def _retelling(
        self, table: Float[Tensor, "restart sentence dim"], batch: TensorBatch
    ) -> Float[Tensor, "restart batch"]:
        """Cross-entropy of the words of question and facts given their vectors, averaged over the sentences."""
        words = batch.words.long()
        # The decoder sees the words before the one it must predict; after the last one it predicts the end.
        before = functional.pad(words, (1, 0))
        after = functional.pad(words, (0, 1), value=NO_WORD)
        said = self.teller(self.decoder(look_up(self.embedding, before), table))
        targets = after.expand(said.shape[0], -1, -1)
        by_word = functional.cross_entropy(said.permute(0, 3, 1, 2), targets, reduction="none")
        counted = present((words > 0).sum(1) + 1, after.shape[1])
        by_sentence = (by_word * counted).sum(2)
        inside = present(batch.lengths, batch.stories.shape[1])
        told = (by_sentence[:, batch.stories.long()] * inside).sum(2) + by_sentence[:, batch.questions.long()]
        return told / (batch.lengths + 1)

    @property
    def shows_reading(self) -> bool:
        """The mean takes as much from every fact, which tells nothing."""
        return self.config.pooling == "max"

    def trace(self, batch: TensorBatch) -> BatchTrace | None:
        """From which facts the pooling took the question, layer by layer."""
        if not self.shows_reading:
            return None
        recorded: list[Tensor] = []
        scores = self.head.scores(self, self.reason(self._encode(batch), batch, recorded), batch)
        return BatchTrace(tuple(LayerTrace({"pooled": given.unsqueeze(3)}, given) for given in recorded), scores)
