"""What happens to a thing along a story, decided as a whole: a linear chain whose impossible steps are ruled out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from query_reduction.heads.softmax import log_sum_exp
from query_reduction.network import Floats

__all__ = ["ACTIONS", "FIRST", "NEXT", "actions_of", "best_path", "chance_present", "present_after", "present_before"]

ACTIONS = ("not yet there", "gone", "stays", "moves", "is created", "is destroyed")
"""What may happen at a sentence."""
_NOT_YET, _GONE, _STAYS, _MOVES, _CREATED, _DESTROYED = range(len(ACTIONS))
_NEVER = -1e4
_THERE = (_STAYS, _MOVES, _DESTROYED)
_FOLLOWS = {
    _NOT_YET: (_NOT_YET, _CREATED),
    _GONE: (_GONE, _CREATED),
    _STAYS: _THERE,
    _MOVES: _THERE,
    _CREATED: _THERE,
    _DESTROYED: (_GONE, _CREATED),
}


def _possible() -> NDArray[np.float32]:
    scores = np.full((len(ACTIONS), len(ACTIONS)), _NEVER, np.float32)
    for action, followers in _FOLLOWS.items():
        scores[action, list(followers)] = 0
    return scores


NEXT = _possible()
"""(action, next action): 0 where the next may follow, very low elsewhere."""
FIRST = np.array([_NEVER if action == _GONE else 0 for action in range(len(ACTIONS))], np.float32)


def actions_of(states: Sequence[str], absent: str) -> list[int]:
    """What happened at each sentence, from the states before the first and after each."""
    there = [state != absent for state in states]
    actions = []
    for place in range(1, len(states)):
        before, after = there[place - 1], there[place]
        if before and after:
            actions.append(_STAYS if states[place] == states[place - 1] else _MOVES)
        elif before or after:
            actions.append(_CREATED if after else _DESTROYED)
        else:
            actions.append(_GONE if any(there[:place]) else _NOT_YET)
    return actions


def present_before(action: int) -> bool:
    """Whether a thing exists before the sentence in which this happens to it."""
    return action in _THERE


def present_after(action: int) -> bool:
    """Whether it exists after it."""
    return action in (_STAYS, _MOVES, _CREATED)


def best_path(scores: Floats, following: Floats, first: Floats) -> list[int]:
    """The best actions together (Viterbi), from (sentence, action) scores and those of pairs."""
    best = first + scores[0]
    origins = []
    for now in scores[1:]:
        paths = best[:, None] + following
        origins.append(paths.argmax(0))
        best = paths.max(0) + now
    path = [int(best.argmax())]
    for origin in reversed(origins):
        path.append(int(origin[path[-1]]))
    return path[::-1]


def chance_present(scores: Floats, following: Floats, first: Floats) -> Floats:
    """The probability that the thing exists before the first sentence, and after each (forward and backward sums)."""
    ahead, behind = [first + scores[0]], [np.zeros_like(first)]
    for now in scores[1:]:
        ahead.append(log_sum_exp(ahead[-1][:, None] + following, 0) + now)
    for now in scores[:0:-1]:
        behind.append(log_sum_exp(following + (now + behind[-1])[None], 1))
    joint: Any = np.array(ahead) + np.array(behind[::-1])
    shares = np.exp(joint - log_sum_exp(joint, 1)[:, None])
    after = [action for action in range(len(ACTIONS)) if present_after(action)]
    there: Floats = np.concatenate([shares[:1, list(_THERE)].sum(1), shares[:, after].sum(1)])
    return there
