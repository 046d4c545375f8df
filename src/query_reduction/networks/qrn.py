"""The whole Query-Reduction Network on one page: position encoder, QRN unit, stacked layers; a head gives the answer.

Several restarts train as one: every parameter has a leading ``restart`` dimension (see ``protocol``). Equation numbers
are those of Seo et al., "Query-Reduction Networks for Question Answering", ICLR 2017. ``native.reader`` computes
``encode`` and ``read`` in one pass of native code; the code here is the reference it must match.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Annotated, Literal

import torch
from jaxtyping import Float, Int
from torch import Tensor

from query_reduction.data.batch import Batch
from query_reduction.data.vocabulary import Vocabulary
from query_reduction.native import reader as native_reader
from query_reduction.native.shape import Shape
from query_reduction.networks import decoder
from query_reduction.networks.contributions import LayerGates, read_weights
from query_reduction.networks.encoder import encode_sentences
from query_reduction.networks.heads import HeadConfig, build_head
from query_reduction.networks.protocol import (
    BatchTrace,
    LayerTrace,
    Seeds,
    StackedNetwork,
    Start,
    normal,
    uniform,
    without_meaning,
    zeros,
)
from query_reduction.networks.registry import register
from query_reduction.scan import scan
from query_reduction.settings import Between, check

__all__ = ["QRNConfig", "QueryReductionNetwork", "parse_variant", "variant_name"]

_DIMENSION = 50
"""The dimension of a network whose name does not give one."""


@dataclass(frozen=True, slots=True)
class QRNConfig:
    """The Query-Reduction Network."""

    layers: Annotated[int, Between(1, 64)] = 2
    """Number of stacked layers K."""
    dimension: Annotated[int, Between(1, 4096)] = _DIMENSION
    """Size d of sentence and query vectors."""
    reset_gate: bool = True
    """Reset gates in all layers but the last (equation 5)."""
    vector_gates: bool = False
    """One gate per unit instead of one per sentence."""
    tied: bool = True
    """Share the weights of all layers, as the paper does."""
    forget_bias: Annotated[float, Between(-100, 100)] = 2.5
    """Subtracted inside the update gate, so that it starts mostly closed."""
    gate_stretch: Annotated[float, Between(1, 10)] = 1.0
    """Stretch the range of update gates by this factor and clip it to 0 to 1, so that gates can be exactly shut: a gate
    that is merely small lets a little in, sentence by sentence, and a long story drowns what was read; 1 = as in the
    paper."""
    plain_epochs: Annotated[int, Between(0, 1_000_000)] = 0
    """Train with gates as in the paper for this many epochs: a gate that is exactly shut has no gradient."""
    stretch_epochs: Annotated[int, Between(0, 1_000_000)] = 0
    """After these, stretch gates a little more in each of so many epochs."""
    init: Literal["original", "paper", "open", "following"] = "original"
    """Initial weights: original = embeddings and gates uniform with standard deviation 1; paper = embeddings
    normal with standard deviation 1/sqrt(d), unit weights by Glorot and Bengio; open = as original, but embeddings
    with 0.5, gates with 1/sqrt(d) and the query's weights in a candidate with 2/sqrt(d), so that gates do not start
    shut or wide open and the question is not lost on its way through many layers; following = gates open where a
    sentence shares rare words with the query, and candidates are the sentence itself, so that the network starts by
    following shared words from sentence to sentence."""
    position_length: Literal["task", "sentence"] = "task"
    """The J of the position encoder: the longest sentence of the task (original) or the sentence's own length."""
    decode_questions: bool = False
    """Also learn to decode a question from its vector, so that reduced queries can be put into words (stories)."""

    def __post_init__(self) -> None:
        check(self)


_VARIANT = re.compile(r"(?P<layers>[1-9]\d?)(?P<reset>r?)(?P<vector>v?)(?:(?:d|(?<=[rv]))(?P<dimension>[1-9]\d{0,3}))?")


def parse_variant(name: str) -> QRNConfig | None:
    """The network the paper calls ``2r``, ``6r200``, ``2rv`` …: layers, r(eset), v(ector gates), dimension."""
    match = _VARIANT.fullmatch(name)
    if match is None:
        return None
    return QRNConfig(
        layers=int(match["layers"]),
        reset_gate=bool(match["reset"]),
        vector_gates=bool(match["vector"]),
        dimension=int(match["dimension"] or _DIMENSION),
    )


def variant_name(config: QRNConfig) -> str:
    """The paper's name of a network; the inverse of ``parse_variant``."""
    letters = "r" * config.reset_gate + "v" * config.vector_gates
    # A d keeps the dimension apart from the number of layers where no other letter does.
    dimension = "" if config.dimension == _DIMENSION else f"{'' if letters else 'd'}{config.dimension}"
    return f"{config.layers}{letters}{dimension}"


@register("qrn", QRNConfig, "the Query-Reduction Network of the paper", parse=parse_variant, show=variant_name)
class QueryReductionNetwork(StackedNetwork):
    """A stack of Query-Reduction Networks."""

    embedding: Float[Tensor, "restart vocabulary dim"]
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
        self.native = native_reader.available()
        self.scan_backend = "auto"
        d, tied, layers = config.dimension, config.tied, config.layers
        gate = d if config.vector_gates else 1
        own, uses = (1, layers) if tied else (layers, 1)
        starts = _STARTS[config.init](d, gate)
        embedding = without_meaning(starts["embedding"], seeds.rarity if config.init == "following" else None)
        self.declare("embedding", (vocabulary.size, d), embedding)
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
        self._shape = Shape(layers, d, tied, config.reset_gate, config.vector_gates, config.forget_bias)

    def use_native(self, wanted: bool) -> None:
        """See ``StackedNetwork``."""
        self.native = wanted and native_reader.available()
        self.scan_backend = "auto" if self.native else "associative"

    def begin_epoch(self, epoch: int) -> None:
        """Gates are plain at first and then stretched step by step; development questions see them fully stretched."""
        since = max(epoch + 1 - self.config.plain_epochs, 0)
        share = min(since / (self.config.stretch_epochs + 1), 1.0)
        self._stretch_in_training = 1 + share * (self.config.gate_stretch - 1)

    @property
    def gate_stretch(self) -> float:
        """How far update gates are stretched now."""
        return self._stretch_in_training if self.training else self.config.gate_stretch

    def scores(self, batch: Batch) -> Float[Tensor, "restart batch answer"]:
        """The score of every answer."""
        table = self.encode(batch.words)
        reduced = self.read(table, table[:, batch.questions.long()], batch.stories, batch.lengths)
        return self.head.scores(self, reduced, batch)

    def losses(self, batch: Batch) -> Float[Tensor, "restart batch"]:
        """Cross-entropy of every correct answer, and of the question itself if it is decoded."""
        table = self.encode(batch.words)
        query = table[:, batch.questions.long()]
        losses = self.head.losses(self, self.read(table, query, batch.stories, batch.lengths), batch)
        if self.config.decode_questions:
            losses = losses + decoder.losses(self, query, batch.words[batch.questions.long()])
        return losses

    def encode(self, words: Int[Tensor, "sentence word"]) -> Float[Tensor, "restart sentence dim"]:
        """Sentence vectors by the position encoder; one embedding serves sentences and questions."""
        longest = self.vocabulary.longest_sentence if self.config.position_length == "task" else 0
        if self.native and native_reader.supports(self.embedding):
            return native_reader.encode(self.embedding, words, longest)
        return encode_sentences(self.embedding, words, longest)

    def read(
        self,
        table: Float[Tensor, "restart sentence dim"],
        query: Float[Tensor, "restart batch dim"],
        stories: Int[Tensor, "batch time"],
        lengths: Int[Tensor, "batch"],
        recorded: list[LayerGates] | None = None,
    ) -> Float[Tensor, "restart batch dim"]:
        """Reduce each query over its story; the last layer's state at the last sentence is the answer vector."""
        if recorded is None and self.native and native_reader.supports(table):
            weights = dict(self.named_parameters())
            shape = replace(self._shape, gate_stretch=self.gate_stretch)
            return native_reader.read(shape, weights, table, query, stories, lengths)
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
        z = torch.sigmoid(
            torch.einsum("rbtd,rgd->rbtg", similarity, self.update_weight[:, own])
            + (self.update_bias[:, own] - self.config.forget_bias)[:, None, None]
        )
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

    def _reduce(
        self, z: Tensor, reset: Tensor | None, candidate: Tensor, lengths: Tensor, *, reverse: bool
    ) -> Float[Tensor, "restart batch time dim"]:
        v = z * candidate if reset is None else z * reset * candidate
        stack, batch = v.shape[:2]
        h = scan(z.flatten(0, 1), v.flatten(0, 1), lengths.repeat(stack), reverse=reverse, backend=self.scan_backend)
        return h.view(stack, batch, *h.shape[1:])

    def trace(self, batch: Batch) -> BatchTrace:
        """Gates, candidates, reduced queries, and how much of the answer was read from each sentence."""
        recorded: list[LayerGates] = []
        table = self.encode(batch.words)
        query = table[:, batch.questions.long()]
        reduced = self.read(table, query, batch.stories, batch.lengths, recorded)
        layers = tuple(
            LayerTrace(layer.named(), weights, layer.candidate, layer.reduced)
            for layer, weights in zip(recorded, read_weights(recorded, batch.lengths), strict=True)
        )
        so_far = None
        if recorded:
            states = recorded[-1].reduced
            so_far = self.head.scores(self, states.flatten(1, 2), None).unflatten(1, states.shape[1:3])
        in_words = None
        if self.config.decode_questions:
            in_words = decoder.InWords(self, self.vocabulary, query, tuple(recorded), batch.lengths)
        return BatchTrace(layers, self.head.scores(self, reduced, batch), so_far, in_words)


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
