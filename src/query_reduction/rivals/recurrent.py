"""What recurrent readers share: the sequence they step through, and the answer read from the last state."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import torch
from jaxtyping import Float, Int
from torch import Tensor

from query_reduction.encoders.arrays import EncoderConfig, EncoderName
from query_reduction.encoders.stacked import build_encoder
from query_reduction.errors import InputError
from query_reduction.heads.arrays import HeadConfig
from query_reduction.heads.stacked import build_head
from query_reduction.rivals.vector_reader import VectorReader
from query_reduction.settings import Added, Between, check
from query_reduction.stacked.layers import look_up, present
from query_reduction.stacked.network import Seeds, normal, without_meaning
from query_reduction.stacked.packed import Packing, pack
from query_reduction.stacked.tensors import TensorBatch
from query_reduction.text.vocabulary import Vocabulary

__all__ = ["RECIPE", "RecurrentConfig", "RecurrentReader", "SteppedReader", "to_front", "word_sequence"]

RECIPE: Mapping[str, Any] = {
    "optimiser": "adam",
    "learning_rate": 0.003,
    "halve_every": 25,
    "batch": 32,
    "clip": 5.0,
    "l2": 0.0,
    "max_epochs": 40,
    "evaluate_every": 2,
    "patience": 10,
    "writing": "any",
}
"""No settings of these cells have been published for stories; these are common ones. On development questions of four
tasks LSTM was no better with a learning rate of 0.001 or after more epochs: it learns its stories by heart."""


@dataclass(frozen=True, slots=True)
class RecurrentConfig:
    """A recurrent reader."""

    layers: Annotated[int, Between(1, 16)] = 1
    """Recurrent layers, each reading the states of the one below."""
    dimension: Annotated[int, Between(1, 4096)] = 50
    """Size of word vectors and states."""
    reads: Literal["sentences", "words"] = "sentences"
    """Step through sentences (the question's vector added to each), or through words, the question's after the
    story's, as the bAbI baselines do."""
    encoder: Annotated[EncoderName, Added()] = "position"
    """How the words of a sentence become a vector: position = weighted by their positions; order = together with their
    neighbours. Without effect on readers of words."""

    def __post_init__(self) -> None:
        check(self)


class RecurrentReader(VectorReader):
    """A stack of recurrent readers; a subclass declares the weights of its cell and computes a layer in two parts."""

    embedding: Float[Tensor, "restart vocabulary dim"]
    vectors: Float[Tensor, "restart vocabulary outside"]
    vector_projection: Float[Tensor, "restart outside dim"]
    mark_embedding: Float[Tensor, "restart mark dim"]
    order_in: Float[Tensor, "restart width dim dim"]
    order_bias: Float[Tensor, "restart dim"]
    order_out: Float[Tensor, "restart dim dim"]

    def __init__(self, config: RecurrentConfig, vocabulary: Vocabulary, head: HeadConfig, seeds: Seeds) -> None:
        super().__init__(seeds)
        self.config = config
        if config.reads == "words" and config.encoder != "position":
            raise InputError("encoder has no effect on a reader of words")
        encoder = EncoderConfig(config.encoder, vocabulary.size, config.dimension, vocabulary.longest_sentence)
        self.encoder = build_encoder(encoder, self, without_meaning(normal(0.1)))
        self.declare_cell(config.layers, config.dimension)
        self.head = build_head(head, vocabulary, self, config.dimension)

    @abstractmethod
    def declare_cell(self, layers: int, dimension: int) -> None:
        """Declare the weights of the recurrent layers."""

    @abstractmethod
    def project(self, layer: int, inputs: Float[Tensor, "restart row dim"]) -> Float[Tensor, "restart row gates"]:
        """The part of a layer that depends on single inputs: one product for all steps."""

    @abstractmethod
    def states(
        self, layer: int, projected: Float[Tensor, "restart batch time gates"]
    ) -> Float[Tensor, "restart batch time dim"]:
        """The states of a layer after each step, all sequences having the same number of them."""

    def layer(
        self, layer: int, inputs: Float[Tensor, "restart batch time dim"]
    ) -> Float[Tensor, "restart batch time dim"]:
        """The states of one layer that reads these inputs."""
        return self.states(layer, self.project(layer, inputs.flatten(1, 2)).unflatten(1, inputs.shape[1:3]))

    def sequences(self, batch: TensorBatch) -> tuple[Int[Tensor, "batch time"], Int[Tensor, "batch"]]:
        """The words or sentences that each sequence steps through, by number; and how many steps it has."""
        return word_sequence(batch) if self.config.reads == "words" else (batch.stories, batch.lengths.long())

    def first_inputs(
        self, batch: TensorBatch, steps: Int[Tensor, "*shape"], questions: Int[Tensor, "*question"]
    ) -> Float[Tensor, "restart *shape gates"]:
        """The projected inputs of the first layer at some steps, and the questions asked at each."""
        if self.config.reads == "words":
            # There are far fewer words than steps: each is projected once.
            return look_up(self.project(0, self.embedding), steps)
        table = self.encoder.encode(self, batch.words)
        inputs = look_up(table, steps) + look_up(table, questions)
        projected: Tensor = self.project(0, inputs.flatten(1, -2)).unflatten(1, inputs.shape[1:-1])
        return projected

    def read(self, batch: TensorBatch) -> Float[Tensor, "restart batch dim"]:
        """The state of the last layer after each question's last step; zero if there is none."""
        steps, lengths = self.sequences(batch)
        projected = self.first_inputs(batch, steps, batch.questions.unsqueeze(1))
        if projected.shape[2] == 0:
            return projected.new_zeros(*projected.shape[:2], self.config.dimension)
        states = self.states(0, projected)
        for layer in range(1, self.config.layers):
            states = self.layer(layer, states)
        last = (lengths - 1).clamp(min=0).view(1, -1, 1, 1).expand(states.shape[0], -1, 1, states.shape[3])
        # An empty story leaves the state it begins with: zero.
        return states.gather(2, last).squeeze(2) * (lengths > 0).unsqueeze(1)


class SteppedReader(RecurrentReader):
    """A reader whose gates look at the state, so that it must step through time; its sequences are packed.

    A subclass steps through what it projected.
    """

    @abstractmethod
    def steps(
        self, layer: int, projected: Float[Tensor, "restart row gates"], packing: Packing
    ) -> Float[Tensor, "restart row dim"]:
        """The states of a layer after each packed step."""

    def states(
        self, layer: int, projected: Float[Tensor, "restart batch time gates"]
    ) -> Float[Tensor, "restart batch time dim"]:
        """The states of a layer after each step, all sequences having the same number of them."""
        restarts, batch, time, _ = projected.shape
        states = self.steps(layer, projected.transpose(1, 2).flatten(1, 2), pack(torch.full((batch,), time)))
        return states.view(restarts, time, batch, self.config.dimension).transpose(1, 2)

    def read(self, batch: TensorBatch) -> Float[Tensor, "restart batch dim"]:
        """The state of the last layer after each question's last step; zero if there is none."""
        sequences, lengths = self.sequences(batch)
        packing = pack(lengths)
        steps = sequences[packing.sequence, packing.time]
        projected = self.first_inputs(batch, steps, batch.questions[packing.sequence])
        states = self.steps(0, projected, packing)
        for layer in range(1, self.config.layers):
            states = self.steps(layer, self.project(layer, states), packing)
        if not packing.counts:
            return states.new_zeros(states.shape[0], len(lengths), states.shape[2])
        # An empty story leaves the state it begins with: zero.
        return states.index_select(1, packing.last) * (lengths > 0).unsqueeze(1)


def word_sequence(batch: TensorBatch) -> tuple[Int[Tensor, "batch time"], Int[Tensor, "batch"]]:
    """The words of each story and then of its question, moved to the front of their row; and the number of words."""
    words = batch.words.long()
    story = words[batch.stories.long()]
    story = story * present(batch.lengths, story.shape[1]).unsqueeze(2)
    sequence = torch.cat((story.flatten(1), words[batch.questions.long()]), dim=1)
    return to_front(sequence)


def to_front(words: Int[Tensor, "batch time"]) -> tuple[Int[Tensor, "batch shorter"], Int[Tensor, "batch"]]:
    """Each row's words without the gaps between them; and their number."""
    present = words > 0
    order = (~present).to(torch.uint8).argsort(dim=1, stable=True)
    lengths = present.sum(1)
    return words.gather(1, order)[:, : int(lengths.max()) if len(lengths) else 0], lengths
