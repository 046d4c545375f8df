"""From scores to answers in words: the best phrase or class, and the states of a thing along a story."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from query_reduction.heads.chain import (
    ACTIONS,
    FIRST,
    NEXT,
    best_path,
    chance_present,
    present_after,
    present_before,
)
from query_reduction.heads.softmax import best, softmax
from query_reduction.network import Floats
from query_reduction.pointing.arrays import Weights
from query_reduction.pointing.examples import Example
from query_reduction.pointing.lexicon import Lexicon
from query_reduction.text.phrases import Phrase
from query_reduction.text.tracks import ABSENT

__all__ = ["State", "answer_shares", "states_of"]

_MOVES = ACTIONS.index("moves")
_CREATED = ACTIONS.index("is created")
_UNLIKELY = -1.0


@dataclass(frozen=True, slots=True)
class State:
    """The answer at one point of a story."""

    text: str
    confidence: float
    """The model's probability of it, from 0 to 1."""
    place: Phrase | None = None
    """Where it stands in the story: the last mention so far, or else the next one; None for a class."""
    change: str = ""
    """What the sentence before did to the thing (``moves``, ``is created``), where that is decided."""

    def as_json(self) -> dict[str, Any]:
        """The state as plain values."""
        return {
            "text": self.text,
            "confidence": round(self.confidence, 6),
            "place": self.place and self.place.as_json(),
            "change": self.change,
        }


def answer_shares(points: Floats, example: Example, lexicon: Lexicon) -> list[tuple[str, float, Phrase | None]]:
    """Answers with their probabilities, best first; the places of one phrase are added up, the best one is named."""
    classes = len(lexicon.classes)
    shares = softmax(points[: classes + len(example.text.phrases)])
    found: dict[Any, tuple[str, float, Phrase | None, float]] = {}
    for number in best(shares, len(shares)).tolist():
        share = float(shares[number])
        if number < classes:
            found[number] = (lexicon.classes[number], share, None, share)
            continue
        key = example.text.phrases[number - classes]
        if key in found:
            text, so_far, phrase, top = found[key]
            found[key] = (text, so_far + share, phrase, top)
        else:
            phrase = example.text.phrase(example.text.spans_of[number - classes][0])
            found[key] = (phrase.text, share, phrase, share)
    ranked = sorted(found.values(), key=lambda answer: -answer[1])
    return [(text, share, phrase) for text, share, phrase, _ in ranked]


def states_of(
    points: Floats, actions: Floats | None, weights: Weights, example: Example, lexicon: Lexicon
) -> list[State]:
    """The states of a thing before the first sentence and after each."""
    count = len(lexicon.classes) + len(example.text.phrases)
    shares = softmax(points[: len(example.states), :count]) if count else np.zeros((len(example.states), 0))
    if actions is None or not len(example.text.sentences):
        return [
            _state(example, lexicon, shares, place, int(shares[place].argmax()), 1.0, "")
            for place in range(len(shares))
        ]
    scores = actions[: len(example.text.sentences)]
    following, first = weights["act_next"] + NEXT, weights["act_first"] + FIRST
    path = best_path(scores, following, first)
    there = chance_present(scores, following, first)
    now: int | None = int(shares[0].argmax()) if present_before(path[0]) else None
    states = [_state(example, lexicon, shares, 0, now, float(there[0]), "")]
    since = 0
    for place, action in enumerate(path, start=1):
        if not present_after(action):
            now = None
        elif action == _CREATED or now is None:
            now, since = int(shares[place].argmax()), place
        elif action == _MOVES:
            others = shares[place].copy()
            others[now] = _UNLIKELY  # a move ends elsewhere
            now, since = int(others.argmax()), place
        states.append(_state(example, lexicon, shares, place, now, float(there[place]), ACTIONS[action], since))
    return states


def _state(
    example: Example,
    lexicon: Lexicon,
    shares: Floats,
    place: int,
    number: int | None,
    there: float,
    change: str,
    since: int | None = None,
) -> State:
    """A state; where a thing stays, its place is as sure as when it came there."""
    if number is None:
        return State(ABSENT, 1 - there, None, change)
    confidence = there * float(shares[place if since is None else since, number])
    if number < len(lexicon.classes):
        return State(lexicon.classes[number], confidence, None, change)
    spans = example.text.spans_of[number - len(lexicon.classes)]
    told = [span for span in spans if span[0] < place]
    phrase = example.text.phrase(told[-1] if told else spans[0])
    return State(phrase.text, confidence, phrase, change)
