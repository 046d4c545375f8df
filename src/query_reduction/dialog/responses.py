"""How good the responses of a dialog system are, in three measures that must not be confused.

Exact match counts a response that is right word for word. Per-slot credit, the measure of the paper's table, cuts a
response into slots (what is said, and each name in it) and counts the share of the right response's slots that are
right. Per-dialog accuracy counts dialogs in which every response is right.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from query_reduction.heads.slots import cut
from query_reduction.text.stories import Story

__all__ = ["Response", "ResponseScores", "same", "score_responses"]


@dataclass(frozen=True, slots=True)
class Response:
    """A response, how sure the model is, and what it did not understand."""

    text: str
    confidence: float
    """The network's probability of what is said; which names are meant is not part of it."""
    unknown_words: tuple[str, ...]
    """Words of the last user utterance that mean nothing to the model."""


@dataclass(frozen=True, slots=True)
class ResponseScores:
    """Accuracies in percent over all responses of a set of dialogs."""

    exact_match: float
    """Responses that are right word for word."""
    per_slot: float
    """Mean share of slots that are right: the paper's measure."""
    per_dialog: float
    """Dialogs without a wrong response."""
    responses: int
    dialogs: int


def same(response: str, other: str) -> bool:
    """Whether two responses are the same words."""
    return response.lower().split() == other.lower().split()


def score_responses(dialogs: Sequence[Story], given: Sequence[str]) -> ResponseScores:
    """Score the responses given to all questions of the dialogs, in order."""
    numbers = iter(given)
    right = whole_dialogs = total = 0
    credit = 0.0
    credit_of: dict[tuple[str, str], float] = {}
    for dialog in dialogs:
        all_right = True
        for question in dialog.questions:
            response = next(numbers)
            total += 1
            if same(response, question.answer):
                right += 1
                credit += 1
                continue
            all_right = False
            pair = (response, question.answer)
            if pair not in credit_of:
                credit_of[pair] = _credit(cut(response), cut(question.answer))
            credit += credit_of[pair]
        whole_dialogs += all_right
    return ResponseScores(
        exact_match=_percent(right, total),
        per_slot=_percent(credit, total),
        per_dialog=_percent(whole_dialogs, len(dialogs)),
        responses=total,
        dialogs=len(dialogs),
    )


def _credit(given: Sequence[str], right: Sequence[str]) -> float:
    """The share of the right slots that were given; a slot is identified by its place."""
    return sum(a == b for a, b in zip(given, right, strict=False)) / len(right)


def _percent(part: float, whole: int) -> float:
    return round(100 * part / whole, 4) if whole else 0.0
