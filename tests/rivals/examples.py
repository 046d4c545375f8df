"""What the tests of networks share: a small batch, a comparison with plain equations, and a quick training."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from query_reduction.heads.arrays import HeadConfig
from query_reduction.reading.stories import StoryParts
from query_reduction.rivals.registry import build_network, kinds
from query_reduction.stacked.network import Seeds, StackedNetwork
from query_reduction.stacked.tensors import TensorBatch
from query_reduction.text.vocabulary import Vocabulary
from query_reduction.training.run import Run, run_result, train_to_end
from query_reduction.training.setup import setup
from query_reduction.worlds import generate_splits

WORDS = tuple("abcdefghijk")
VOCABULARY = Vocabulary(WORDS, ("b", "b,c", "d", "yes"), longest_sentence=6, longest_story=9)
"""Two of the answers are words, two are not."""

Plain = Callable[[Mapping[str, Tensor], Sequence[int], Sequence[Sequence[int]]], Tensor]
"""Scores of all answers from the weights of one restart, the words of a question, and the words of each sentence."""


def example_batch() -> TensorBatch:
    """Four questions; the story of the last is empty."""
    generator = torch.Generator().manual_seed(1)
    words = torch.randint(2, VOCABULARY.size, (9, 6), generator=generator)
    words[::2, 4:] = 0
    stories = torch.randint(0, 9, (4, 7), generator=generator)
    return TensorBatch(
        words, stories, torch.tensor([7, 3, 1, 0]), torch.tensor([0, 3, 5, 8]), torch.tensor([0, 1, 2, 3])
    )


def small(name: str, restarts: Sequence[int] = (0,), **changes: Any) -> StackedNetwork:
    """A network in double precision, with random weights everywhere."""
    network = build_network(kinds()[name].config(**changes), VOCABULARY, HeadConfig(), Seeds(restarts)).double()
    generator = torch.Generator().manual_seed(3)
    for parameter in network.parameters():
        torch.nn.init.normal_(parameter, std=0.6, generator=generator)
    return network


def assert_equals(network: StackedNetwork, plain: Plain) -> None:
    """Values and gradients of the network's first restart equal those of the plain version."""
    batch = example_batch()
    weights = {name: value.detach()[0].clone().requires_grad_() for name, value in network.named_parameters()}
    words = [[word for word in row if word] for row in batch.words.tolist()]
    expected = torch.stack(
        [
            plain(weights, words[question], [words[row] for row in story[:length]])
            for question, story, length in zip(
                batch.questions.tolist(), batch.stories.tolist(), batch.lengths.tolist(), strict=True
            )
        ]
    )
    scores = network.scores(batch)[0]
    torch.testing.assert_close(scores, expected, rtol=1e-9, atol=1e-10)
    direction = torch.randn(scores.shape, generator=torch.Generator().manual_seed(4), dtype=scores.dtype)
    (scores * direction).sum().backward()
    (expected * direction).sum().backward()
    for name, parameter in network.named_parameters():
        own = weights[name].grad
        assert parameter.grad is not None and own is not None, name
        error = (parameter.grad[0] - own).abs().max()
        assert error <= 1e-9 * (1 + own.abs().max()), name


def position_encoding(table: Tensor, words: Sequence[int], longest: int) -> Tensor:
    """Σ_j l_j ∘ e_j with l_kj = (1 - k/d) + (j/J)(2k/d - 1), as the paper of MemN2N has it."""
    d = table.shape[1]
    total = table.new_zeros(d)
    for j, word in enumerate(words, start=1):
        total = total + torch.stack(
            [((1 - k / d) + (j / longest) * (2 * k / d - 1)) * table[word, k - 1] for k in range(1, d + 1)]
        )
    return total


def error_after_training(name: str, task: int = 1, questions: int = 1000, **changes: Any) -> float:
    """The test error of a network trained by its own recipe, with changes, on generated stories."""
    parts = generate_splits(task, {"train": questions, "valid": 100, "test": 300})
    run = Run(
        StoryParts("generated", parts["train"], parts["valid"], parts["test"]),
        setup(name, changes={"restarts": 1, **changes}),
    )
    train_to_end(run)
    error = run_result(run).chosen.test_error
    assert error is not None
    return error
