"""The recipe ``authors``: what a network brings with it, and the settings only such recipes need."""

from __future__ import annotations

import pytest
import torch

from query_reduction.reading.stories import StoryOptions, StoryParts
from query_reduction.text.stories import Question, Story
from query_reduction.training.optimisers import build_optimiser
from query_reduction.training.recipes import Recipe
from query_reduction.training.restarts import learning_rate
from query_reduction.training.setup import setup


def test_a_network_is_trained_as_its_authors_did() -> None:
    found = setup("memn2n")
    assert (found.recipe.optimiser, found.recipe.clip, found.recipe.batch_loss) == ("sgd", 40, "sum")
    assert setup("entnet").task.memory == 70
    assert setup("memn2n", "adam").recipe.optimiser == "adam"
    assert setup("memn2n", changes={"learning_rate": 0.01}).recipe.learning_rate == 0.01


@pytest.mark.parametrize("decay", [0.0, 0.1])
def test_gradient_descent(decay: float) -> None:
    values, gradients = torch.randn(2, 5, generator=torch.Generator().manual_seed(0)).double().unbind(0)
    expected = torch.nn.Parameter(values.clone())
    expected.grad = gradients.clone()
    torch.optim.SGD([expected], lr=0.3, weight_decay=decay).step()
    rule, own = build_optimiser(Recipe(optimiser="sgd")), values.clone()
    rule.step(own, gradients, {}, 0, rate=0.3, decay=decay)
    torch.testing.assert_close(own, expected.detach())


def test_halvings_are_counted_from_a_later_epoch() -> None:
    recipe = Recipe(learning_rate=8, halve_every=2, halve_after=3)
    assert [learning_rate(recipe, epoch) for epoch in range(8)] == [8, 8, 8, 8, 8, 4, 4, 2]


def test_small_letters() -> None:
    stories = [Story(("Gertrude is a mouse.",), (Question("What is gertrude?", "mouse", 1),))]
    parts = StoryParts("mice", stories)
    kept, any_case = (
        parts.learn(options, stories).vocabulary for options in (StoryOptions(), StoryOptions(writing="any"))
    )
    assert {"Gertrude", "gertrude"} <= set(kept.words)
    assert any_case.words == ("a", "gertrude", "is", "mouse", "what")
    assert any_case.unknown_words(["GERTRUDE is Emily"]) == ["Emily"]
    assert any_case.longest_story == 1
