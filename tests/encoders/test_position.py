"""Sentences as weighted bags of words, against a plain loop."""

from __future__ import annotations

import torch
from hypothesis import given
from hypothesis import strategies as st

from query_reduction.encoders.position import bags_of_words


@given(st.integers(1, 3), st.integers(1, 30), st.integers(0, 5), st.integers(0, 5), st.integers(0, 2**31))
def test_bags_of_words(restarts: int, vocabulary: int, sentences: int, longest: int, seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    table = torch.randn(restarts, vocabulary, 3, generator=generator, dtype=torch.float64, requires_grad=True)
    words = torch.randint(0, vocabulary, (sentences, longest), generator=generator)
    weights = torch.randn(sentences, longest, generator=generator, dtype=torch.float64)
    found = bags_of_words(table, words, weights)
    # Word 0 stands for no word.
    expected = (table[:, words] * (weights * (words > 0)).unsqueeze(2)).sum(2)
    torch.testing.assert_close(found, expected)
    if not longest:  # nothing depends on the table
        return
    towards = torch.randn(found.shape, generator=generator, dtype=torch.float64)
    ours, theirs = (torch.autograd.grad((one * towards).sum(), table)[0] for one in (found, expected))
    torch.testing.assert_close(ours, theirs)
