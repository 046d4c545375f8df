"""A story and a model small enough to be made for every test."""

from __future__ import annotations

from typing import Any

from small_networks import story_model

from query_reduction.model import StoryModel
from query_reduction.text.stories import Question, Story

STORY = ("Mary got the milk.", "John went to the office.", "Mary went to the garden.", "John got the apple.")
QUESTION = "Where is the milk?"
QUESTIONS = tuple(Question(QUESTION, answer, 4) for answer in ("garden", "office", "kitchen"))


def make_model(network: Any = "2r", memory: int = 50) -> StoryModel:
    """A model with random weights: enough for all that is exact whatever the weights."""
    return story_model(network, [Story(STORY, QUESTIONS)], memory=memory)
