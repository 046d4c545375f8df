"""Figures of explanations: by hand, against all orders, and a model that must find its facts."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest
from small_networks import saved_story_model, story_model

from query_reduction.explain.scoring import expected_of_random, score_explanations, score_ranking
from query_reduction.reading.stories import StoryTask
from query_reduction.text.stories import Question, Story


def test_figures_by_hand() -> None:
    # Facts at places 1 and 3 of the ranking; a third fact was never read.
    assert score_ranking([4, 0, 2, 1, 3, 5], {4, 2}, 3) == pytest.approx([1, 2 / 3, 2 / 3, (1 + 2 / 3) / 3])
    assert score_ranking([0, 1, 2], {2}, 1) == pytest.approx([0, 0, 1, 1 / 3])


@pytest.mark.parametrize(("read", "facts", "total"), [(1, 1, 1), (4, 2, 2), (6, 1, 2), (6, 3, 3), (5, 0, 1)])
def test_chance_is_the_mean_over_all_orders(read: int, facts: int, total: int) -> None:
    every = [score_ranking(order, set(range(facts)), total) for order in permutations(range(read))]
    np.testing.assert_allclose(expected_of_random(read, facts, total), np.mean(every, axis=0))


def test_a_model_that_looks_for_one_word_finds_its_sentence() -> None:
    stories = [
        Story(
            ("red it is.", "so be it.", "it was so."),
            (Question("which?", "red", 1, (0,)), Question("which?", "red", 3, (0,)), Question("why?", "red", 3)),
            "1",
        )
    ]
    saved = saved_story_model("1r4", stories)
    assert isinstance(saved.task, StoryTask)
    weights = dict(saved.weights)
    weights["embedding"][:] = 0
    for word in ("red", "which"):
        weights["embedding"][0, saved.task.vocabulary.numbers(word)] = 10
    weights["update_weight"][:] = 1
    scores = score_explanations(replace(saved, weights=weights).network(), saved.task, stories)
    assert list(scores) == ["1"]
    assert scores["1"]["questions"] == 2  # the third names no facts
    assert scores["1"]["model"]["r_precision"] == 100
    assert scores["1"]["recency"]["precision_at_1"] == 50
    assert scores["1"]["random"]["precision_at_1"] == pytest.approx(100 * (1 + 1 / 3) / 2, abs=0.01)


def test_facts_beyond_memory_count_as_missed() -> None:
    story = Story(("a b.", "c d.", "e f."), (Question("a?", "b", 3, (0, 2)),), "7")
    model = story_model("1r4", [story], memory=2)
    scores = score_explanations(model.network, model.task, [story])["7"]
    assert scores["recency"] == {"precision_at_1": 100, "r_precision": 50, "recall_at_5": 50, "average_precision": 50}
