"""End-to-End Memory Networks (Sukhbaatar, Szlam, Weston and Fergus, NeurIPS 2015), MemN2N for short.

Every sentence is a memory. In each hop the query looks at all memories at once, reads a weighted sum of them and adds
it to itself. Sections and equations are the paper's; where the authors' published code differs from the paper, the code
is followed, and a comment says so.

Neither memories nor outputs are copied for each question: a query is multiplied by each distinct sentence of the batch
once, and the products that belong to its story are selected.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Annotated, Any, Literal

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from query_reduction.encoders.position import bags_of_words
from query_reduction.heads.arrays import HeadConfig
from query_reduction.heads.stacked import AnswerHead, build_head
from query_reduction.rivals.registry import register
from query_reduction.rivals.vector_reader import VectorReader
from query_reduction.settings import Between, check
from query_reduction.stacked.layers import present
from query_reduction.stacked.network import BatchTrace, LayerTrace, Seeds, normal, without_meaning
from query_reduction.stacked.tensors import TensorBatch
from query_reduction.text.vocabulary import UNKNOWN_WORD, Vocabulary

__all__ = ["RECIPE", "MemN2NConfig", "MemoryNetwork", "position_factors", "time_with_blanks"]

RECIPE: Mapping[str, Any] = {
    "optimiser": "sgd",
    "learning_rate": 0.005,
    "halve_every": 25,
    "halve_after": 20,
    "batch": 32,
    "writing": "any",
    "batch_loss": "sum",
    "clip": 40.0,
    "l2": 0.0,
    "max_epochs": 120,
    "evaluate_every": 5,
    "patience": 0,
}
"""The authors' code for one task with a linear start: 20 epochs without softmax, then 100 with it, keeping the
last weights. It clips each weight matrix separately; here the norm is over all weights of a restart."""

_DEVIATION = 0.1


@dataclass(frozen=True, slots=True)
class MemN2NConfig:
    """The End-to-End Memory Network."""

    hops: Annotated[int, Between(1, 64)] = 3
    """Number of hops K."""
    dimension: Annotated[int, Between(1, 4096)] = 20
    """Size d of memories and queries."""
    tying: Literal["adjacent", "layer-wise"] = "adjacent"
    """Which weights are shared (section 2.2): adjacent = the output embedding of a hop is the memory embedding of the
    next, the first embeds the question and the last gives the answer's weights; layer-wise = all hops are the same."""
    sentences: Literal["position", "bag"] = "position"
    """How words add up to a sentence: weighted by their positions (PE) or as a bag of words (BoW)."""
    slots: Annotated[int, Between(1, 100_000)] = 50
    """Number of memories, reduced to the number of sentences of the longest training story if that is smaller. Older
    sentences share the last time vector."""
    empty_memories: bool = True
    """Also attend to the memories that a short story leaves empty, as the code does; they read as zero."""
    time_noise: Annotated[float, Between(0, 1)] = 0.1
    """While training, insert up to this share of empty memories between the sentences (RN); only time vectors shift."""
    linear_epochs: Annotated[int, Between(0, 1_000_000)] = 20
    """Number of epochs at the start without the softmax in the hops (LS)."""
    relu: bool = False
    """Apply a ReLU to the query after each hop."""

    def __post_init__(self) -> None:
        check(self)


@register("memn2n", MemN2NConfig, "End-to-End Memory Networks: attention over all sentences, hop by hop", recipe=RECIPE)
class MemoryNetwork(VectorReader):
    """A stack of End-to-End Memory Networks."""

    stage = "hop"
    embedding: Float[Tensor, "restart table word dim"]
    """Adjacent: A¹ = B, then C¹ = A², …, and Cᴷ, whose rows are the answers' weights, too. Layer-wise: A, C, B."""
    time: Float[Tensor, "restart table slot dim"]
    """The time vectors T_A and T_C of the memory tables."""
    query_map: Float[Tensor, "restart dim dim"]

    def __init__(self, config: MemN2NConfig, vocabulary: Vocabulary, head: HeadConfig, seeds: Seeds) -> None:
        super().__init__(seeds)
        self.config = config
        self.noisy = config.time_noise > 0
        self._linear = self._started = False
        self._slots = min(config.slots, vocabulary.longest_story or config.slots)
        # The code's sentences end in one more word, the time.
        self._longest = vocabulary.longest_sentence + 1
        adjacent = config.tying == "adjacent"
        tables = config.hops + 1 if adjacent else 2
        self._answer_rows = _answer_rows(vocabulary) if adjacent and head.kind == "answers" else None
        own = 0 if self._answer_rows is None else int(self._answer_rows.max()) + 1
        words = max(vocabulary.size, own)
        start, uses = normal(_DEVIATION), 1 if adjacent else config.hops
        self.declare("embedding", (tables + (not adjacent), words, config.dimension), without_meaning(start))
        self.declare("time", (tables, self._slots, config.dimension), start, decay_uses=uses)
        if not adjacent:
            self.declare("query_map", (config.dimension, config.dimension), start, decay_uses=uses)
        if self._answer_rows is None:
            self.head = build_head(head, vocabulary, self, config.dimension, start)
        else:
            self.head = AnswerHead()

    def go_on(self) -> None:
        """A trained network has its linear start behind it."""
        self._started = True

    def begin_epoch(self, epoch: int) -> None:
        """The linear start ends after ``linear_epochs``."""
        self._linear = not self._started and epoch < self.config.linear_epochs

    def trace(self, batch: TensorBatch) -> BatchTrace:
        """The attention of each hop."""
        attention: list[Tensor] = []
        query = self.read(batch, attention)
        layers = tuple(LayerTrace({"attention": hop.unsqueeze(3)}, hop) for hop in attention)
        return BatchTrace(layers, self.head.scores(self.head_weights(), query, batch))

    def read(self, batch: TensorBatch, recorded: list[Tensor] | None = None) -> Float[Tensor, "restart batch dim"]:
        """The query after the last hop; the attention of each hop is appended to ``recorded``."""
        # Unbound once: indexing each part separately would allocate a gradient the size of the whole.
        sentences, moments = self.encode(batch.words).unbind(1), self._moments().unbind(1)
        told = present(batch.lengths, batch.stories.shape[1])
        stories, times = batch.stories.long(), self._times(batch.lengths.long(), batch.stories.shape[1])
        adjacent = self.config.tying == "adjacent"
        # Equation for u¹: the question embedded by B, which is A¹ where adjacent hops share weights.
        u = sentences[0 if adjacent else 2].index_select(1, batch.questions.long())
        for hop in range(self.config.hops):
            a, c = (hop, hop + 1) if adjacent else (0, 1)
            match = _match(u, sentences[a], stories) + _match(u, moments[a], times)
            p = self._attention(match, told)
            # Equation 2: the response is the sum of the outputs c_i, weighted by p_i.
            o = _response(p, sentences[c], stories) + _response(p, moments[c], times)
            u = self.update(hop, u, o)
            if self.config.relu:
                u = torch.relu(u)
            if recorded is not None:
                recorded.append(p)
        return u

    def update(
        self, hop: int, u: Float[Tensor, "restart batch dim"], o: Float[Tensor, "restart batch dim"]
    ) -> Float[Tensor, "restart batch dim"]:
        """Equation 4: a hop's new query, from the query and the response."""
        return self.carried(u) + o

    def carried(self, u: Float[Tensor, "restart batch dim"]) -> Float[Tensor, "restart batch dim"]:
        """The query as it bypasses a hop: unchanged, or H u if all hops are the same (section 2.2)."""
        return u if self.config.tying == "adjacent" else u @ self.query_map

    def encode(self, words: Int[Tensor, "sentence word"]) -> Float[Tensor, "restart table sentence dim"]:
        """Each distinct sentence embedded by each table: Σ_j l_j ∘ A x_j, without the time vector."""
        tables = self.embedding.flatten(0, 1)
        words, weights = words.long(), tables.new_ones(words.shape)
        if self.config.sentences == "bag":
            sentences = bags_of_words(tables, words, weights)
        else:
            # l_j = 1 + a_j b, a number times a vector: two bags of words suffice for all dimensions.
            a, b = position_factors(self._longest, words.shape[1], self.config.dimension)
            weights = torch.cat((weights, a.to(tables).expand(words.shape)))
            plain, placed = bags_of_words(tables, words.repeat(2, 1), weights).chunk(2, dim=1)
            sentences = torch.addcmul(plain, placed, b.to(tables))
        return sentences.view(*self.embedding.shape[:2], *sentences.shape[1:])

    def _moments(self) -> Float[Tensor, "restart table slot dim"]:
        """The time vectors (section 4.1): words at the very end of a sentence, weighted by its last position."""
        if self.config.sentences == "bag":
            return self.time
        a, b = position_factors(self._longest, self._longest, self.config.dimension)
        return self.time * (1 + a[-1] * b).to(self.time)

    def _attention(
        self, match: Float[Tensor, "restart batch time"], told: Bool[Tensor, "batch time"]
    ) -> Float[Tensor, "restart batch time"]:
        """Equation 1: softmax of uᵀ m_i over the memories; during the linear start, uᵀ m_i itself."""
        if self._linear and self.training:
            return match * told
        lowest = torch.finfo(match.dtype).min
        empty = (self._slots - told.sum(1)).clamp(min=0) * self.config.empty_memories
        # An empty memory is the zero vector and matches with e⁰; log n stands for n of them.
        together = empty.to(match).log().clamp(min=lowest).view(1, -1, 1).expand(len(match), -1, -1)
        p = torch.cat((match.masked_fill(~told, lowest), together), dim=2).softmax(2)[:, :, :-1]
        # Without any memory all scores are equally low: nothing is read.
        return p * told

    def _times(self, lengths: Int[Tensor, "batch"], time: int) -> Int[Tensor, "batch time"]:
        """The age of each sentence, 0 for the last one."""
        if self.training and self.config.time_noise > 0:
            times = time_with_blanks(lengths, time, self.config.time_noise, self.noise)
        else:
            times = (lengths.unsqueeze(1) - 1 - torch.arange(time)).clamp(min=0)
        return times.clamp(max=self._slots - 1)

    def head_weights(self) -> Any:
        """Section 2.2: Wᵀ = Cᴷ where adjacent hops share weights."""
        if self._answer_rows is None:
            return self
        return SimpleNamespace(answer_weight=self.embedding[:, -1].index_select(1, self._answer_rows))


def position_factors(
    longest: int, positions: int, dimension: int
) -> tuple[Float[Tensor, "position"], Float[Tensor, "dim"]]:
    """a and b of l_j = 1 + a_j b for this many positions, with the J of sentences no longer than ``longest``.

    l_kj = 1 + 4 (k - (d+1)/2) (j - (J+1)/2) / (d J), as the code has it: about twice what section 4.1 says.
    """
    j = torch.arange(1, positions + 1, dtype=torch.float64).clamp(max=longest)
    k = torch.arange(1, dimension + 1, dtype=torch.float64)
    return 4 * (j - (longest + 1) / 2) / longest, (k - (dimension + 1) / 2) / dimension


def time_with_blanks(
    lengths: Int[Tensor, "batch"], time: int, share: float, noise: torch.Generator
) -> Int[Tensor, "batch time"]:
    """The apparent age of each sentence with up to ``share`` of empty memories in between (RN, section 4.1)."""
    most = torch.ceil(lengths * share)
    blanks = (torch.rand(len(lengths), generator=noise) * (most + 1)).long().clamp(max=most.long())
    width = time + int(most.max()) if len(lengths) else time
    moments = torch.arange(width)
    # The time steps with the smallest random numbers are blank.
    drawn = torch.rand(len(lengths), width, generator=noise)
    drawn = drawn.masked_fill(moments >= (lengths + blanks).unsqueeze(1), 2.0)
    rank = drawn.argsort(1).argsort(1)
    free = (rank < blanks.unsqueeze(1)) | (drawn == 2.0)
    # The time steps in use come first, in order: that of the last sentence, the one before …
    taken = free.to(torch.uint8).argsort(dim=1, stable=True)
    ago = (lengths.unsqueeze(1) - 1 - torch.arange(time)).clamp(min=0)
    return taken.gather(1, ago)


def _match(
    u: Float[Tensor, "restart batch dim"], table: Float[Tensor, "restart row dim"], rows: Int[Tensor, "batch time"]
) -> Float[Tensor, "restart batch time"]:
    """Each query times the rows of a table that belong to its story."""
    return (u @ table.transpose(1, 2)).gather(2, rows.expand(len(u), -1, -1))


def _response(
    p: Float[Tensor, "restart batch time"], table: Float[Tensor, "restart row dim"], rows: Int[Tensor, "batch time"]
) -> Float[Tensor, "restart batch dim"]:
    """The weighted sum of the rows of a table that belong to each story."""
    weights = p.new_zeros(*p.shape[:2], table.shape[1])
    return weights.scatter_add(2, rows.expand(len(p), -1, -1), p) @ table


def _answer_rows(vocabulary: Vocabulary) -> Int[Tensor, "answer"]:
    """The row of each answer in a table: that of its word if it is one, otherwise its own row after all words."""
    rows, more = [], vocabulary.size
    for answer in vocabulary.answers:
        # As it would be read: "Bill" is the word "bill" where case does not matter.
        read = vocabulary.numbers(answer)
        is_word = len(read) == 1 and read[0] != UNKNOWN_WORD
        rows.append(read[0] if is_word else more)
        more += not is_word
    return torch.tensor(rows, dtype=torch.int64)
