"""A story and a model small enough to be made anew for every test."""

from __future__ import annotations

from query_reduction.config import ModelConfig, parse_variant
from query_reduction.data.stories import Question, Story
from query_reduction.data.vocabulary import Vocabulary
from query_reduction.model import Reader
from query_reduction.networks.qrn import QueryReductionNetwork
from query_reduction.training.checkpoint import SavedModel

STORY = ("Mary got the milk.", "John went to the office.", "Mary went to the garden.", "John got the apple.")
QUESTION = "Where is the milk?"


def make_reader(variant: str = "2r", **changes: object) -> Reader:
    """A reader with random weights: enough for all that is exact whatever the weights."""
    config = parse_variant(variant, ModelConfig(**changes))  # type: ignore[arg-type]
    questions = tuple(Question(QUESTION, answer, 4) for answer in ("garden", "office", "kitchen"))
    vocabulary = Vocabulary.from_stories([Story(STORY, questions)])
    network = QueryReductionNetwork(
        config, vocabulary.size, len(vocabulary.answers), longest_sentence=vocabulary.longest_sentence
    )
    return Reader(SavedModel(config, vocabulary, network.state_dict()))
