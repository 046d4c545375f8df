"""Training: same numbers again, together as alone, interrupted as not."""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from walking import train

from query_reduction.errors import InputError
from query_reduction.qrn.network import QueryReductionNetwork
from query_reduction.reading.protocol import Parts
from query_reduction.reading.stories import StoryOptions, StoryParts
from query_reduction.rivals.registry import resolve
from query_reduction.sources.named import load_parts
from query_reduction.text.splits import shared_examples, split_by_story
from query_reduction.text.stories import Question, Story
from query_reduction.training.recipes import Recipe
from query_reduction.training.restarts import batch_order
from query_reduction.training.run import Run, run_result
from query_reduction.training.run_folder import STATE_FILE, RunFolder
from query_reduction.training.setup import Setup

RECIPE = Recipe(restarts=3, max_epochs=12, evaluate_every=2, patience=4, keep="loss")
ADAM = replace(RECIPE, optimiser="adam", learning_rate=0.02)
READOUT_FIRST = replace(ADAM, readout_epochs=3)
either_optimiser = pytest.mark.parametrize("recipe", [RECIPE, ADAM], ids=["adagrad", "adam"])
any_schedule = pytest.mark.parametrize("recipe", [RECIPE, ADAM, READOUT_FIRST], ids=["adagrad", "adam", "readout"])


@pytest.fixture(scope="module")
def parts() -> Parts:
    return load_parts("generated", "1", questions=200)


def make(parts: Parts, recipe: Recipe = RECIPE, restarts: range | None = None, network: str = "2r8") -> Run:
    return Run(parts, Setup(resolve(network), StoryOptions(), recipe), restarts)


def outcome(run: Run) -> list[tuple[int, int, float, float]]:
    return [(r.number, r.best_epoch, r.dev_loss, r.dev_error) for r in run.trainer.restarts]


def assert_same_weights(one: Run, other: Run) -> None:
    for mine, theirs in zip(one.trainer.restarts, other.trainer.restarts, strict=True):
        for name, weight in mine.weights.items():
            assert torch.equal(weight, theirs.weights[name])


def test_same_seed_same_bits(parts: Parts) -> None:
    one, other = make(parts), make(parts)
    assert train(one)
    assert train(other)
    assert outcome(one) == outcome(other)
    assert_same_weights(one, other)


def test_another_seed_is_another_training(parts: Parts) -> None:
    one, other = make(parts), make(parts, recipe=replace(RECIPE, seed=1))
    train(one)
    train(other)
    assert outcome(one) != outcome(other)


@pytest.mark.parametrize("network", ["2r8", "3v5", "gru", "lstm"])
@pytest.mark.parametrize("optimiser", ["adagrad", "adam", "sgd"])
def test_together_as_alone_to_the_last_bit(parts: Parts, optimiser: Any, network: str) -> None:
    recipe = replace(RECIPE, optimiser=optimiser, learning_rate=0.02, max_epochs=2, evaluate_every=1)
    together = make(parts, recipe=recipe, restarts=range(7), network=network)
    train(together)
    for some in (range(1, 2), range(2, 5)):
        apart = make(parts, recipe=recipe, restarts=some, network=network)
        train(apart)
        for restart in apart.trainer.restarts:
            theirs = together.trainer.restarts[restart.number].weights
            assert all(torch.equal(weight, theirs[name]) for name, weight in restart.weights.items())


@any_schedule
def test_together_as_alone(parts: Parts, recipe: Recipe) -> None:
    """Each restart ends where it ends when trained by itself; leaving the stack early changes nothing for the rest."""
    together = make(parts, recipe=recipe)
    train(together)
    for number in range(3):
        alone = make(parts, recipe=recipe, restarts=range(number, number + 1))
        train(alone)
        (mine,), theirs = alone.trainer.restarts, together.trainer.restarts[number]
        assert mine.dev_loss == theirs.dev_loss
        assert mine.best_epoch == theirs.best_epoch


@any_schedule
@pytest.mark.parametrize("stop_at", [1, 2, 3, 5, 8])
def test_interrupted_and_resumed(parts: Parts, tmp_path: Path, stop_at: int, recipe: Recipe) -> None:
    whole = make(parts, recipe=recipe)
    train(whole)

    assert not train(make(parts, recipe), tmp_path, until=stop_at)
    second = make(parts, recipe)
    assert RunFolder(tmp_path).resume(second)
    assert second.trainer.epoch == stop_at
    assert train(second, tmp_path)
    assert outcome(second) == outcome(whole)
    assert_same_weights(second, whole)
    epochs = [line for line in (tmp_path / "curves.jsonl").read_text().splitlines() if '"restart": 0' in line]
    assert len(epochs) == len({line.split('"epoch": ')[1].split(",")[0] for line in epochs})


def test_state_of_another_training_is_refused(parts: Parts, tmp_path: Path) -> None:
    train(make(parts), tmp_path, until=1)
    with pytest.raises(InputError, match="different settings or data"):
        RunFolder(tmp_path).resume(make(parts, replace(RECIPE, batch=16)))


def test_damaged_state_is_named(parts: Parts, tmp_path: Path) -> None:
    train(make(parts), tmp_path, until=1)
    state = tmp_path / STATE_FILE
    state.write_bytes(state.read_bytes()[: state.stat().st_size // 2])
    with pytest.raises(InputError, match=STATE_FILE):
        RunFolder(tmp_path).resume(make(parts))


def test_choice_is_on_development_only(parts: Parts) -> None:
    run = make(parts)
    train(run)
    result = run_result(run)
    assert all(row.dev_loss is not None for row in result.restarts)
    chosen = min(result.restarts, key=lambda row: row.dev_loss or 0.0)
    assert result.chosen == chosen
    errors = [row.test_error for row in result.restarts]
    assert result.test_errors == errors
    shown = result.as_json()
    assert shown["chosen_restart"] == chosen.restart
    assert shown["test_error"] == chosen.test_error
    assert shown["test_errors"] == {"answer": {"1": chosen.test_error}}
    assert shown["test_error_mean"] == pytest.approx(np.mean(result.test_errors))
    assert shown["test_error_std"] == pytest.approx(np.std(result.test_errors))
    assert (shown["network"], shown["settings"]["network"]["network"]) == ("2r8", "qrn")


def test_held_out_questions_are_not_trained_on(parts: Parts) -> None:
    run = make(replace_dev(parts))
    train, dev = run.trainer.sampler.train, run.trainer.sampler.dev
    assert not set(train.chosen) & set(dev.chosen)
    assert (len(train), len(dev)) == (180, 20)


def replace_dev(parts: Parts) -> Parts:
    return StoryParts(parts.name, parts.train, [], parts.test)


def test_whole_stories_can_be_held_out(parts: Parts) -> None:
    run = make(replace_dev(parts), recipe=replace(RECIPE, split="story"))
    asked = sum(len(story.questions) for story in parts.train)
    held_out = len(run.trainer.sampler.dev)
    assert len(run.trainer.sampler.train) + held_out == asked
    assert abs(held_out - asked / 10) <= max(len(story.questions) for story in parts.train)
    split = split_by_story(parts.train, 0.1, 0)
    assert shared_examples(split.train, split.dev) == 0


def test_one_story_cannot_be_split_by_story() -> None:
    story = Story(("a b.",), (Question("a?", "b", 1), Question("a?", "b", 1)))
    with pytest.raises(InputError, match="too few to hold some out"):
        make(StoryParts("one", [story]), recipe=replace(RECIPE, split="story"))


def test_l2_counts_per_use_or_once(parts: Parts) -> None:
    """One step without gradient from the loss: the weights shrink by exactly what weight decay says."""
    for counting, uses in (("per-use", 3), ("once", 1)):
        recipe = replace(RECIPE, l2=0.01, l2_counting=counting, accumulator=0.1)  # type: ignore[arg-type]
        run = make(parts, recipe=recipe, network="3r8")
        network, stack = run.trainer.network, run.trainer._stack
        assert isinstance(network, QueryReductionNetwork)
        before = network.candidate_query.detach().clone()
        bias = network.candidate_bias.detach().clone()
        stack.zero_gradients()
        stack.step(1.0)
        gradient = 0.01 * uses * before
        expected = before - gradient / (0.1 + gradient**2).sqrt()
        torch.testing.assert_close(network.candidate_query.detach(), expected)
        assert torch.equal(network.candidate_bias, bias)


def test_adam_is_pytorchs(parts: Parts) -> None:
    """Over the flat buffer as PyTorch's optimiser over the parameters, also when a restart has left the stack."""
    run = make(parts, recipe=replace(ADAM, l2=0.0))
    stack, network = run.trainer._stack, run.trainer.network
    theirs = [weight.detach().clone().requires_grad_() for weight in network.parameters()]
    optimiser = torch.optim.Adam(theirs, lr=0.02)
    generator = torch.Generator().manual_seed(1)
    for step in range(6):
        if step == 3:
            stack.keep([0, 2])
        stack.zero_gradients()
        for mine, other in zip(network.parameters(), theirs, strict=True):
            other.grad = torch.randn(other.shape, generator=generator)
            assert mine.grad is not None
            mine.grad.copy_(other.grad if step < 3 else other.grad[[0, 2]])
        stack.step(0.02)
        optimiser.step()
    for mine, other in zip(network.parameters(), theirs, strict=True):
        torch.testing.assert_close(mine, other[[0, 2]])


@pytest.mark.parametrize("network", ["2r8", "gru"])
@either_optimiser
def test_the_readout_is_trained_first(parts: Parts, recipe: Recipe, network: str) -> None:
    """All other weights wait, weight decay or not; then the optimiser begins anew, and everything moves."""
    run = make(parts, recipe=replace(recipe, readout_epochs=2, l2=0.1, evaluate_every=1), network=network)
    weights = dict(run.trainer.network.named_parameters())
    start = {name: weight.detach().clone() for name, weight in weights.items()}

    def moved() -> set[str]:
        return {name for name, weight in weights.items() if not torch.equal(weight, start[name])}

    for epoch in range(2):
        run.trainer.run_to_next_look()
        assert moved() == {"answer_weight"}, epoch
    steps = len(run.trainer.sampler.train) // recipe.batch
    assert run.trainer._stack.state()["steps"] == 2 * steps
    run.trainer.run_to_next_look()
    assert moved() == set(weights)
    assert run.trainer._stack.state()["steps"] == steps


def test_an_optimiser_that_begins_anew_remembers_nothing(parts: Parts) -> None:
    one, other = (make(parts, recipe=ADAM).trainer._stack for _ in range(2))
    generator = torch.Generator().manual_seed(1)
    gradients = torch.randn(one._gradients.shape, generator=generator)
    one._gradients.copy_(gradients)
    one.step(0.02)
    one.forget_steps()
    other._values.copy_(one._values)
    for stack in (one, other):
        stack._gradients.copy_(gradients)
        stack.step(0.02)
    for name, value in one.state().items():
        assert torch.equal(value, other.state()[name]), name


def test_without_a_readout_of_its_own_none_can_be_trained_first(parts: Parts) -> None:
    with pytest.raises(InputError, match="no weights for readout-epochs to train first"):
        make(parts, recipe=READOUT_FIRST, network="memn2n")


@either_optimiser
def test_learns(parts: Parts, recipe: Recipe) -> None:
    run = make(parts, recipe=replace(recipe, max_epochs=30, patience=0, restarts=2))
    train(run)
    error = run_result(run).chosen.test_error
    assert error is not None and error < 20


def test_a_solved_restart_does_not_go_on_for_long(parts: Parts, tmp_path: Path) -> None:
    """It trains so many epochs more, wherever it is interrupted, and one that is not solved goes on to the end."""
    recipe = replace(RECIPE, max_epochs=60, patience=0, solved_epochs=4, restarts=4)
    run = make(parts, recipe=recipe)
    train(run)
    solved = [restart for restart in run.trainer.restarts if restart.solved_epoch is not None]
    assert solved
    for restart in run.trainer.restarts:
        expected = 60 if restart.solved_epoch is None else min(60, restart.solved_epoch + 4)
        assert restart.epochs == expected

    train(make(parts, recipe), tmp_path, until=solved[0].epochs - 1)
    again = make(parts, recipe)
    RunFolder(tmp_path).resume(again)
    train(again, tmp_path)
    assert [restart.epochs for restart in again.trainer.restarts] == [r.epochs for r in run.trainer.restarts]


@given(st.lists(st.integers(0, 5), min_size=1, max_size=30), st.integers(0, 3), st.integers(1, 8))
def test_the_questions_of_a_story_stay_together(stories: list[int], epoch: int, batch: int) -> None:
    batches = batch_order(0, epoch, len(stories), batch, np.array(stories))
    order = np.concatenate(batches).tolist()
    assert len(set(order)) == len(order) == max(len(stories) // batch * batch, min(len(stories), batch))
    told = [story for story, _ in groupby(order, key=stories.__getitem__)]
    assert len(set(told)) == len(told)


def test_stories_are_told_in_another_order_in_every_epoch() -> None:
    stories = np.arange(100) // 5
    first, second = (np.concatenate(batch_order(0, epoch, 100, 10, stories)).tolist() for epoch in (0, 1))
    assert sorted(first) == sorted(second) == list(range(100))
    assert first != second
