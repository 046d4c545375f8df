"""A chain of changes: the best path and its probabilities against all paths, one by one."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from query_reduction.heads.chain import (
    ACTIONS,
    FIRST,
    NEXT,
    actions_of,
    best_path,
    chance_present,
    present_after,
    present_before,
)


def _paths(scores: np.ndarray) -> dict[tuple[int, ...], float]:
    return {
        path: float(
            FIRST[path[0]]
            + sum(scores[at, action] for at, action in enumerate(path))
            + sum(NEXT[first, second] for first, second in itertools.pairwise(path))
        )
        for path in itertools.product(range(len(ACTIONS)), repeat=len(scores))
    }


@settings(deadline=None, max_examples=30)
@given(st.integers(1, 4), st.integers(0, 10_000))
def test_the_best_path_and_the_chances_are_those_of_all_paths(length: int, seed: int) -> None:
    scores = np.random.default_rng(seed).normal(size=(length, len(ACTIONS)))
    paths = _paths(scores)
    assert tuple(best_path(scores, NEXT, FIRST)) == max(paths, key=lambda path: paths[path])
    total = sum(np.exp(score) for score in paths.values())
    first = sum(np.exp(score) for path, score in paths.items() if present_before(path[0])) / total
    after = [
        sum(np.exp(score) for path, score in paths.items() if present_after(path[at])) / total for at in range(length)
    ]
    np.testing.assert_allclose(chance_present(scores, NEXT, FIRST), [first, *after], atol=1e-6)


@given(st.lists(st.sampled_from(["-", "?", "soil", "plant"]), min_size=2, max_size=8))
def test_what_really_happens_is_always_possible(states: list[str]) -> None:
    actions = actions_of(states, "-")
    assert len(actions) == len(states) - 1
    assert FIRST[actions[0]] == 0
    assert all(NEXT[first, second] == 0 for first, second in itertools.pairwise(actions))
    assert [present_after(action) for action in actions] == [state != "-" for state in states[1:]]
    assert present_before(actions[0]) == (states[0] != "-")


@pytest.mark.parametrize(
    ("first", "second"), [("not yet there", "moves"), ("is destroyed", "stays"), ("gone", "moves")]
)
def test_what_does_not_exist_does_not_move(first: str, second: str) -> None:
    assert NEXT[ACTIONS.index(first), ACTIONS.index(second)] < -1000
