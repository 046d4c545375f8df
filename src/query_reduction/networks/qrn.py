"""The whole network on one page: position encoder, QRN unit, stacked layers; ``heads`` gives the answer.

Several restarts of one network train as one: every parameter has a leading ``restart`` dimension, and nothing
ever mixes restarts. A single network is a stack of one. Equation numbers are those of Seo et al., "Query-Reduction
Networks for Question Answering", ICLR 2017. ``fused_reader`` computes ``read`` in one pass of native code; the code
here is what it must equal.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from query_reduction.config import ModelConfig
from query_reduction.data.batch import Batch
from query_reduction.data.vocabulary import Vocabulary
from query_reduction.native import reader as fused_reader
from query_reduction.networks import decoder
from query_reduction.networks.heads import build_head
from query_reduction.scan import scan

__all__ = ["LayerTrace", "QueryReductionNetwork", "position_weights"]


@dataclass(frozen=True, slots=True)
class LayerTrace:
    """What one layer did at every sentence: gates, candidate, and the reduced query handed on."""

    update: Float[Tensor, "restart batch time gate"]
    reset_forward: Float[Tensor, "restart batch time gate"] | None
    reset_backward: Float[Tensor, "restart batch time gate"] | None
    candidate: Float[Tensor, "restart batch time dim"]
    reduced: Float[Tensor, "restart batch time dim"]


def position_weights(
    words: Int[Tensor, "sentence word"], dimension: int, longest: int, dtype: torch.dtype
) -> Float[Tensor, "sentence word dim"]:
    """l_kj = (1 - k/d) + (j/J)(2k/d - 1), k and j from 1; ``longest`` is J, or 0 for each sentence's own length."""
    present = words > 0
    j = torch.arange(1, words.shape[1] + 1, device=words.device, dtype=dtype)
    length = present.sum(1, keepdim=True).clamp(min=1) if longest == 0 else longest
    k = torch.arange(1, dimension + 1, device=words.device, dtype=dtype) / dimension
    weights = (1 - k) + (j / length).unsqueeze(-1) * (2 * k - 1)
    return weights * present.unsqueeze(-1)


class QueryReductionNetwork(nn.Module):
    """A stack of ``len(restarts)`` networks that read the same batches, each with weights of its own."""

    def __init__(
        self,
        config: ModelConfig,
        vocabulary_size: int,
        answer_count: int,
        *,
        longest_sentence: int,
        vocabulary: Vocabulary | None = None,
        restarts: Sequence[int] = (0,),
        seed: int = 0,
    ) -> None:
        super().__init__()
        self.config = config
        self.longest_sentence = longest_sentence
        self.fused = fused_reader.available()
        self.scan_backend = "associative"
        self._shape = fused_reader.Shape(
            config.layers,
            config.dimension,
            config.tied,
            config.reset_gate,
            config.vector_gates,
            config.forget_bias,
        )
        self.head = build_head(config, answer_count, vocabulary)
        d = config.dimension
        gate = d if config.vector_gates else 1
        own = 1 if config.tied else config.layers
        shapes = {
            "embedding": (vocabulary_size, d),
            "candidate_query": (own, d, d),
            "candidate_sentence": (own, d, d),
            "candidate_bias": (own, d),
            "update_weight": (own, gate, d),
            "update_bias": (own, gate),
            **self.head.shapes(d),
        }
        if config.reset_gate and config.layers > 1:
            own_reset = 1 if config.tied else config.layers - 1
            # Two reset gates, forward and backward in time; z and the candidate are shared by both directions.
            shapes |= {"reset_weight": (own_reset, 2, gate, d), "reset_bias": (own_reset, 2, gate)}
        if config.decode_questions:
            shapes |= decoder.shapes(longest_sentence, vocabulary_size, d)
        stacks: dict[str, list[Tensor]] = {name: [] for name in shapes}
        for restart in restarts:
            generator = torch.Generator().manual_seed(int(np.random.SeedSequence((seed, restart)).generate_state(1)[0]))
            for name, shape in shapes.items():
                stacks[name].append(_initial(name, shape, config, generator))
        for name, stack in stacks.items():
            self.register_parameter(name, nn.Parameter(torch.stack(stack)))

    # Named here for the type checker; registered above.
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

    def forward(self, batch: Batch) -> Float[Tensor, "restart batch answer"]:
        """Scores of every answer."""
        return self.score(self.reduce(batch), batch)

    def losses(self, batch: Batch) -> Float[Tensor, "restart batch"]:
        """Cross entropy of every right answer, and of the question itself where it is to be decoded."""
        table = self.encode(batch.words)
        query = table[:, batch.questions.long()]
        losses = self.head.losses(self, self.read(table, query, batch.stories, batch.lengths), batch)
        if self.config.decode_questions:
            words = batch.words[batch.questions.long()]
            losses = losses + decoder.losses(self, query, words)
        return losses

    def reduce(self, batch: Batch) -> Float[Tensor, "restart batch dim"]:
        """The answer vector: every question reduced over its story."""
        table = self.encode(batch.words)
        return self.read(table, table[:, batch.questions.long()], batch.stories, batch.lengths)

    def encode(self, words: Int[Tensor, "sentence word"]) -> Float[Tensor, "restart sentence dim"]:
        """Sentence vectors by the position encoder; one embedding serves sentences and questions."""
        longest = self.longest_sentence if self.config.position_length == "task" else 0
        if self.fused and fused_reader.supports(self.embedding):
            return fused_reader.encode(self.embedding, words, longest)
        weights = position_weights(words, self.config.dimension, longest, self.embedding.dtype)
        return (self.embedding[:, words.long()] * weights).sum(2)

    def read(
        self,
        table: Float[Tensor, "restart sentence dim"],
        query: Float[Tensor, "restart batch dim"],
        stories: Int[Tensor, "batch time"],
        lengths: Int[Tensor, "batch"],
        trace: list[LayerTrace] | None = None,
    ) -> Float[Tensor, "restart batch dim"]:
        """Reduce each query over its story; the last layer's state at the last sentence is the answer vector."""
        if trace is None and self.fused and fused_reader.supports(table):
            return fused_reader.read(self._shape, dict(self.named_parameters()), table, query, stories, lengths)
        x = table[:, stories.long()]
        q = query.unsqueeze(2).expand(-1, -1, stories.shape[1], -1)
        for layer in range(self.config.layers):
            q = self._layer(layer, x, q, lengths, trace)
        last = (lengths.long() - 1).clamp(min=0).view(1, -1, 1, 1).expand(q.shape[0], -1, 1, q.shape[3])
        if stories.shape[1] == 0:
            return torch.zeros_like(query)
        return q.gather(2, last).squeeze(2)

    def score(
        self, reduced: Float[Tensor, "restart batch dim"], batch: Batch | None = None
    ) -> Float[Tensor, "restart batch answer"]:
        """Scores of every answer from answer vectors; match features count only if the stories are given, too."""
        return self.head.scores(self, reduced, batch)

    def _layer(
        self,
        layer: int,
        x: Float[Tensor, "restart batch time dim"],
        q: Float[Tensor, "restart batch time dim"],
        lengths: Int[Tensor, "batch"],
        trace: list[LayerTrace] | None,
    ) -> Float[Tensor, "restart batch time dim"]:
        own = 0 if self.config.tied else layer
        last = layer == self.config.layers - 1
        similarity = x * q
        # Equation 1: how much does this sentence matter to the query?
        z = torch.sigmoid(
            torch.einsum("rbtd,rgd->rbtg", similarity, self.update_weight[:, own])
            + (self.update_bias[:, own] - self.config.forget_bias)[:, None, None]
        )
        # Equation 2: what would the query become?
        candidate = torch.tanh(
            torch.einsum("rbtd,rde->rbte", q, self.candidate_query[:, own])
            + torch.einsum("rbtd,rde->rbte", x, self.candidate_sentence[:, own])
            + self.candidate_bias[:, own, None, None]
        )
        reset: list[Tensor | None] = [None, None]
        if self.config.reset_gate and not last:
            # Equation 5, once for each direction of time.
            scores = torch.einsum("rbtd,rsgd->srbtg", similarity, self.reset_weight[:, own])
            reset = list(torch.sigmoid(scores + self.reset_bias[:, own].transpose(0, 1)[:, :, None, None]).unbind(0))
        # Equations 3 and 6; equation 4 adds the two directions. The last layer only looks forward.
        reduced = self._reduce(z, reset[0], candidate, lengths, reverse=False)
        if not last:
            reduced = reduced + self._reduce(z, reset[1], candidate, lengths, reverse=True)
        if trace is not None:
            trace.append(LayerTrace(z, reset[0], reset[1], candidate, reduced))
        return reduced

    def _reduce(
        self, z: Tensor, reset: Tensor | None, candidate: Tensor, lengths: Tensor, *, reverse: bool
    ) -> Float[Tensor, "restart batch time dim"]:
        v = z * candidate if reset is None else z * reset * candidate
        stack, batch = v.shape[:2]
        h = scan(
            z.flatten(0, 1),
            v.flatten(0, 1),
            lengths.repeat(stack),
            reverse=reverse,
            backend=self.scan_backend,
        )
        return h.view(stack, batch, *h.shape[1:])


def _initial(name: str, shape: tuple[int, ...], config: ModelConfig, generator: torch.Generator) -> Tensor:
    """Initial weights of one parameter. Word 0 (no word) and word 1 (an unknown word) have no meaning: zero."""
    if name.endswith("bias") or name.startswith("decoder"):
        return torch.zeros(shape)
    spread = _standard_deviation(name, shape, config)
    if config.init == "paper" and name.startswith(("embedding", "answer")):
        weight = torch.randn(shape, generator=generator) * spread
    else:
        weight = (torch.rand(shape, generator=generator) * 2 - 1) * (math.sqrt(3) * spread)
    if name == "embedding":
        weight[:2] = 0
    return weight


def _standard_deviation(name: str, shape: tuple[int, ...], config: ModelConfig) -> float:
    d = config.dimension
    if name.startswith("answer"):
        return 1 / math.sqrt(d)
    if config.init == "paper":
        if name == "embedding":
            return 1 / math.sqrt(d)
        fan_in, fan_out = (2 * d, d) if name.startswith("candidate") else (d, shape[-2])
        return math.sqrt(2 / (fan_in + fan_out))
    opened = config.init == "open"
    if name == "embedding":
        return 0.5 if opened else 1.0
    if name == "candidate_query" and opened:
        return 2 / math.sqrt(d)
    if name.startswith("candidate"):
        return 1 / math.sqrt(2 * d)
    return 1 / math.sqrt(d) if opened else 1.0
