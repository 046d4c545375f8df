"""The Differentiable Neural Computer (Graves et al., "Hybrid computing using a neural network with dynamic external
memory", Nature 2016): an LSTM reads word by word and writes to, and reads from, a memory that it addresses by content,
by what is free, and by the order of writing. Names and symbols are those of the paper's methods.

The changes of Franke et al. ("Robust and Scalable Differentiable Neural Computer for Question Answering", 2018) are
settings: no temporal links, normalised control of the memory, and dropout on the way that bypasses it. Here a question
is a sequence of its own, its story's words and then its own, with marks where sentences end and where the answer is
due; the paper asks all questions of a story in one sequence.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Annotated, Any, NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn import functional

from query_reduction.heads.arrays import HeadConfig
from query_reduction.heads.stacked import build_head
from query_reduction.rivals.recurrent import to_front
from query_reduction.rivals.registry import register
from query_reduction.rivals.vector_reader import VectorReader
from query_reduction.settings import Between, check
from query_reduction.stacked.layers import LayerNorm, Linear, dropout, glorot, look_up, present
from query_reduction.stacked.network import Seeds, normal, without_meaning, zeros
from query_reduction.stacked.tensors import TensorBatch
from query_reduction.text.vocabulary import Vocabulary
from query_reduction_lab.rivals.shared_stories import story_lines

__all__ = ["RECIPE", "DNCConfig", "DifferentiableNeuralComputer"]

RECIPE: Mapping[str, Any] = {
    "optimiser": "adam",
    "learning_rate": 0.003,
    "halve_every": 20,
    "batch": 80,
    "l2": 0.0,
    "clip": 10.0,
    "max_epochs": 40,
    "evaluate_every": 1,
    "patience": 12,
    "solved_epochs": 2,
}
"""The sizes and the clipping of Franke et al. for a single task; Adam with a larger learning rate in place of their
RMSProp, and about half their epochs."""

_LEAST = 1e-6
"""Keeps norms and usages away from zero, where their gradients are undefined."""


@dataclass(frozen=True, slots=True)
class DNCConfig:
    """The Differentiable Neural Computer."""

    dimension: Annotated[int, Between(1, 4096)] = 64
    """Units of the controller."""
    word_dimension: Annotated[int, Between(1, 4096)] = 32
    """Size of word vectors."""
    slots: Annotated[int, Between(1, 4096)] = 128
    """Rows N of the memory; before it has learned what to keep, it writes every word to a row of its own."""
    width: Annotated[int, Between(1, 4096)] = 32
    """Size W of a row."""
    heads: Annotated[int, Between(1, 64)] = 2
    """Read heads R."""
    links: bool = True
    """Temporal links: heads may move to the row written after, or before, the one they read last."""
    normalised: bool = False
    """Layer normalisation of the controller's interface to the memory."""
    bypass_dropout: Annotated[float, Between(0, 0.95)] = 0.0
    """Dropout rate of the controller's direct contribution to the output, so that the memory is used."""

    def __post_init__(self) -> None:
        check(self)


class _State(NamedTuple):
    """The controller and its memory between two words."""

    cell: Float[Tensor, "restart batch dim"]
    output: Float[Tensor, "restart batch reads_and_dim"]
    """What the heads read, and the controller's own output h."""
    rows: Float[Tensor, "restart batch slot width"]
    shrinking: Float[Tensor, "restart batch 1 slot"]
    """1 over the norm of each row, needed for reading in this step and writing in the next."""
    usage: Float[Tensor, "restart batch slot"]
    writing: Float[Tensor, "restart batch slot"]
    """The last write weighting w^w."""
    reading: Float[Tensor, "restart batch head slot"]
    """The last read weightings w^r."""
    precedence: Float[Tensor, "restart batch slot"]
    links: Float[Tensor, "restart batch slot slot"]
    """The degree to which row i was written right after row j."""

    def first(self, count: int) -> _State:
        """The states of the first sequences."""
        return self if count == self.cell.shape[1] else _State(*(part[:, :count].contiguous() for part in self))

    def at(self, sequences: Int[Tensor, "sequence"]) -> _State:
        """The states of some sequences."""
        return _State(*(part.index_select(1, sequences) for part in self))


@register("dnc", DNCConfig, "the Differentiable Neural Computer: an LSTM with a memory, word by word", recipe=RECIPE)
class DifferentiableNeuralComputer(VectorReader):
    """A stack of Differentiable Neural Computers."""

    shares_stories = True
    embedding: Float[Tensor, "restart vocabulary word_dim"]
    input_weight: Float[Tensor, "restart word_dim four_dim"]
    state_weight: Float[Tensor, "restart reads_and_dim four_dim"]
    bias: Float[Tensor, "restart four_dim"]

    def __init__(self, config: DNCConfig, vocabulary: Vocabulary, head: HeadConfig, seeds: Seeds) -> None:
        super().__init__(seeds)
        self.config = config
        self.noisy = config.bypass_dropout > 0
        d, reads = config.dimension, config.heads * config.width
        # Three marks beside the words: a sentence ends, a question ends, answer now.
        self._marks = range(vocabulary.size, vocabulary.size + 3)
        # Words that are far apart: with vectors of a seventh of this length the memory was not learned.
        self.declare("embedding", (vocabulary.size + 3, config.word_dimension), without_meaning(normal(2.0)))
        # Input, forget and output gate and candidate of the LSTM, side by side.
        inputs = config.word_dimension + reads + d
        self.declare("input_weight", (config.word_dimension, 4 * d), glorot(inputs, d))
        self.declare("state_weight", (reads + d, 4 * d), glorot(inputs, d))
        self.declare("bias", (4 * d,), zeros, decay_uses=0)
        # Keys and strengths of the write head and the read heads, write and erase vectors, gates, read modes.
        keys = 1 + config.heads
        self._sizes = [keys * config.width, keys, config.width, config.width, config.heads, 1, 1]
        if config.links:
            self._sizes.append(3 * config.heads)
        self.interface = Linear(seeds, d, sum(self._sizes))
        if config.normalised:
            self.interface_norm = LayerNorm(seeds, sum(self._sizes))
        # W_y h + W_r [r^1; …; r^R] is one product with both side by side.
        self.head = build_head(head, vocabulary, self, d + reads)

    def read(self, batch: TensorBatch) -> Float[Tensor, "restart batch out"]:
        """The controller's output and what the heads read, after each question's last word.

        A story is read once for all of its questions in the batch; each goes on from where it is asked.
        """
        full_stop, question_mark, answer_now = self._marks
        told = _ended(batch.words.long(), full_stop)
        asked = _ended(_ended(batch.words[batch.questions.long()].long(), question_mark), answer_now)
        whole, begins = story_lines(batch)
        inside = present(batch.lengths, batch.stories.shape[1])
        # How many words each question's story has, full stops included.
        heard = ((told > 0).sum(1)[batch.stories.long()] * inside).sum(1)
        stories = (told[batch.stories[whole].long()] * inside[whole].unsqueeze(2)).flatten(1)
        state = self._follow(to_front(stories)[0], self._empty(len(whole)), begins, heard)
        state = self._follow(asked, state, torch.arange(len(asked)), (asked > 0).sum(1))
        reads, h = state.output.split((self.config.heads * self.config.width, self.config.dimension), dim=2)
        if self.noisy and self.training:
            h = dropout(h, self.config.bypass_dropout, self.noise)
        return torch.cat((h, reads), dim=2)

    def _follow(
        self,
        words: Int[Tensor, "sequence time"],
        state: _State,
        sequence: Int[Tensor, "wanted"],
        after: Int[Tensor, "wanted"],
    ) -> _State:
        """Read sequences of words on from a state each; and the states of ``sequence`` after so many words of it."""
        lengths = (words > 0).sum(1)
        # The longest first, so that at every step those still to be read stand side by side.
        order = lengths.argsort(descending=True, stable=True)
        reading = (lengths.unsqueeze(1) > torch.arange(words.shape[1])).sum(0).tolist()
        chronological = after.argsort(stable=True)
        wanted = order.argsort()[sequence[chronological]].split(after.bincount(minlength=len(reading) + 1).tolist())
        # There are far fewer words than steps: each is projected once.
        projected = torch.baddbmm(self.bias.unsqueeze(1), self.embedding, self.input_weight)
        steps = look_up(projected, words[order].T).unbind(1)
        state = state.at(order)
        taken = [state.at(wanted[0])]
        for step, left, here in zip(steps, reading, wanted[1:], strict=True):
            if not left:
                break
            state = self._step(step[:, :left], state.first(left))
            if len(here):
                taken.append(state.at(here))
        back = chronological.argsort()
        return _State(*(torch.cat(parts, dim=1).index_select(1, back) for parts in zip(*taken, strict=True)))

    def _step(self, word: Float[Tensor, "restart sequence four_dim"], state: _State) -> _State:
        """The controller, an LSTM that sees the word and what was read before, then the memory."""
        i, f, o, n = torch.baddbmm(word, state.output, self.state_weight).chunk(4, dim=2)
        cell = torch.addcmul(torch.sigmoid(f + 1) * state.cell, torch.sigmoid(i), torch.tanh(n))
        h = torch.sigmoid(o) * torch.tanh(cell)
        return self._access(state._replace(cell=cell), h)

    def _empty(self, sequences: int) -> _State:
        c, stack = self.config, (len(self.embedding), sequences)

        def none(*shape: int) -> Tensor:
            return self.embedding.new_zeros(*stack, *shape)

        rows = none(c.slots, c.width)
        links = none(c.slots, c.slots) if c.links else none(0, 0)
        reads = none(c.heads * c.width + c.dimension)
        usage, reading = none(c.slots), none(c.heads, c.slots)
        return _State(none(c.dimension), reads, rows, _shrinking(rows), usage, usage, reading, usage, links)

    def _access(self, memory: _State, h: Float[Tensor, "restart batch dim"]) -> _State:
        """Write once, then read with every head."""
        c = self.config
        told = self.interface(h)
        parts = (self.interface_norm(told) if c.normalised else told).split(self._sizes, dim=2)
        keys, write_vector, erase = _sharpened(parts[0], parts[1]), parts[2].unsqueeze(2), parts[3].unsqueeze(2)
        free, allocation_gate, write_gate = (torch.sigmoid(part) for part in parts[4:7])

        # ψ = Π_i (1 - f^i w^{r,i}): what no head frees; u = (u + w^w - u ∘ w^w) ∘ ψ.
        retention = reduce(torch.mul, (1 - free.unsqueeze(3) * memory.reading).unbind(2))
        usage = (memory.usage + memory.writing * (1 - memory.usage)) * retention
        # w^w = g^w (g^a a + (1 - g^a) c^w)
        found = _by_content(memory.rows, memory.shrinking, keys[:, :, :1]).squeeze(2)
        writing = write_gate * torch.lerp(found, _allocation(usage), allocation_gate)
        # M = M ∘ (1 - w^w e^T) + w^w v^T
        place = writing.unsqueeze(3)
        rows = torch.addcmul(memory.rows, place, write_vector - memory.rows * torch.sigmoid(erase))

        shrinking = _shrinking(rows)
        reading = _by_content(rows, shrinking, keys[:, :, 1:])
        links, precedence = memory.links, memory.precedence
        if c.links:
            # L_ij = (1 - w_i - w_j) L_ij + w_i p_j, none from a row to itself; p = (1 - Σ w) p + w.
            following = (place * precedence.unsqueeze(2)) * (1 - torch.eye(c.slots, dtype=rows.dtype))
            links = torch.addcmul(following, (1 - place) - writing.unsqueeze(2), links)
            precedence = torch.addcmul(writing, 1 - writing.sum(2, keepdim=True), precedence)
            # w^r = π_1 b + π_2 c + π_3 f, with b = L^T w^r and f = L w^r, w^r of the step before.
            modes = parts[7].unflatten(2, (c.heads, 3)).softmax(3)
            backward, forward = memory.reading @ links, memory.reading @ links.transpose(2, 3)
            reading = modes[..., :1] * backward + modes[..., 1:2] * reading + modes[..., 2:] * forward
        output = torch.cat(((reading @ rows).flatten(2), h), dim=2)
        return _State(memory.cell, output, rows, shrinking, usage, writing, reading, precedence, links)


def _ended(words: Int[Tensor, "sentence word"], mark: int) -> Int[Tensor, "sentence word_and_mark"]:
    """Each sentence with a mark right after its last word."""
    end = (words > 0).sum(1, keepdim=True)
    return functional.pad(words, (0, 1)).scatter(1, end, mark)


def _sharpened(
    keys: Float[Tensor, "restart batch all_widths"], strengths: Float[Tensor, "restart batch head"]
) -> Float[Tensor, "restart batch head width"]:
    """β k / |k|, with β = 1 + log(1 + e^x)."""
    each = keys.unflatten(2, (strengths.shape[2], -1))
    strength = (1 + functional.softplus(strengths)).unsqueeze(3)
    sharpened: Tensor = each * (strength * (each.square().sum(3, keepdim=True) + _LEAST).rsqrt())
    return sharpened


def _shrinking(rows: Float[Tensor, "restart batch slot width"]) -> Float[Tensor, "restart batch 1 slot"]:
    return (rows.square().sum(3) + _LEAST).rsqrt().unsqueeze(2)


def _by_content(
    rows: Float[Tensor, "restart batch slot width"],
    shrinking: Float[Tensor, "restart batch 1 slot"],
    keys: Float[Tensor, "restart batch head width"],
) -> Float[Tensor, "restart batch head slot"]:
    """C(M, k, β)[i] ∝ exp(β cos(k, M[i])), the keys scaled by their strength."""
    return ((keys @ rows.transpose(2, 3)) * shrinking).softmax(3)


def _allocation(usage: Float[Tensor, "restart batch slot"]) -> Float[Tensor, "restart batch slot"]:
    """a[φ_j] = (1 - u[φ_j]) Π_{i<j} u[φ_i], with φ the rows sorted from least to most used."""
    ordered, order = (_LEAST + (1 - _LEAST) * usage).sort(dim=2, stable=True)
    before = functional.pad(ordered.cumprod(2)[:, :, :-1], (1, 0), value=1.0)
    return torch.zeros_like(usage).scatter(2, order, (1 - ordered) * before)
