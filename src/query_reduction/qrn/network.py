"""The whole Query-Reduction Network on one page: QRN unit and stacked layers, between an encoder and a head.

Several restarts train as one: every parameter has a leading ``restart`` dimension (see ``stacked.network``). Equation
numbers are those of Seo et al., "Query-Reduction Networks for Question Answering", ICLR 2017. ``qrn.fused`` computes
the same in native code, and ``qrn.reader`` on arrays, for models in use; the code here is the reference that both must
match.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor

from query_reduction.encoders.stacked import build_encoder
from query_reduction.heads.arrays import HeadConfig
from query_reduction.heads.stacked import build_head
from query_reduction.qrn import decoder_training as decoder
from query_reduction.qrn.variants import QRNConfig, encoder_of, parse_variant, variant_name
from query_reduction.recurrence.scan import scan
from query_reduction.stacked.network import (
    Seeds,
    StackedNetwork,
    Start,
    normal,
    uniform,
    without_meaning,
    zeros,
)
from query_reduction.stacked.tensors import TensorBatch
from query_reduction.text.vocabulary import Vocabulary

__all__ = ["LayerGates", "QRNConfig", "QueryReductionNetwork", "parse_variant", "variant_name"]


@dataclass(frozen=True, slots=True)
class LayerGates:
    """What one layer of a stack did at every sentence."""

    update: Float[Tensor, "restart batch time gate"]
    reset_forward: Float[Tensor, "restart batch time gate"] | None
    reset_backward: Float[Tensor, "restart batch time gate"] | None
    candidate: Float[Tensor, "restart batch time dim"]
    """What the query would become."""
    reduced: Float[Tensor, "restart batch time dim"]
    """What the query became: the input to the next layer."""


class QueryReductionNetwork(StackedNetwork):
    """A stack of Query-Reduction Networks."""

    scan_backend = "associative"
    """How ``scan`` is computed: in plain PyTorch."""

    embedding: Float[Tensor, "restart vocabulary dim"]
    vectors: Float[Tensor, "restart vocabulary outside"]
    vector_projection: Float[Tensor, "restart outside dim"]
    mark_embedding: Float[Tensor, "restart mark dim"]
    order_in: Float[Tensor, "restart width dim dim"]
    order_bias: Float[Tensor, "restart dim"]
    order_out: Float[Tensor, "restart dim dim"]
    candidate_query: Float[Tensor, "restart layer dim dim"]
    candidate_sentence: Float[Tensor, "restart layer dim dim"]
    candidate_bias: Float[Tensor, "restart layer dim"]
    update_weight: Float[Tensor, "restart layer gate dim"]
    update_bias: Float[Tensor, "restart layer gate"]
    reset_weight: Float[Tensor, "restart layer 2 gate dim"]
    reset_bias: Float[Tensor, "restart layer 2 gate"]
    answer_weight: Float[Tensor, "restart answer dim"]
    answer_current: Float[Tensor, "restart word dim"]
    answer_match: Float[Tensor, "restart position 2 dim"]
    decoder_weight: Float[Tensor, "restart position vocabulary dim"]
    decoder_bias: Float[Tensor, "restart position vocabulary"]

    def __init__(self, config: QRNConfig, vocabulary: Vocabulary, head: HeadConfig, seeds: Seeds) -> None:
        super().__init__(seeds)
        self.config = config
        self.vocabulary = vocabulary
        d, tied, layers = config.dimension, config.tied, config.layers
        gate = d if config.vector_gates else 1
        own, uses = (1, layers) if tied else (layers, 1)
        starts = _STARTS[config.init](d, gate)
        embedding = without_meaning(starts["embedding"], seeds.rarity if config.init == "following" else None)
        self.encoder = build_encoder(encoder_of(config, vocabulary), self, embedding)
        self.declare("candidate_query", (own, d, d), starts["candidate_query"], decay_uses=uses)
        self.declare("candidate_sentence", (own, d, d), starts["candidate_sentence"], decay_uses=uses)
        self.declare("candidate_bias", (own, d), zeros, decay_uses=0)
        self.declare("update_weight", (own, gate, d), starts["update"], decay_uses=uses)
        self.declare("update_bias", (own, gate), zeros, decay_uses=0)
        self.head = build_head(head, vocabulary, self, d, starts["answer"])
        if config.reset_gate and layers > 1:
            own, uses = (1, layers - 1) if tied else (layers - 1, 1)
            # Two reset gates, forward and backward in time; z and the candidate are shared by both directions.
            self.declare("reset_weight", (own, 2, gate, d), starts["reset"], decay_uses=uses)
            self.declare("reset_bias", (own, 2, gate), zeros, decay_uses=0)
        if config.decode_questions:
            decoder.declare(self, vocabulary, d)
        self._stretch_in_training = config.gate_stretch

    def begin_epoch(self, epoch: int) -> None:
        """Gates are plain at first and then stretched step by step; development questions see them fully stretched."""
        since = max(epoch + 1 - self.config.plain_epochs, 0)
        share = min(since / (self.config.stretch_epochs + 1), 1.0)
        self._stretch_in_training = 1 + share * (self.config.gate_stretch - 1)

    @property
    def gate_stretch(self) -> float:
        """How far update gates are stretched now."""
        return self._stretch_in_training if self.training else self.config.gate_stretch

    def scores(self, batch: TensorBatch) -> Float[Tensor, "restart batch answer"]:
        """The score of every answer."""
        table = self.encode(batch.words)
        reduced = self.read(table, table[:, batch.questions.long()], batch.stories, batch.lengths)
        return self.head.scores(self, reduced, batch)

    def losses(self, batch: TensorBatch) -> Float[Tensor, "restart batch"]:
        """Cross-entropy of every correct answer, and of the question itself if it is decoded."""
        table = self.encode(batch.words)
        query = self.asked(table, batch.questions)
        losses = self.head.losses(self, self.read(table, query, batch.stories, batch.lengths), batch)
        if self.config.decode_questions:
            losses = losses + decoder.losses(self, query, batch.words[batch.questions.long()])
        return losses

    def encode(self, words: Int[Tensor, "sentence word"]) -> Float[Tensor, "restart sentence dim"]:
        """Sentence vectors; one encoder serves sentences and questions."""
        return self.encoder.encode(self, words)

    def asked(
        self, table: Float[Tensor, "restart sentence dim"], questions: Int[Tensor, "batch"]
    ) -> Float[Tensor, "restart batch dim"]:
        """The questions' rows of the table."""
        return table[:, questions.long()]

    def read(
        self,
        table: Float[Tensor, "restart sentence dim"],
        query: Float[Tensor, "restart batch dim"],
        stories: Int[Tensor, "batch time"],
        lengths: Int[Tensor, "batch"],
        recorded: list[LayerGates] | None = None,
    ) -> Float[Tensor, "restart batch dim"]:
        """Reduce each query over its story; the last layer's state at the last sentence is the answer vector."""
        if stories.shape[1] == 0:
            return torch.zeros_like(query)
        x = table[:, stories.long()]
        q = query.unsqueeze(2).expand(-1, -1, stories.shape[1], -1)
        for layer in range(self.config.layers):
            gates = self._layer(layer, x, q, lengths)
            q = gates.reduced
            if recorded is not None:
                recorded.append(gates)
        last = (lengths.long() - 1).clamp(min=0).view(1, -1, 1, 1).expand(q.shape[0], -1, 1, q.shape[3])
        return q.gather(2, last).squeeze(2)

    def _layer(
        self,
        layer: int,
        x: Float[Tensor, "restart batch time dim"],
        q: Float[Tensor, "restart batch time dim"],
        lengths: Int[Tensor, "batch"],
    ) -> LayerGates:
        own = 0 if self.config.tied else layer
        last = layer == self.config.layers - 1
        similarity = x * q
        # Equation 1: how much does this sentence matter to the query?
        z = torch.sigmoid(self.update_scores(layer, similarity))
        if self.gate_stretch != 1:
            z = (self.gate_stretch * z - (self.gate_stretch - 1) / 2).clamp(0, 1)
        # Equation 2: what would the query become?
        candidate = torch.tanh(
            torch.einsum("rbtd,rde->rbte", q, self.candidate_query[:, own])
            + torch.einsum("rbtd,rde->rbte", x, self.candidate_sentence[:, own])
            + self.candidate_bias[:, own, None, None]
        )
        reset: list[Tensor | None] = [None, None]
        if self.config.reset_gate and not last:
            # Equation 5, once per direction of time.
            scores = torch.einsum("rbtd,rsgd->srbtg", similarity, self.reset_weight[:, own])
            reset = list(torch.sigmoid(scores + self.reset_bias[:, own].transpose(0, 1)[:, :, None, None]).unbind(0))
        # Equations 3 and 6; equation 4 adds the two directions. The last layer only looks forward.
        reduced = self._reduce(z, reset[0], candidate, lengths, reverse=False)
        if not last:
            reduced = reduced + self._reduce(z, reset[1], candidate, lengths, reverse=True)
        return LayerGates(z, reset[0], reset[1], candidate, reduced)

    def update_scores(
        self, layer: int, similarity: Float[Tensor, "restart batch time dim"]
    ) -> Float[Tensor, "restart batch time gate"]:
        """Equation 1 before its sigmoid, given the products of sentence vectors and queries."""
        own = 0 if self.config.tied else layer
        products = torch.einsum("rbtd,rgd->rbtg", similarity, self.update_weight[:, own])
        return products + (self.update_bias[:, own] - self.config.forget_bias)[:, None, None]

    def _reduce(
        self, z: Tensor, reset: Tensor | None, candidate: Tensor, lengths: Tensor, *, reverse: bool
    ) -> Float[Tensor, "restart batch time dim"]:
        v = z * candidate if reset is None else z * reset * candidate
        stack, batch = v.shape[:2]
        h = scan(z.flatten(0, 1), v.flatten(0, 1), lengths.repeat(stack), reverse=reverse, backend=self.scan_backend)
        return h.view(stack, batch, *h.shape[1:])


def _original(d: int, gate: int) -> dict[str, Start]:
    candidate = uniform((2 * d) ** -0.5)
    return {
        "embedding": uniform(1.0),
        "candidate_query": candidate,
        "candidate_sentence": candidate,
        "update": uniform(1.0),
        "reset": uniform(1.0),
        "answer": uniform(d**-0.5),
    }


def _open(d: int, gate: int) -> dict[str, Start]:
    gates = uniform(d**-0.5)
    changes = {"embedding": uniform(0.5), "candidate_query": uniform(2 * d**-0.5), "update": gates, "reset": gates}
    return _original(d, gate) | changes


def _paper(d: int, gate: int) -> dict[str, Start]:
    # Glorot and Bengio: the variance is 2 / (fan in + fan out).
    candidate, gates = uniform((2 / (3 * d)) ** 0.5), uniform((2 / (d + gate)) ** 0.5)
    return {
        "embedding": normal(d**-0.5),
        "candidate_query": candidate,
        "candidate_sentence": candidate,
        "update": gates,
        "reset": gates,
        "answer": normal(d**-0.5),
    }


def _following(d: int, gate: int) -> dict[str, Start]:
    small: float = 0.1 * d**-0.5
    # One shared rare word moves a gate by about as much as the forget bias holds it shut, at any dimension.
    likeness = 75 / d

    def update(shape: tuple[int, ...], generator: torch.Generator) -> Tensor:
        noise: Tensor = torch.randn(shape, generator=generator)
        return noise.mul(0.1).add(1).mul(likeness)

    def sentence(shape: tuple[int, ...], generator: torch.Generator) -> Tensor:
        noise: Tensor = torch.randn(shape, generator=generator)
        return torch.eye(d) + small * noise

    return {
        "embedding": normal(0.5),
        "candidate_query": normal(small),
        "candidate_sentence": sentence,
        "update": update,
        "reset": normal(small),
        "answer": uniform(d**-0.5),
    }


_STARTS = {"original": _original, "open": _open, "paper": _paper, "following": _following}
