"""Following: a query that moves from name to name along the sentences of a story until it has reached what is asked.

The query is about a pair of names, "what is Kim to Lee?". Where no sentence says so, it is reduced: if a sentence says
what Kim is to Max, it remains to ask what Max is to Lee. ``routes`` finds the pairs of names that come up; here they
get vectors. What a pair is told is read from the sentence with both names marked; what it is not told is put together
from two shorter pairs, in as many steps as the story needs, with the same weights in each step:

    P_ac = Σ_b  P_ab ⊗ P_bc · T        kinds: a learned table says which kind follows from two, or that nothing does
    x_ac = mean_b (x_ab + x_bc)        measures: each kind has some, and they add up

Composition of relations (kinship), addition (space, order, debts) and plain following are all of this form. Names are
symbols of their story (``names.symbols``): the network never sees which name it is. docs/theory-follow.md has the
equations beside those of the Query-Reduction Network.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn import functional

from query_reduction.errors import InputError
from query_reduction.heads.arrays import HeadConfig
from query_reduction.names.symbols import symbol_number
from query_reduction.rivals.registry import register
from query_reduction.rivals.routes import Routes, best_way, routes_of
from query_reduction.settings import Between, check
from query_reduction.stacked.network import (
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
from query_reduction.stacked.tensors import TensorBatch
from query_reduction.text.vocabulary import UNKNOWN_WORD, Vocabulary

__all__ = ["RECIPE", "Follow", "FollowConfig"]

RECIPE: Mapping[str, Any] = {
    "optimiser": "adam",
    "learning_rate": 0.003,
    "halve_after": 20,
    "halve_every": 4,
    "batch": 128,
    "clip": 1.0,
    "l2": 0.0,
    "max_epochs": 40,
    "evaluate_every": 1,
    "patience": 0,
    "split": "story",
    "names": "symbols",
    "writing": "any",
    "unreadable": "read",
    "memory": 0,
    "restarts": 1,
}
"""A fixed number of epochs, of which the last weights are kept."""

_FAST = 10.0
"""Tables are learned as if their learning rate were so many times as large: an entry is met only now and then."""
_HALF = 0.1
"""The evidence for a pair at which half of it is believed."""
_MOST_ANCHORED, _SOURCE, _TARGET, _MARKS = 64, 0, 1, 3
_TINY = 1e-6
_UNLIKELY = {"shares": 1e-4, "whole": 3e-3}  # no answer is impossible


@dataclass(frozen=True, slots=True)
class FollowConfig:
    """A query that moves over the names of a story."""

    dimension: Annotated[int, Between(1, 4096)] = 64
    """Size of word vectors."""
    spare: Annotated[int, Between(1, 1024)] = 8
    """Kinds of relation besides one for each answer."""
    measures: Annotated[int, Between(1, 1024)] = 4
    """Numbers that add up along the way."""
    reduction: Literal["both", "compose", "add"] = "both"
    """What happens to the query in a step: kinds are composed by a table, measures add up, or both."""
    orders: Literal["all", "forward"] = "all"
    """all = a way is put together in every order, (ab)c and a(bc); forward = from the asked name on, one by one."""
    directions: Literal["one", "both"] = "one"
    """Read a sentence from the source's side only, or also from the target's, so that a relation and its inverse
    are learned together."""
    window: Literal[1, 3] = 3
    """Words that are read together; 1 ignores their order, except that names are marked."""
    word_dropout: Annotated[float, Between(0, 1)] = 0.05
    """Share of words that are left out in training."""
    dropout: Annotated[float, Between(0, 1)] = 0.0
    """Share of units that are left out in training when a sentence is read."""
    undefined: Annotated[float, Between(-100, 100)] = 5.0
    """How sure the table is at first that nothing follows from two kinds."""
    sparsity: Annotated[float, Between(0, 1e3)] = 0.3
    """Weight, in the loss, of the mean share of the table that says something."""
    evidence: Literal["shares", "whole"] = "shares"
    """shares = what counts is how likely each kind is, compared with others; whole = also how sure it is that there
    is one, so that the table has to be sure: better for long chains of kinds."""
    most_steps: Annotated[int, Between(1, 255)] = 255
    """The query gives up after so many steps."""

    def __post_init__(self) -> None:
        check(self)


@dataclass(frozen=True, slots=True)
class _Laid:
    """The routes of a batch as indices."""

    words: Int[Tensor, "view word"]
    forward: Int[Tensor, "told"]
    """The view of each place where a pair is told, from the source's side."""
    back: Int[Tensor, "told"]
    pair: Int[Tensor, "told"]
    pairs: int
    asked: Int[Tensor, "batch"]
    """The pair of each question, or -1."""
    levels: Sequence[tuple[Tensor, Tensor, Tensor]]


@dataclass(frozen=True, slots=True)
class _Relations:
    """What is known of every pair."""

    kinds: Float[Tensor, "restart pair kind"]
    """At least 0; their sum is how sure it is that the names are related at all."""
    measures: Float[Tensor, "restart pair measure"]
    reached: Float[Tensor, "restart pair"]
    """How sure the measures are."""


@register("follow", FollowConfig, "a query that moves over the story's names until nothing changes", recipe=RECIPE)
class Follow(StackedNetwork):
    """A stack of networks that follow names."""

    stage = "step"
    embedding: Float[Tensor, "restart word dim"]
    near: Float[Tensor, "restart window dim"]
    far: Float[Tensor, "restart window dim"]
    hidden: Float[Tensor, "restart pooled hidden"]
    out: Float[Tensor, "restart hidden out"]
    out_bias: Float[Tensor, "restart out"]
    inverse: Float[Tensor, "restart kind kind"]
    named: Float[Tensor, "restart 1"]
    measure_of_kind: Float[Tensor, "restart kind measure"]
    table: Float[Tensor, "restart kind kind 1+kind"]
    answer_of_kind: Float[Tensor, "restart kind answer"]
    answer_of_measure: Float[Tensor, "restart 2*measure answer"]
    prior: Float[Tensor, "restart answer"]

    def __init__(self, config: FollowConfig, vocabulary: Vocabulary, head: HeadConfig, seeds: Seeds) -> None:
        if head.kind != "answers":
            raise InputError("network follow answers questions about stories: it cannot write responses")
        super().__init__(seeds)
        self.config = config
        self.noisy = config.word_dropout > 0 or config.dropout > 0
        self._size = vocabulary.size
        self._is_name = np.zeros(vocabulary.size, bool)
        self._is_name[2:] = [symbol_number(word) > 0 for word in vocabulary.words]
        if not self._is_name.any():
            raise InputError("network follow needs names as symbols of their story: use --names symbols")
        answers, size = len(vocabulary.answers), config.dimension
        anchored = answers if answers <= _MOST_ANCHORED else 0
        kinds = self._kinds = anchored + config.spare
        self._anchors = _anchors(vocabulary, anchored, kinds)
        outputs = kinds + 1
        self.declare("embedding", (vocabulary.size + _MARKS, size), without_meaning(normal(1.0)))
        for name in ("near", "far"):
            self.declare(name, (config.window * size, size), _small(config.window * size))
        self.declare("hidden", (4 * size, 2 * size), _small(4 * size))
        self.declare("out", (2 * size, outputs), _small(2 * size))
        self.declare("out_bias", (outputs,), zeros)
        self.declare("inverse", (kinds, kinds), zeros)
        self.declare("named", (1,), normal(0.0, 4.0))
        self.declare("measure_of_kind", (kinds, config.measures), normal(0.3 / _FAST))
        self.declare("table", (kinds, kinds, kinds + 1), normal(0.1 / _FAST))
        self.declare("answer_of_kind", (kinds, answers), normal(0.1 / _FAST), readout=True)
        self.declare("answer_of_measure", (2 * config.measures, answers), normal(0.2 / _FAST), readout=True)
        self.declare("prior", (answers,), zeros, readout=True)

    def scores(self, batch: TensorBatch) -> Float[Tensor, "restart batch answer"]:
        """The score of every answer."""
        laid = self._lay(self._routes(batch))
        return sum(self._says(self._follow(laid), laid.asked), self.prior.unsqueeze(1))

    def losses(self, batch: TensorBatch) -> Float[Tensor, "restart batch"]:
        """The cross-entropy of every correct answer, by kinds and measures together and by each alone, and what the
        table costs: so that each learns to answer what it can."""
        laid = self._lay(self._routes(batch))
        parts = self._says(self._follow(laid), laid.asked)
        targets = batch.answers.long().expand(self.restarts, -1)
        prior = self.prior.unsqueeze(1)
        all_scores = [sum(parts, prior), *(prior + part for part in parts if len(parts) > 1)]
        losses = [functional.cross_entropy(scores.transpose(1, 2), targets, reduction="none") for scores in all_scores]
        total = torch.stack(losses).mean(0)
        if self.config.reduction == "add":
            return total
        return total + self.config.sparsity * self._table().sum(3).mean((1, 2)).unsqueeze(1)

    def trace(self, batch: TensorBatch) -> BatchTrace:
        """Step by step along the best way, the sentence it is read from."""
        routes = self._routes(batch)
        laid = self._lay(routes)
        relations = self._follow(laid)
        reached = relations.reached if self.config.reduction == "add" else relations.kinds.sum(2)
        shape = (self.restarts, *batch.stories.shape)
        most = max((route.steps for route in routes), default=0)
        attention = [torch.zeros(shape) for _ in range(max(most, 1))]
        first = 0
        for number, route in enumerate(routes):
            if route.asked >= 0:
                for restart in range(self.restarts):
                    sure = reached[restart, first : first + len(route.pairs)].tolist()
                    for step, place in enumerate(best_way(route, sure)):
                        attention[step][restart, number, place] = 1.0
            first += len(route.pairs)
        layers = tuple(LayerTrace({"attention": step.unsqueeze(3)}, step) for step in attention)
        return BatchTrace(layers, sum(self._says(relations, laid.asked), self.prior.unsqueeze(1)))

    def _routes(self, batch: TensorBatch) -> list[Routes]:
        words, stories = batch.words.numpy(), batch.stories.tolist()
        rows = [row[row > 0].tolist() for row in words]
        found = []
        for story, length, question in zip(stories, batch.lengths.tolist(), batch.questions.tolist(), strict=True):
            sentences = [rows[row] for row in story[:length]]
            routes = routes_of(
                sentences, rows[question], self._is_name, self._size, all_orders=self.config.orders == "all"
            )
            found.append(routes if routes.steps <= self.config.most_steps else Routes())
        return found

    def _lay(self, routes: Sequence[Routes]) -> _Laid:
        """All routes of a batch side by side; each distinct view once."""
        numbers: dict[tuple[int, ...], int] = {}
        forward, back, pair, asked = [], [], [], []
        levels: list[list[tuple[int, int, int]]] = []
        first = 0
        both = self.config.directions == "both"
        for route in routes:
            for told in route.told:
                forward.append(numbers.setdefault(told.view, len(numbers)))
                back.append(numbers.setdefault(told.back, len(numbers)) if both else 0)
                pair.append(first + told.pair)
            asked.append(first + route.asked if route.asked >= 0 else -1)
            levels += [[] for _ in range(len(route.levels) - len(levels))]
            for level, triples in zip(levels, route.levels, strict=False):
                level += [(first + ab, first + bc, first + ac) for ab, bc, ac in triples]
            first += len(route.pairs)
        width = max(map(len, numbers), default=1)
        words = torch.tensor([[*view, *[0] * (width - len(view))] for view in numbers] or [[0]])
        return _Laid(words, _index(forward), _index(back), _index(pair), max(first, 1), _index(asked), _columns(levels))

    def _follow(self, laid: _Laid) -> _Relations:
        """Read what is told, then put together what is not."""
        relations = self._told(laid)
        kinds, measures, reached = relations.kinds, relations.measures, relations.reached
        table = self._table().flatten(2)
        for ab, bc, ac in laid.levels:
            if self.config.reduction != "add":
                # Σ_b P_ab ⊗ P_bc · T, believed as far as the pair is not told
                left = (kinds[:, ab] @ table).unflatten(2, (self._kinds, self._kinds))
                follows = _sum_to((kinds[:, bc].unsqueeze(2) @ left).squeeze(2), ac, laid.pairs)
                free = (1 - kinds.sum(2, keepdim=True)).clamp(min=0)
                kinds = kinds + free * _believed(follows, follows.sum(2))
            # The mean over b of x_ab + x_bc, each as sure as both of its parts
            weight = reached[:, ab] * reached[:, bc]
            evidence = _sum_to(weight, ac, laid.pairs)
            summed = _sum_to((measures[:, ab] + measures[:, bc]) * weight.unsqueeze(2), ac, laid.pairs)
            new = (1 - reached) * evidence / (evidence + _HALF)
            mean = summed / (evidence.unsqueeze(2) + _TINY)
            reached = reached + new
            measures = measures + (new / (reached + _TINY)).unsqueeze(2) * (mean - measures)
        return _Relations(kinds, measures, reached)

    def _told(self, laid: _Laid) -> _Relations:
        """What sentences say of pairs: the gate asks whether they say anything."""
        kinds, gate = self._encode(laid.words).split([self._kinds, 1], 2)
        present = self._anchors[laid.words].amax(1)
        unnamed = (1 - present.amax(1, keepdim=True)).expand(-1, self.config.spare)
        present = torch.cat((present[:, : -self.config.spare], unnamed), 1)
        kinds = kinds + self.named.unsqueeze(2) * present
        kind, opened = kinds[:, laid.forward], gate[:, laid.forward]
        if self.config.directions == "both":
            kind = kind + kinds[:, laid.back] @ (_FAST * self.inverse)
            opened = (opened + gate[:, laid.back]) / 2
        opened = torch.sigmoid(opened + 2)
        evidence = _sum_to(opened.squeeze(2), laid.pair, laid.pairs)
        told = _sum_to(kind.softmax(2) * opened, laid.pair, laid.pairs)
        measures = told @ (_FAST * self.measure_of_kind) / (evidence.unsqueeze(2) + _TINY)
        return _Relations(_believed(told, evidence), measures, evidence / (evidence + _HALF))

    def _encode(self, words: Int[Tensor, "view word"]) -> Float[Tensor, "restart view out"]:
        """Two residual convolutions over the words, pooled at the source, at the target, by maximum and by mean."""
        within = (words > 0).unsqueeze(2)
        source, target = words == self._size + _SOURCE, words == self._size + _TARGET
        if self.training and self.config.word_dropout:
            lost = torch.rand(words.shape, generator=self.noise) < self.config.word_dropout
            words = words.masked_fill(lost & (words > 0) & (words < self._size), UNKNOWN_WORD)
        x = self.embedding[:, words]
        for weight, distance in ((self.near, 1), (self.far, 2)):
            x = (x + torch.relu(_windows(x, distance, self.config.window) @ weight.unsqueeze(1))) * within
        pooled = (
            _mean_at(x, source),
            _mean_at(x, target),
            x.masked_fill(~within, -1e4).amax(2),
            _mean_at(x, within.squeeze(2)),
        )
        hidden = torch.relu(self._dropped(torch.cat(pooled, 2)) @ self.hidden)
        return torch.baddbmm(self.out_bias.unsqueeze(1), self._dropped(hidden), self.out)

    def _dropped(self, x: Float[Tensor, "restart view dim"]) -> Float[Tensor, "restart view dim"]:
        share = self.config.dropout
        if not self.training or not share:
            return x
        return x * (torch.rand(x.shape[1:], generator=self.noise) >= share) / (1 - share)

    def _table(self) -> Float[Tensor, "restart kind kind kind"]:
        """From two kinds, how far each kind follows; the rest is the share of nothing."""
        logits = _FAST * self.table
        undefined = logits[..., -1:] + self.config.undefined
        return torch.cat((logits[..., :-1], undefined), 3).softmax(3)[..., :-1]

    def _says(self, relations: _Relations, asked: Int[Tensor, "batch"]) -> list[Float[Tensor, "restart batch answer"]]:
        """What kinds and measures each say about every answer; nothing where names are not connected."""
        known = (asked >= 0).unsqueeze(1)
        pair = asked.clamp(min=0)
        parts = []
        if self.config.reduction != "add":
            kinds = relations.kinds[:, pair]
            if self.config.evidence == "shares":
                kinds = kinds / (kinds.sum(2, keepdim=True) + _TINY)
            anchors = 6 * torch.eye(*self.answer_of_kind.shape[1:])
            answers = (anchors + _FAST * self.answer_of_kind).softmax(2)
            parts.append(torch.log(kinds @ answers + _UNLIKELY[self.config.evidence]) * known)
        if self.config.reduction != "compose":
            x = relations.measures[:, pair]
            # They saturate: longer ways have larger sums than any in training.
            signs = torch.cat((torch.tanh(2 * x), torch.exp(-2 * x * x)), 2)
            parts.append((signs @ (_FAST * self.answer_of_measure)) * known)
        return parts


def _index(numbers: Sequence[int]) -> Int[Tensor, "number"]:
    return torch.tensor(numbers, dtype=torch.int64)


def _columns(levels: Sequence[Sequence[tuple[int, int, int]]]) -> list[tuple[Tensor, Tensor, Tensor]]:
    """By level that has any, the pairs (a, b), (b, c) and (a, c)."""
    columns = [list(zip(*level, strict=True)) for level in levels if level]
    return [(_index(ab), _index(bc), _index(ac)) for ab, bc, ac in columns]


def _small(inputs: int) -> Start:
    """Initial weights for so many inputs that leave the measures in the range in which their sign can be learned."""
    return uniform((3 * inputs) ** -0.5)


def _anchors(vocabulary: Vocabulary, anchored: int, kinds: int) -> Float[Tensor, "word kind"]:
    """1 where a word is an answer: a sentence that has it may well tell a relation of that kind."""
    anchors = torch.zeros(vocabulary.size + _MARKS, kinds)
    for kind, answer in enumerate(vocabulary.answers[:anchored]):
        numbers = vocabulary.numbers(answer)
        if len(numbers) == 1 and numbers[0] != UNKNOWN_WORD:
            anchors[numbers[0], kind] = 1
    return anchors


def _windows(x: Float[Tensor, "restart view word dim"], distance: int, window: int) -> Tensor:
    """Each word with those at a distance before and after it."""
    if window == 1:
        return x
    before = functional.pad(x, (0, 0, distance, 0))[:, :, : x.shape[2]]
    after = functional.pad(x, (0, 0, 0, distance))[:, :, distance:]
    return torch.cat((before, x, after), 3)


def _mean_at(x: Float[Tensor, "restart view word dim"], where: Tensor) -> Float[Tensor, "restart view dim"]:
    """The mean of the words at some places; zero where there are none."""
    share = where / where.sum(1, keepdim=True).clamp(min=1)
    return (x * share.unsqueeze(2)).sum(2)


def _sum_to(values: Tensor, index: Tensor, size: int) -> Tensor:
    """Sums of values (restart, item, …) by their index."""
    return values.new_zeros(values.shape[0], size, *values.shape[2:]).index_add(1, index, values)


def _believed(kinds: Float[Tensor, "restart pair kind"], evidence: Float[Tensor, "restart pair"]) -> Tensor:
    """Evidence in proportion to its shares, with a sum below 1 that soon comes close to it."""
    return kinds / (evidence.unsqueeze(2) + _TINY) * (evidence / (evidence + _HALF)).unsqueeze(2)
