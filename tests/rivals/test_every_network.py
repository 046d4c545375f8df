"""What every registered network must do; a new one is tested here without a word added."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest
import torch
from examples import VOCABULARY, example_batch
from small_networks import weights_of
from torch.nn import functional

from query_reduction.heads.arrays import HeadConfig
from query_reduction.model_file import SavedModel, load_model, save_model
from query_reduction.reading.stories import StoryOptions, StoryTask
from query_reduction.rivals.registry import build_network, kinds, name_of
from query_reduction.rivals.trained import restore_network
from query_reduction.settings import changed
from query_reduction.stacked.network import Seeds, StackedNetwork
from query_reduction.stacked.tensors import TensorBatch
from query_reduction.text.encoding import encode_stories
from query_reduction.text.stories import Question, Story
from query_reduction.text.vocabulary import UNKNOWN_WORD, Vocabulary
from query_reduction.training.recipes import Recipe
from query_reduction.training.setup import setup
from query_reduction.training.stack import ParameterStack

# A network that reads names as symbols of their story has stories of its own: test_follow.
every_network = pytest.mark.parametrize(
    "name", [name for name, kind in kinds().items() if kind.recipe.get("names") != "symbols"]
)

DIALOG = Story(
    ("a_place R_phone a_place_phone", "b_place R_phone b_place_phone", "i like b_place", "ok"),
    (
        Question("hi", "hello", 0),
        Question("tell me the phone", "here it is b_place_phone", 4),
        Question("a table in rome", "api_call italian rome", 3),
    ),
)
CANDIDATES = ("api_call french rome", "api_call italian rome", "hello", "hello you", "here it is b_place_phone")


def build(name: str, restarts: Sequence[int] = (0, 1)) -> StackedNetwork:
    """The network as it is without any setting changed, in double precision, ready to be trained or asked."""
    return _ready(build_network(kinds()[name].config(), VOCABULARY, HeadConfig(), Seeds(restarts)))


def _ready(network: StackedNetwork) -> StackedNetwork:
    network.noise = torch.Generator().manual_seed(5)
    return network.double()


@every_network
def test_shapes(name: str) -> None:
    network, batch = build(name).eval(), example_batch()
    assert network.restarts == 2
    assert network.scores(batch).shape == (2, 4, len(VOCABULARY.answers))
    assert network.losses(batch).shape == (2, 4)


@every_network
def test_words_it_never_learned_have_no_meaning(name: str) -> None:
    """Their vectors are never trained: drawn at random they would change answers at random."""
    vectors = [weight for key, weight in build(name).named_parameters() if key.endswith("embedding")]
    assert vectors or name == "majority"
    for weight in vectors:
        assert not weight[..., UNKNOWN_WORD, :].any()


@every_network
def test_texts_without_words_get_an_answer(name: str) -> None:
    told = torch.zeros(1, 2, dtype=torch.int64)
    batch = TensorBatch(torch.zeros(1, 0, dtype=torch.int64), told, torch.tensor([2]), told[0, :1], told[0, :1])
    scores = build(name).eval().scores(batch)
    assert scores.shape == (2, 1, len(VOCABULARY.answers))
    assert scores.isfinite().all()


@every_network
def test_loss_is_the_cross_entropy_of_the_scores(name: str) -> None:
    config = kinds()[name].config()
    if hasattr(config, "retelling"):
        config = replace(config, retelling=0.0)  # a second loss, of the words themselves
    network = _ready(build_network(config, VOCABULARY, HeadConfig(), Seeds((0, 1)))).eval()
    batch = example_batch()
    scores = network.scores(batch).transpose(1, 2)
    expected = functional.cross_entropy(scores, batch.answers.expand(2, -1), reduction="none")
    torch.testing.assert_close(network.losses(batch), expected)


@every_network
def test_every_parameter_has_a_gradient(name: str) -> None:
    network = build(name)
    # Not all four questions: their answers are equally frequent, which is what the control of frequencies starts with.
    network.losses(example_batch())[:, :3].sum().backward()
    for parameter_name, parameter in network.named_parameters():
        assert parameter.grad is not None, parameter_name
        assert bool((parameter.grad.flatten(1).abs().sum(1) > 0).all()), parameter_name


@every_network
def test_weight_decay_is_declared_for_every_parameter(name: str) -> None:
    network = build(name)
    assert [found for found, _ in network.decay_uses()] == [found for found, _ in network.named_parameters()]


@every_network
def test_restarts_do_not_mix(name: str) -> None:
    network = build(name, range(3))
    network.losses(example_batch())[1].sum().backward()
    for parameter in network.parameters():
        assert parameter.grad is not None
        assert parameter.grad[[0, 2]].abs().sum() == 0


@every_network
def test_a_restart_is_the_same_in_any_stack(name: str) -> None:
    recipe = changed(Recipe(), {key: value for key, value in kinds()[name].recipe.items() if key in _names(Recipe)})
    stack, alone = build(name, range(4)), build(name, [2])
    for _ in range(2):
        for parameter_name, parameter in alone.named_parameters():
            torch.testing.assert_close(parameter[0], stack.get_parameter(parameter_name)[2])
        torch.testing.assert_close(alone.eval().scores(example_batch())[0], stack.eval().scores(example_batch())[2])
        _step(stack, recipe)
        _step(alone, recipe)


def _step(network: StackedNetwork, recipe: Recipe) -> None:
    _ready(network).train().begin_epoch(0)
    weights = ParameterStack(network, recipe)
    weights.zero_gradients()
    network.losses(example_batch()).sum().backward()
    weights.clip_gradients(1.0)
    weights.step(recipe.learning_rate)


@every_network
def test_padding_changes_nothing(name: str) -> None:
    network, batch = build(name).eval(), example_batch()
    stories = torch.cat([batch.stories, batch.stories.flip(1)], dim=1)
    padded = TensorBatch(functional.pad(batch.words, (0, 5)), stories, batch.lengths, batch.questions, batch.answers)
    torch.testing.assert_close(network.scores(padded), network.scores(batch))


@every_network
def test_questions_do_not_mix(name: str) -> None:
    network, batch = build(name).eval(), example_batch()
    one = TensorBatch(batch.words, batch.stories[1:2], batch.lengths[1:2], batch.questions[1:2], batch.answers[1:2])
    torch.testing.assert_close(network.scores(one)[:, 0], network.scores(batch)[:, 1])


@every_network
def test_empty_stories(name: str) -> None:
    network, batch = build(name).eval(), example_batch()
    nothing = TensorBatch(
        batch.words, batch.stories[:, :0], torch.zeros(4, dtype=torch.int64), batch.questions, batch.answers
    )
    scores = network.scores(nothing)
    assert bool(scores.isfinite().all())
    torch.testing.assert_close(scores[:, 3], network.scores(batch)[:, 3])
    network.trace(nothing)
    network.train().losses(nothing).sum().backward()
    assert all(parameter.grad is None or bool(parameter.grad.isfinite().all()) for parameter in network.parameters())


@every_network
def test_saved_and_restored(name: str, tmp_path: Path) -> None:
    config = kinds()[name].config()
    network = build_network(config, VOCABULARY, HeadConfig(), Seeds([4])).eval()
    save_model(tmp_path / "model", SavedModel(config, StoryTask(VOCABULARY, StoryOptions()), weights_of(network)))
    restored = load_model(tmp_path / "model")
    assert restored.config == config
    batch = example_batch()
    with torch.inference_mode():
        expected = network.scores(batch)[0].numpy()
    np.testing.assert_allclose(restored.network().scores(batch.as_arrays()), expected, rtol=1e-5, atol=1e-6)
    again = restore_network(config, VOCABULARY, HeadConfig(), restored.weights)
    torch.testing.assert_close(again.scores(batch), network.scores(batch), rtol=0, atol=0)


@every_network
def test_trace(name: str) -> None:
    network, batch = build(name).eval(), example_batch()
    trace = network.trace(batch)
    if trace is None:
        return
    torch.testing.assert_close(trace.scores, network.scores(batch))
    assert trace.layers
    past = torch.arange(7) >= batch.lengths.unsqueeze(1)
    for layer in trace.layers:
        assert layer.weights.shape == (2, 4, 7)
        assert bool((layer.weights >= 0).all())
        assert bool((layer.weights.sum(2) <= 1 + 1e-9).all())
        assert layer.weights[:, past].abs().sum() == 0
        for gate in layer.gates.values():
            assert gate.shape[:3] == (2, 4, 7)
            assert bool(((gate >= 0) & (gate <= 1)).all())


@every_network
@pytest.mark.parametrize(
    "head",
    [
        HeadConfig("responses"),
        HeadConfig("responses", match="paper"),
    ],
    ids=lambda head: f"{head.kind}-{head.match}",
)
def test_dialogs(name: str, head: HeadConfig) -> None:
    words = replace(Vocabulary.from_stories([DIALOG], "spaces"), answers=CANDIDATES)
    batch = TensorBatch.of(encode_stories([DIALOG], words, 0).batch(np.arange(3)))
    network = _ready(build_network(kinds()[name].config(), words, head, Seeds(range(2))))
    assert network.eval().scores(batch).shape == (2, 3, len(CANDIDATES))
    losses = network.train().losses(batch)
    assert losses.shape == (2, 3)
    losses.sum().backward()
    assert all(parameter.grad is not None for parameter in network.parameters())


@every_network
def test_published_recipe(name: str) -> None:
    """The recipe ``original`` has each setting of it."""
    kind = kinds()[name]
    for data in ("stories", "dialogs"):
        found = setup(name_of(kind.config()), "original", kind=data)
        for part in (found.recipe, found.task):
            for setting, value in kind.recipe.items():
                assert getattr(part, setting, value) == value
        assert math.isfinite(found.recipe.learning_rate)


def _names(settings: type) -> set[str]:
    return {field.name for field in fields(settings)}
