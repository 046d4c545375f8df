"""What every stacked network must keep to, as checks that the tests of single networks call."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from query_reduction.heads.arrays import HeadConfig
from query_reduction.reading.stories import StoryOptions, StoryParts
from query_reduction.rivals.registry import build_network
from query_reduction.settings import changed
from query_reduction.stacked.network import Seeds, StackedNetwork
from query_reduction.stacked.tensors import TensorBatch
from query_reduction.text.vocabulary import Vocabulary
from query_reduction.training.recipes import Recipe
from query_reduction.training.run import Run, best_restart, train_to_end, trained_model
from query_reduction.training.setup import Setup
from query_reduction.worlds import Split, generate_splits, shortened

VOCABULARY = Vocabulary(tuple("abcdefghijk"), ("w", "x", "y", "z"), 6)

Plain = Callable[[dict[str, Tensor], TensorBatch, int], Tensor]
"""The scores of one question of a batch by the equations, given the weights of one restart."""


def small_batch() -> TensorBatch:
    """Four questions: a full story, shorter ones, and an empty one; sentences of different lengths."""
    generator = torch.Generator().manual_seed(1)
    words = torch.randint(2, VOCABULARY.size, (9, 6), generator=generator)
    words[::2, 4:] = 0
    words[3, 1:] = 0
    stories = torch.randint(0, 9, (4, 7), generator=generator)
    return TensorBatch(
        words, stories, torch.tensor([7, 3, 1, 0]), torch.tensor([0, 3, 5, 8]), torch.tensor([0, 1, 2, 3])
    )


def build(config: Any, restarts: range = range(1)) -> StackedNetwork:
    """A network in double precision, without its noise."""
    return build_network(config, VOCABULARY, HeadConfig(), Seeds(restarts)).double().eval()


def scramble(network: StackedNetwork, deviation: float = 0.5) -> None:
    """Weights that hide nothing: none is zero, or one, or equal to another."""
    generator = torch.Generator().manual_seed(3)
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.add_(torch.randn(parameter.shape, generator=generator, dtype=parameter.dtype) * deviation)


def equals_the_equations(config: Any, plain: Plain) -> None:
    """Scores, and the gradient of every parameter, against a version that goes through questions one by one."""
    network, batch = build(config), small_batch()
    scramble(network)
    weights = {name: value[0].detach().requires_grad_() for name, value in network.named_parameters()}
    expected = torch.stack([plain(weights, batch, number) for number in range(len(batch.lengths))])
    found = network.scores(batch)[0]
    torch.testing.assert_close(found, expected, rtol=1e-9, atol=1e-10)
    direction = torch.randn(expected.shape, generator=torch.Generator().manual_seed(5), dtype=torch.float64)
    (expected * direction).sum().backward()
    (found * direction).sum().backward()
    for name, parameter in network.named_parameters():
        own, by_hand = parameter.grad, weights[name].grad
        if own is None or by_hand is None:
            # A part that only the loss uses.
            assert own is None and by_hand is None, name
            continue
        assert torch.allclose(own[0], by_hand, rtol=1e-7, atol=1e-9), name


def restarts_do_not_mix(config: Any) -> None:
    """The loss of one restart moves its own weights, all of them, and no others."""
    stack = build(config, range(3))
    scramble(stack)
    stack.losses(small_batch())[1].sum().backward()
    for name, parameter in stack.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad[1].abs().sum() > 0, name
        assert parameter.grad[[0, 2]].abs().sum() == 0, name


def is_the_same_in_any_stack(config: Any) -> None:
    """A restart begins and computes as it would alone, with noise too."""
    stack, alone = build(config, range(4)), build(config, range(2, 3))
    for name, parameter in alone.named_parameters():
        assert torch.equal(parameter[0], stack.get_parameter(name)[2])
    batch = small_batch()
    torch.testing.assert_close(stack.scores(batch)[2], alone.scores(batch)[0])
    for network in (stack, alone):
        network.train()
        network.noise = torch.Generator().manual_seed(7)
    torch.testing.assert_close(stack.losses(batch)[2], alone.losses(batch)[0])


def ignores_padding(config: Any) -> None:
    """Neither longer rows of words nor more time change a score or a loss."""
    network, batch = build(config), small_batch()
    scramble(network)
    stories = torch.cat((batch.stories, batch.stories.flip(1)), dim=1)
    padded = TensorBatch(functional.pad(batch.words, (0, 5)), stories, batch.lengths, batch.questions, batch.answers)
    torch.testing.assert_close(network.scores(padded), network.scores(batch))
    torch.testing.assert_close(network.losses(padded), network.losses(batch))


def reads_empty_stories(config: Any) -> None:
    """Questions without any story have scores, losses and gradients that are numbers."""
    network, full = build(config, range(2)), small_batch()
    empty = torch.zeros(4, 0, dtype=torch.int64)
    batch = TensorBatch(full.words, empty, torch.zeros(4, dtype=torch.int64), full.questions, full.answers)
    assert network.scores(batch).shape == (2, 4, 4)
    network.losses(batch).sum().backward()
    assert all(parameter.grad is None or bool(parameter.grad.isfinite().all()) for parameter in network.parameters())
    together = network.scores(full)[:, 3]
    torch.testing.assert_close(network.scores(batch)[:, 3], together)


def shows_how_it_reads(config: Any, layers: int | None) -> None:
    """A trace has weights for every sentence, none past a story's end, at most 1 in sum; and the very scores.

    None stands for a number of layers that depends on what is read.
    """
    network, batch = build(config, range(2)), small_batch()
    scramble(network)
    trace = network.trace(batch)
    assert trace is not None
    assert len(trace.layers) == layers or (layers is None and trace.layers)
    torch.testing.assert_close(trace.scores, network.scores(batch))
    past = torch.arange(7) >= batch.lengths.unsqueeze(1)
    for layer in trace.layers:
        assert layer.weights.shape == (2, 4, 7)
        assert layer.weights.min() >= 0
        assert layer.weights.sum(2).max() <= 1 + 1e-9
        assert layer.weights[:, past].abs().max() == 0
        assert all(gate.shape[:3] == (2, 4, 7) for gate in layer.gates.values())


def works_with_any_head(config: Any) -> None:
    """The heads of dialogs fit, too."""
    responses = Vocabulary(VOCABULARY.words, ("a b", "a c", "api_call d e", "f"), 6, "spaces")
    for head in (HeadConfig("responses"), HeadConfig("responses", "paper"), HeadConfig("responses", "original")):
        network, batch = build_network(config, responses, head, Seeds(range(2))).double().eval(), small_batch()
        assert network.scores(batch).shape == (2, 4, 4)
        assert bool(network.losses(batch).isfinite().all())


def error_after_training(
    config: Any, recipe: dict[str, Any], task: int = 1, *, questions: int = 1000, short: bool = False
) -> float:
    """Train on generated stories, made short where wanted; the error on others, in percent."""
    told = generate_splits(task, {"train": questions, "test": 200})
    splits: tuple[Split, Split] = ("train", "test")
    train, test = (list(shortened(told[split], 0)) if short else told[split] for split in splits)
    parts = StoryParts("generated", train, test=test)
    known = {field.name for field in fields(StoryOptions)}
    options = changed(StoryOptions(), {name: value for name, value in recipe.items() if name in known})
    own = {name: value for name, value in recipe.items() if name not in known}
    run = Run(parts, Setup(config, options, changed(Recipe(), {"restarts": 2, **own})))
    train_to_end(run)
    return run.task.score([trained_model(run, best_restart(run)).network()], test)[0].error
