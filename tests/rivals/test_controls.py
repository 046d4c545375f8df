"""Controls: what they read, and that they get out of it what there is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest
import torch
from examples import VOCABULARY, assert_equals, error_after_training, example_batch, position_encoding, small
from torch import Tensor

from query_reduction.reading.stories import StoryParts
from query_reduction.text.stories import Question, Story
from query_reduction.training.run import Run, run_result, train_to_end
from query_reduction.training.setup import setup


def majority(w: Mapping[str, Tensor], question: Sequence[int], story: Sequence[Sequence[int]]) -> Tensor:
    return w["answer_weight"][:, 0]


def hidden(w: Mapping[str, Tensor], x: Tensor) -> Tensor:
    return w["answer_weight"] @ torch.tanh(x @ w["hidden_weight"] + w["hidden_bias"])


def question_only(w: Mapping[str, Tensor], question: Sequence[int], story: Sequence[Sequence[int]]) -> Tensor:
    return hidden(w, position_encoding(w["embedding"], question, VOCABULARY.longest_sentence))


def story_only(w: Mapping[str, Tensor], question: Sequence[int], story: Sequence[Sequence[int]]) -> Tensor:
    x = torch.zeros_like(w["hidden_bias"])
    for words in story:
        x = x + position_encoding(w["embedding"], words, VOCABULARY.longest_sentence)
    return hidden(w, x)


def bag_of_words(w: Mapping[str, Tensor], question: Sequence[int], story: Sequence[Sequence[int]]) -> Tensor:
    x = sum((w["question_embedding"][word] for word in question), torch.zeros_like(w["embedding"][0]))
    for words in story:
        x = x + sum((w["embedding"][word] for word in words), torch.zeros_like(x))
    return w["answer_weight"] @ x


def test_equal_their_equations() -> None:
    assert_equals(small("majority"), majority)
    assert_equals(small("question-only", dimension=5), question_only)
    assert_equals(small("story-only", dimension=5), story_only)
    assert_equals(small("bag-of-words", dimension=5), bag_of_words)


@pytest.mark.parametrize(("name", "field"), [("question-only", "stories"), ("story-only", "questions")])
def test_see_only_what_they_should(name: str, field: str) -> None:
    network, batch = small(name), example_batch()
    other = replace(batch, **{field: (getattr(batch, field) + 1) % 9})
    torch.testing.assert_close(network.scores(other), network.scores(batch))


@pytest.mark.parametrize(
    ("name", "error"), [("majority", 60), ("question-only", 30), ("story-only", 40), ("bag-of-words", 0)]
)
def test_find_what_there_is_to_find(name: str, error: float) -> None:
    """The answer to y is always b; that to x is a when it rains and c in the sun. Six of ten ask x."""
    told = {("rain", "x"): ("a", 3), ("rain", "y"): ("b", 2), ("sun", "x"): ("c", 3), ("sun", "y"): ("b", 2)}
    asked = [
        Story((weather,), (Question(question, answer, 1),))
        for (weather, question), (answer, often) in told.items()
        for _ in range(often * 20)
    ]
    run = Run(StoryParts("weather", asked, asked[::5], asked), setup(name, changes={"restarts": 1}))
    train_to_end(run)
    assert run_result(run).chosen.test_error == pytest.approx(error)


def test_cannot_reason() -> None:
    assert error_after_training("bag-of-words", questions=500) > 30
