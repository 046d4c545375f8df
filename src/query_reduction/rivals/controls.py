"""Controls: what can be answered without reasoning. They are networks like any other and appear in the same tables.

``majority``       the frequencies of the answers; reads nothing
``question-only``  the question, but not the story
``story-only``     the story, but not the question
``bag-of-words``   the words of both, without their order: logistic regression
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

import torch
from jaxtyping import Float
from torch import Tensor

from query_reduction.encoders.position import bags_of_words, encode_sentences
from query_reduction.heads.arrays import HeadConfig
from query_reduction.heads.stacked import build_head
from query_reduction.rivals.registry import register
from query_reduction.rivals.vector_reader import VectorReader
from query_reduction.settings import Between, check
from query_reduction.stacked.layers import present
from query_reduction.stacked.network import Seeds, normal, uniform, without_meaning, zeros
from query_reduction.stacked.tensors import TensorBatch
from query_reduction.text.vocabulary import Vocabulary

__all__ = [
    "RECIPE",
    "BagOfWords",
    "BagOfWordsConfig",
    "Majority",
    "MajorityConfig",
    "QuestionOnly",
    "QuestionOnlyConfig",
    "StoryOnly",
    "StoryOnlyConfig",
]

RECIPE: Mapping[str, Any] = {
    "optimiser": "adam",
    "learning_rate": 0.01,
    "halve_every": 10,
    "batch": 32,
    "l2": 0.0,
    "max_epochs": 50,
    "evaluate_every": 2,
    "patience": 20,
    "writing": "any",
}
"""Enough training to fit all these controls can learn."""


@dataclass(frozen=True, slots=True)
class MajorityConfig:
    """The most frequent answer."""


@dataclass(frozen=True, slots=True)
class _VectorConfig:
    dimension: Annotated[int, Between(1, 4096)] = 50
    """Size of the vectors that answers are read from."""

    def __post_init__(self) -> None:
        check(self)


@dataclass(frozen=True, slots=True)
class QuestionOnlyConfig(_VectorConfig):
    """The question without the story."""


@dataclass(frozen=True, slots=True)
class StoryOnlyConfig(_VectorConfig):
    """The story without the question."""


@dataclass(frozen=True, slots=True)
class BagOfWordsConfig(_VectorConfig):
    """The words of story and question, without their order."""


class _Control(VectorReader):
    """A stack of controls; a subclass defines the vector the answer is read from."""

    def __init__(self, vocabulary: Vocabulary, head: HeadConfig, seeds: Seeds, dimension: int) -> None:
        super().__init__(seeds)
        self._longest = vocabulary.longest_sentence
        self.head = build_head(head, vocabulary, self, dimension, None if dimension > 1 else zeros)


@register("majority", MajorityConfig, "control: the most frequent answer", recipe=RECIPE)
class Majority(_Control):
    """A stack of biases: the only input is 1, so an answer's weight is its bias."""

    reads = False

    def __init__(self, config: MajorityConfig, vocabulary: Vocabulary, head: HeadConfig, seeds: Seeds) -> None:
        super().__init__(vocabulary, head, seeds, dimension=1)
        self.config = config

    def read(self, batch: TensorBatch) -> Float[Tensor, "restart batch dim"]:
        """1, whatever the question."""
        return self.answer_weight.new_ones(self.restarts, len(batch.questions), 1)


class _Reader(_Control):
    """A control that reads words through an embedding."""

    embedding: Float[Tensor, "restart vocabulary dim"]

    def __init__(self, config: _VectorConfig, vocabulary: Vocabulary, head: HeadConfig, seeds: Seeds) -> None:
        super().__init__(vocabulary, head, seeds, config.dimension)
        self.config = config
        self.declare("embedding", (vocabulary.size, config.dimension), without_meaning(normal(0.1)))


@register("question-only", QuestionOnlyConfig, "control: reads the question, but not the story", recipe=RECIPE)
class QuestionOnly(_Reader):
    """A stack of question classifiers with one hidden layer."""

    reads = False
    hidden_weight: Float[Tensor, "restart dim dim"]
    hidden_bias: Float[Tensor, "restart dim"]

    def __init__(self, config: _VectorConfig, vocabulary: Vocabulary, head: HeadConfig, seeds: Seeds) -> None:
        super().__init__(config, vocabulary, head, seeds)
        self.declare("hidden_weight", (config.dimension, config.dimension), uniform(config.dimension**-0.5))
        self.declare("hidden_bias", (config.dimension,), zeros, decay_uses=0)

    def read(self, batch: TensorBatch) -> Float[Tensor, "restart batch dim"]:
        """tanh(W x + b), where x is the input read."""
        x = self.input(encode_sentences(self.embedding, batch.words, self._longest), batch)
        return torch.tanh(torch.baddbmm(self.hidden_bias.unsqueeze(1), x, self.hidden_weight))

    def input(
        self, table: Float[Tensor, "restart sentence dim"], batch: TensorBatch
    ) -> Float[Tensor, "restart batch dim"]:
        """The question's vector."""
        return table.index_select(1, batch.questions.long())


@register("story-only", StoryOnlyConfig, "control: reads the story, but not the question", recipe=RECIPE)
class StoryOnly(QuestionOnly):
    """A stack of story classifiers with one hidden layer."""

    def input(
        self, table: Float[Tensor, "restart sentence dim"], batch: TensorBatch
    ) -> Float[Tensor, "restart batch dim"]:
        """The sum of the story's sentences."""
        return _sentence_counts(batch, table.shape[1]).to(table) @ table


@register(
    "bag-of-words", BagOfWordsConfig, "control: the words of story and question, without their order", recipe=RECIPE
)
class BagOfWords(_Reader):
    """A stack of logistic regressions whose weights have at most rank ``dimension``."""

    question_embedding: Float[Tensor, "restart vocabulary dim"]

    def __init__(self, config: BagOfWordsConfig, vocabulary: Vocabulary, head: HeadConfig, seeds: Seeds) -> None:
        super().__init__(config, vocabulary, head, seeds)
        self.declare("question_embedding", (vocabulary.size, config.dimension), without_meaning(normal(0.1)))

    def read(self, batch: TensorBatch) -> Float[Tensor, "restart batch dim"]:
        """The sum of the word vectors; a word has different vectors in the question and in the story."""
        words = batch.words.long()
        table = bags_of_words(self.embedding, words, self.embedding.new_ones(words.shape))
        asked = words[batch.questions.long()]
        question = bags_of_words(self.question_embedding, asked, self.embedding.new_ones(asked.shape))
        return question + _sentence_counts(batch, table.shape[1]).to(table) @ table


def _sentence_counts(batch: TensorBatch, sentences: int) -> Float[Tensor, "batch sentence"]:
    """How often each story contains each sentence of the batch."""
    told = present(batch.lengths, batch.stories.shape[1]).float()
    return told.new_zeros(len(told), sentences).scatter_add(1, batch.stories.long(), told)
