"""The flat buffer in which a stack of restarts is trained."""

from __future__ import annotations

import torch
from hypothesis import given
from hypothesis import strategies as st

from query_reduction.heads.arrays import HeadConfig
from query_reduction.rivals.registry import build_network, kinds
from query_reduction.stacked.network import Seeds
from query_reduction.text.vocabulary import Vocabulary
from query_reduction.training.recipes import Recipe
from query_reduction.training.stack import ParameterStack


@given(st.lists(st.sampled_from([0.0, 1e-4, 0.1, 5.0, 1e4]), min_size=1, max_size=4), st.sampled_from([0.5, 40.0]))
def test_clips_each_restart_by_its_own_norm(sizes: list[float], most: float) -> None:
    config = kinds()["memn2n"].config(dimension=4)
    vocabulary = Vocabulary(("a", "b"), ("a", "b"), longest_sentence=3, longest_story=2)
    network = build_network(config, vocabulary, HeadConfig(), Seeds(range(len(sizes))))
    stack = ParameterStack(network, Recipe())
    generator = torch.Generator().manual_seed(1)
    before = []
    for parameter in network.parameters():
        assert parameter.grad is not None
        for own, size in zip(parameter.grad, sizes, strict=True):
            own.copy_(torch.randn(own.shape, generator=generator) * size)
        before.append(parameter.grad.double().clone())
    stack.clip_gradients(most)
    for restart in range(len(sizes)):
        norm = torch.cat([gradient[restart].flatten() for gradient in before]).norm()
        scale = min(1.0, most / float(norm)) if norm else 1.0
        for parameter, gradient in zip(network.parameters(), before, strict=True):
            assert parameter.grad is not None
            torch.testing.assert_close(parameter.grad[restart], (gradient[restart] * scale).float())
