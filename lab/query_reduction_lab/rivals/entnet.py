"""The Recurrent Entity Network (Henaff, Weston, Szlam, Bordes and LeCun, ICLR 2017), EntNet for short.

A few memory slots, each with a key, are updated by every sentence in parallel: a gate opens where a sentence is about a
slot's key or content. The question then looks at all slots once. Equations are the paper's; where the authors' code
differs (a bias in gate and candidate, one slope for all activations), the code is followed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import torch
from jaxtyping import Float
from torch import Tensor
from torch.autograd import Function
from torch.autograd.function import once_differentiable
from torch.nn import functional

from query_reduction.encoders.position import encode_masked
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
    ones,
    without_meaning,
    zeros,
)
from query_reduction.stacked.tensors import TensorBatch
from query_reduction.text.vocabulary import Vocabulary

__all__ = ["RECIPE", "EntNetConfig", "EntityNetwork"]

RECIPE: Mapping[str, Any] = {
    "optimiser": "adam",
    "learning_rate": 0.01,
    "halve_every": 15,
    "batch": 32,
    "batch_loss": "sum",
    "clip": 40.0,
    "l2": 0.0,
    "max_epochs": 60,
    "evaluate_every": 2,
    "patience": 20,
    "solved_epochs": 10,
    "memory": 70,
    "writing": "any",
}
"""The authors' training, but shorter: they train 200 epochs and halve the learning rate every 25. On development
questions of tasks 1 and 4 nothing changes after 45 of our epochs. On task 3 they read the last 130 sentences."""


@dataclass(frozen=True, slots=True)
class EntNetConfig:
    """The Recurrent Entity Network."""

    slots: Annotated[int, Between(1, 10_000)] = 20
    """Number of memory slots, each with a learned key."""
    dimension: Annotated[int, Between(1, 4096)] = 100
    """Size d of word vectors, keys and memories."""
    activation: Literal["prelu", "identity"] = "prelu"
    """φ of equations 3 and 5: a rectifier whose slope below zero is learned, or none."""
    normalise: bool = True
    """Normalise a memory to length 1 after each update, so that new content makes it forget the old."""

    def __post_init__(self) -> None:
        check(self)


@register("entnet", EntNetConfig, "the Recurrent Entity Network: gated memory slots with keys", recipe=RECIPE)
class EntityNetwork(VectorReader):
    """A stack of Recurrent Entity Networks."""

    embedding: Float[Tensor, "restart vocabulary dim"]
    story_mask: Float[Tensor, "restart position dim"]
    question_mask: Float[Tensor, "restart position dim"]
    keys: Float[Tensor, "restart slot dim"]
    gate_bias: Float[Tensor, "restart slot"]
    memory_weight: Float[Tensor, "restart dim dim"]
    sentence_weight: Float[Tensor, "restart dim dim"]
    key_weight: Float[Tensor, "restart dim dim"]
    candidate_bias: Float[Tensor, "restart dim"]
    slope: Float[Tensor, "restart 1"]
    output_weight: Float[Tensor, "restart dim dim"]

    def __init__(self, config: EntNetConfig, vocabulary: Vocabulary, head: HeadConfig, seeds: Seeds) -> None:
        super().__init__(seeds)
        self.config = config
        d, longest, start = config.dimension, vocabulary.longest_sentence, normal(0.1)
        self.declare("embedding", (vocabulary.size, d), without_meaning(start))
        # Where a word stands matters only as far as that is learned: the authors' code starts this mask at random, as
        # if every word were another one at every position.
        self.declare("story_mask", (longest, d), ones)
        self.declare("question_mask", (longest, d), ones)
        self.declare("keys", (config.slots, d), start)
        self.declare("gate_bias", (config.slots,), zeros, decay_uses=0)
        for name in ("memory_weight", "sentence_weight", "key_weight", "output_weight"):
            self.declare(name, (d, d), start)
        self.declare("candidate_bias", (d,), zeros, decay_uses=0)
        if config.activation == "prelu":
            self.declare("slope", (1,), ones, decay_uses=0)
        self.head = build_head(head, vocabulary, self, d, start)

    def read(self, batch: TensorBatch) -> Float[Tensor, "restart batch dim"]:
        """The vector the answer is read from."""
        return self._answer(self._question(batch), self._memories(batch))[0]

    def trace(self, batch: TensorBatch) -> BatchTrace:
        """The gates of all slots at every sentence, and how much of what the question found came from each sentence."""
        recorded: list[tuple[Tensor, Tensor]] = []
        vector, p = self._answer(self._question(batch), self._memories(batch, recorded))
        scores = self.head.scores(self, vector, batch)
        if not recorded:
            return BatchTrace((), scores)
        place = batch.lengths.argsort(descending=True, stable=True).argsort()
        gates, shares = (torch.stack(steps, dim=2)[:, place] for steps in zip(*recorded, strict=True))
        weights = torch.einsum("rbts,rbs->rbt", left_at_end(shares), p)
        return BatchTrace((LayerTrace({"slots": gates}, weights),), scores)

    def _question(self, batch: TensorBatch) -> Float[Tensor, "restart batch dim"]:
        """Equation 1: s = Σ_j f_j ∘ e_j, with the question's own mask f."""
        return encode_masked(self.embedding, self.question_mask, batch.words[batch.questions.long()])

    def _memories(
        self, batch: TensorBatch, recorded: list[tuple[Tensor, Tensor]] | None = None
    ) -> Float[Tensor, "restart batch slot dim"]:
        """The slots after each story's last sentence; each step's gates and shares of new content may be recorded."""
        # Longest stories first: those not yet finished are then at the front, and only they are computed.
        order = batch.lengths.argsort(descending=True, stable=True)
        stories = batch.stories.long()[order]
        counts = present(batch.lengths, stories.shape[1]).sum(0).tolist()
        table = encode_masked(self.embedding, self.story_mask, batch.words)
        # The part that does not depend on the memories is computed once per distinct sentence: s·w_j + b_j and V s + b.
        key_match = torch.baddbmm(self.gate_bias.unsqueeze(1), table, self.keys.transpose(1, 2))
        from_sentence = torch.baddbmm(self.candidate_bias.unsqueeze(1), table, self.sentence_weight)
        from_key = self.keys @ self.key_weight
        rows = [stories[:count, t] for t, count in enumerate(counts)]
        start = self.keys.unsqueeze(1).expand(-1, len(stories), -1, -1)
        told = torch.cat((table, key_match, from_sentence), dim=2)
        steps = told.index_select(1, torch.cat(rows)) if rows else told[:, :0]
        plain = self.config.activation == "identity"
        slope = self.keys.new_ones(len(self.keys)) if plain else self.slope.squeeze(1)
        weights = (self.memory_weight, from_key, slope)
        h: Tensor = _Updates.apply(start, steps, *weights, tuple(counts), self.config.normalise, recorded)  # type: ignore[no-untyped-call]
        return h.index_select(1, order.argsort())

    def _answer(
        self, q: Float[Tensor, "restart batch dim"], h: Float[Tensor, "restart batch slot dim"]
    ) -> tuple[Float[Tensor, "restart batch dim"], Float[Tensor, "restart batch slot"]]:
        """Equation 6 up to the answers' weights: p_j = softmax(q·h_j), u = Σ_j p_j h_j, φ(q + H u); and p."""
        p = (h @ q.unsqueeze(3)).squeeze(3).softmax(2)
        u = (p.unsqueeze(2) @ h).squeeze(2)
        return self._activate(torch.baddbmm(q, u, self.output_weight)), p

    def _activate(self, x: Tensor) -> Tensor:
        # PReLU has one slope per channel, the second dimension: here that is the restart.
        return x if self.config.activation == "identity" else torch.prelu(x.unsqueeze(0), self.slope.squeeze(1))[0]


_threshold_backward = torch.ops.aten.threshold_backward


class _Updates(Function):
    """The memories after each story's last sentence, with the gradient written out.

    ``told`` has what each sentence says, s, s·w_j + b_j and V s + b side by side, for all first sentences, then for all
    second ones, and so on; ``counts`` says how many there are of each.
    """

    @staticmethod
    def forward(
        ctx: Any,
        start: Tensor,
        told: Tensor,
        weight: Tensor,
        from_key: Tensor,
        slope: Tensor,
        counts: tuple[int, ...],
        normalise: bool,
        recorded: list[tuple[Tensor, Tensor]] | None,
    ) -> Tensor:
        """Equations 2 to 5 for one sentence after the other."""
        _, stories, slots, d = start.shape
        end = start.new_empty(start.shape)
        below = slope.view(-1, 1, 1)
        h, first, kept = start.contiguous(), 0, []
        for count in counts:
            if count < h.shape[1]:
                end[:, count : h.shape[1]] = h[:, count:]
                h = h[:, :count].contiguous()
            s, key_match, from_sentence = told[:, first : first + count].split((d, slots, d), dim=2)
            first += count
            # Equation 2: does the sentence speak of what this slot holds, or of its key?
            g = torch.einsum("rbsd,rbd->rbs", h, s).add_(key_match).sigmoid_()
            # Equation 3: what the slot would add, φ(U h + V s + W w).
            outside = (from_sentence.unsqueeze(2) + from_key.unsqueeze(1)).flatten(1, 2)
            pre = outside.baddbmm_(h.flatten(1, 2), weight)
            new = torch.lerp(torch.relu(pre), pre, below).view(h.shape)
            if recorded is not None:
                # How much of the updated memory is new, by norm: g|h̃| of |h| + g|h̃|.
                added = g * new.norm(dim=3)
                share = added / (added + h.norm(dim=3)).clamp(min=1e-12)
                after = (0, 0, 0, stories - count)
                recorded.append((functional.pad(g, after), functional.pad(share, after)))
            # Equations 4 and 5.
            before, h = h, torch.addcmul(h, g.unsqueeze(3), new)
            shrinking = g
            if normalise:
                shrinking = torch.linalg.vector_norm(h, dim=3).clamp_(min=1e-12).reciprocal_()
                h *= shrinking.unsqueeze(3)
            kept.append((before, g, pre, new, shrinking, h))
        end[:, : h.shape[1]] = h
        ctx.save_for_backward(told, weight, slope)
        ctx.kept, ctx.counts, ctx.normalise = kept, counts, normalise
        return end

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        """From the last sentence to the first."""
        told, weight, slope = ctx.saved_tensors
        restarts, _, slots, d = grad.shape
        turned, below = weight.transpose(1, 2), slope.view(-1, 1, 1)
        to_told, to_weight = torch.empty_like(told), torch.zeros_like(weight)
        to_key = grad.new_zeros(restarts, slots, d)
        to_slope = torch.zeros_like(slope)
        later, end = grad.clone(), told.shape[1]
        for count, (before, g, pre, new, shrinking, h) in zip(ctx.counts[::-1], ctx.kept[::-1], strict=True):
            dh = later[:, :count]
            s = told[:, end - count : end, :d]
            if ctx.normalise:
                # h = x/|x|: dx = (dh - h (h·dh)) / |x|
                along = torch.einsum("rbsd,rbsd->rbs", h, dh).unsqueeze(3)
                dh = torch.addcmul(dh, h, along, value=-1).mul_(shrinking.unsqueeze(3))
            dmatch = torch.einsum("rbsd,rbsd->rbs", new, dh).mul_(g).mul_(1 - g)
            dnew = (dh * g.unsqueeze(3)).flatten(1, 2)
            above = _threshold_backward(dnew, pre, 0)
            dpre = torch.lerp(above, dnew, below)
            to_slope += dnew.sub_(above).mul_(pre).sum((1, 2))
            to_weight.baddbmm_(before.flatten(1, 2).transpose(1, 2), dpre)
            by_slot = dpre.view(dh.shape)
            to_key += by_slot.sum(1)
            to_told[:, end - count : end] = torch.cat(
                (torch.einsum("rbs,rbsd->rbd", dmatch, before), dmatch, by_slot.sum(2)), dim=2
            )
            out = torch.baddbmm(dh.flatten(1, 2), dpre, turned).view(dh.shape)
            later[:, :count] = out.addcmul_(dmatch.unsqueeze(3), s.unsqueeze(2))
            end -= count
        return later, to_told, to_weight, to_key, to_slope, None, None, None
