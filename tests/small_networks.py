"""Networks and models with random weights, small enough to be made for every test."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from query_reduction.heads.arrays import HeadConfig
from query_reduction.model import StoryModel
from query_reduction.model_file import SavedModel
from query_reduction.network import Floats
from query_reduction.qrn.fused import FusedNetwork
from query_reduction.qrn.network import QRNConfig, QueryReductionNetwork, parse_variant
from query_reduction.qrn.reader import QueryReduction
from query_reduction.reading.stories import StoryOptions, StoryParts, StoryTask
from query_reduction.rivals.registry import build_network, resolve
from query_reduction.stacked.network import Seeds, StackedNetwork
from query_reduction.text.stories import Story
from query_reduction.text.vocabulary import Vocabulary


def vocabulary_of(size: int, answers: int, longest: int) -> Vocabulary:
    """A vocabulary with so many word numbers, the two without meaning included."""
    words = tuple(f"w{number}" for number in range(2, size))
    return Vocabulary(words, tuple(f"a{number}" for number in range(answers)), longest)


def variant(name: str, **changes: Any) -> QRNConfig:
    """The settings of a Query-Reduction Network by its short name, with some changed."""
    config = parse_variant(name)
    assert config is not None, name
    return replace(config, **changes)


def qrn(
    config: QRNConfig,
    vocabulary: Vocabulary,
    restarts: Sequence[int] = (0,),
    seed: int = 0,
    head: HeadConfig | None = None,
) -> QueryReductionNetwork:
    """A stack of Query-Reduction Networks."""
    return FusedNetwork(config, vocabulary, head or HeadConfig(), Seeds(restarts, seed))


def weights_of(network: StackedNetwork) -> dict[str, Floats]:
    """The weights of a stack, as they are saved."""
    return {name: parameter.detach().numpy() for name, parameter in network.named_parameters()}


def in_use(network: QueryReductionNetwork, vocabulary: Vocabulary, head: HeadConfig | None = None) -> QueryReduction:
    """A stack of one as a model uses it."""
    return QueryReduction(network.config, vocabulary, head or HeadConfig(), weights_of(network))


def saved_story_model(
    config: Any, stories: Sequence[Story], *, memory: int = 50, card: Mapping[str, Any] | None = None
) -> SavedModel:
    """An untrained model with the words and answers of some stories; ``config`` is settings or a network's name."""
    config = resolve(config) if isinstance(config, str) else config
    task = StoryParts("small", list(stories)).learn(StoryOptions(memory=memory), stories)
    network = build_network(config, task.vocabulary, task.head)
    return SavedModel(config, task, weights_of(network), card or {})


def story_model(config: Any, stories: Sequence[Story], *, memory: int = 50) -> StoryModel:
    """The same, ready for use."""
    saved = saved_story_model(config, stories, memory=memory)
    assert isinstance(saved.task, StoryTask)
    return StoryModel(saved, saved.task)
