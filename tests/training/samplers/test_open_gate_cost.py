"""The cost of gates that open at sentences of a haystack."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from small_networks import in_use, qrn, variant

from query_reduction import worlds
from query_reduction.qrn.network import QueryReductionNetwork
from query_reduction.text.encoding import encode_stories
from query_reduction.text.haystack import hide
from query_reduction.text.stories import Question, Story
from query_reduction.text.vocabulary import Vocabulary
from query_reduction.training.recipes import Recipe
from query_reduction.training.samplers.open_gate_cost import Shutting, hard_sentences

STORIES = worlds.generate(1, 20)
BOOK = [f"And the {number % 7}th day was day {number}, said Mary." for number in range(60)]
WORDS = Vocabulary.from_stories(STORIES).with_words_of(BOOK, 3)
RECIPE = Recipe(hidden=1, shut=1.0, split="story")


def network_of(name: str, **changes: Any) -> QueryReductionNetwork:
    return qrn(replace(variant(name, gate_stretch=1.2, forget_bias=0.0, **changes), dimension=8), WORDS, range(1), 3)


def shutting(**changes: Any) -> Shutting:
    return Shutting(WORDS, replace(RECIPE, **changes), STORIES, BOOK, {}, 0)


def most_open(network: QueryReductionNetwork, text: str) -> float:
    """The highest score of the first layer's gates at a sentence, for the question that has most to do with it."""
    asked = list({question.text for story in STORIES for question in story.questions})
    encoded = encode_stories([Story((text,), (Question(one, "", 1),)) for one in asked], WORDS, 0)
    plain = replace(network.config, gate_stretch=1.0)
    trace = in_use(qrn_with(network, plain), WORDS).trace(encoded.batch(np.arange(len(asked))))
    z = float(trace.layers[0].gates["update"].max())
    return float(np.log(z / (1 - z)))


def qrn_with(network: QueryReductionNetwork, config: Any) -> QueryReductionNetwork:
    found = qrn(config, WORDS, range(1))
    found.load_state_dict(network.state_dict())
    return found


def test_hard_sentences_exceed_the_bound() -> None:
    network = network_of("1")
    highest = {text: most_open(network, text) for text in BOOK}
    bound = (min(highest.values()) + max(highest.values())) / 2
    found = hard_sentences(network, WORDS, replace(RECIPE, shut_below=bound), STORIES, BOOK, random.Random(0))
    assert 0 < len(found) < len(BOOK)
    assert all(highest[text] > bound for text in found)
    with torch.no_grad():
        network.update_bias.sub_(100)
    assert not hard_sentences(network, WORDS, RECIPE, STORIES, BOOK, random.Random(0))


@pytest.mark.parametrize("name", ["1", "3rv"])
def test_gates_at_other_sentences_learn_to_be_shut_and_a_hidden_story_then_reads_like_the_story_alone(
    name: str,
) -> None:
    network = network_of(name)
    among = BOOK[:40]
    story = replace(STORIES[0], questions=STORIES[0].questions[-1:])
    told = [story, hide(story, among, random.Random(1))]

    def difference() -> float:
        batch = encode_stories(told, WORDS, 0).batch(np.arange(2))
        alone, hidden = in_use(network, WORDS).scores(batch)
        return float(abs(alone - hidden).max())

    steps = torch.optim.Adam(network.parameters(), 0.01)
    cost = shutting()
    network.train()
    first = cost.cost(network, 0)
    assert first is not None and first > 0 and difference() > 1e-3
    for step in range(0, 300, 2):
        found = cost.cost(network, step)
        assert found is not None
        steps.zero_grad()
        found.sum().backward()
        steps.step()
    last = cost.cost(network, 0)
    assert last is not None and last < first / 100
    assert difference() < 1e-6


def test_every_second_step_has_the_cost_twice() -> None:
    network = network_of("2r")
    once, twice = shutting().cost(network, 4), shutting(shut=2.0).cost(network, 4)
    assert once is not None and twice is not None
    torch.testing.assert_close(twice, 2 * once)
    assert shutting().cost(network, 5) is None
    with torch.no_grad():
        network.update_bias.sub_(100)
    nothing = shutting().cost(network, 4)
    assert nothing is not None and nothing == 0


def test_hard_sentences_are_tried_more_often() -> None:
    network = network_of("1")
    worst = max(BOOK, key=lambda text: most_open(network, text))
    plain = shutting().cost(network, 0)
    found = Shutting(WORDS, RECIPE, STORIES, BOOK, {worst: 1.0}, 0).cost(network, 0)
    assert plain is not None and found is not None and found > plain
