"""Ways between names."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from query_reduction.rivals.routes import Routes, routes_of

NAMES = np.arange(40) >= 10
"""Words 10 to 39 are names."""
MARKS = 40


def routes(sentences: list[list[int]], question: list[int], **options: bool) -> Routes:
    return routes_of(sentences, question, NAMES, MARKS, **options)


def lengths(found: Routes) -> dict[int, int]:
    """The number of sentences that each pair is put together from, by every way that leads to it."""
    known = {told.pair: 1 for told in found.told}
    for level in found.levels[1:]:
        for ab, bc, ac in level:
            assert known.setdefault(ac, known[ab] + known[bc]) == known[ab] + known[bc]
    return known


def test_a_chain_is_put_together_in_every_order() -> None:
    found = routes([[10, 2, 11], [12, 2, 11], [12, 3, 13]], [4, 10, 13])
    assert found.steps == 3
    assert lengths(found)[found.asked] == 3
    # (a, c), (b, d) and two ways to (a, d)
    assert [len(level) for level in found.levels] == [0, 2, 2]
    assert {told.view for told in found.told} >= {(40, 2, 41), (41, 2, 40), (40, 3, 41)}


def test_forward_only() -> None:
    found = routes([[10, 2, 11], [12, 2, 11], [12, 3, 13]], [4, 10, 13], all_orders=False)
    assert [len(level) for level in found.levels] == [0, 1, 1]
    assert lengths(found)[found.asked] == 3


def test_names_that_lead_nowhere_are_not_read() -> None:
    found = routes([[10, 2, 11], [11, 3, 12], [11, 4, 20], [20, 4, 21], [30, 2, 31]], [10, 12])
    assert {name for pair in found.pairs for name in pair} == {10, 11, 12}


def test_the_asked_pair_is_read_only_where_nothing_else_connects_it() -> None:
    told = [[10, 2, 12], [10, 2, 11], [11, 3, 12]]
    assert {sentence.sentence for sentence in routes(told, [10, 12]).told} == {1, 2}
    assert {sentence.sentence for sentence in routes(told[:1], [10, 12]).told} == {0}


def test_a_sentence_with_one_name_twice_may_speak_of_a_missing_name() -> None:
    found = routes([[10, 2, 10]], [10, 12])
    assert found.asked >= 0
    assert found.told[found.asked].view == (40, 2, 40)
    assert routes([[10, 2]], [10, 12]).asked == -1


def test_sentences_are_joined_where_names_are_not_connected() -> None:
    found = routes([[10, 2], [3, 11], [11, 4, 12]], [10, 12])
    assert found.steps == 2
    assert (40, 2, 3, 41) in {told.view for told in found.told}


@pytest.mark.parametrize("question", [[4], [4, 10], [10, 20]])
def test_nothing_to_follow(question: list[int]) -> None:
    found = routes([[10, 2, 11]], question)
    assert (found.asked, found.pairs) == (-1, [])


@given(st.integers(2, 12), st.integers(0, 5), st.randoms(use_true_random=False))
def test_any_chain_with_noise(hops: int, noise: int, chance: object) -> None:
    chain = list(range(10, 11 + hops))
    told = [[a, 2, c] for a, c in pairwise(chain)] + [
        [chain[number % len(chain)], 3, 25 + number] for number in range(noise)
    ]
    chance.shuffle(told)  # type: ignore[attr-defined]
    found = routes(told, [chain[0], chain[-1]])
    assert found.steps == hops
    assert lengths(found)[found.asked] == hops
    assert sum(map(len, found.levels)) == (hops - 1) * hops * (hops + 1) // 6
