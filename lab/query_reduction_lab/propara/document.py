"""The document-level evaluation of ProPara (EMNLP 2018): what goes in, what comes out, what becomes what, what moves.

Each paragraph's grid is summed up as answers to four questions. Answers of a prediction are compared with those of the
gold grid; precision and recall are averaged over paragraphs for each question, and over the four questions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeVar

from query_reduction_lab.propara.stems import porter

__all__ = ["ABSENT", "UNKNOWN", "Grid", "Score", "document_scores"]

ABSENT, UNKNOWN = "-", "?"
_DETERMINERS = ("a", "an", "the", "your", "his", "their", "my", "another", "other", "this", "that")
_Terms = tuple[frozenset[str], ...]
_Item = TypeVar("_Item")
Grid = Mapping[str, Sequence[str]]
"""A row of states per participant: before the first sentence and after each; alternative names are joined by ";"."""


@dataclass(frozen=True, slots=True)
class Score:
    """Precision and recall, from 0 to 1."""

    precision: float
    recall: float

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall."""
        total = self.precision + self.recall
        return 2 * self.precision * self.recall / total if total else 0.0


@dataclass(frozen=True, slots=True)
class _Change:
    """Something that happens at a sentence: a conversion (destroyed, created, places) or a move (who, from, to)."""

    step: int
    parts: tuple[_Terms, _Terms, _Terms]


@dataclass(frozen=True, slots=True)
class _Summary:
    inputs: list[_Terms]
    outputs: list[_Terms]
    conversions: list[_Change]
    moves: list[_Change]


def document_scores(gold: Mapping[str, Grid], predicted: Mapping[str, Grid]) -> Score:
    """Precision and recall of predicted grids, by paragraph, against the gold ones."""
    scores = [_paragraph(_summary(gold[name]), _summary(predicted[name])) for name in gold]
    # The official evaluation rounds the average of each question before it averages the four.
    precision = [
        round(sum(score.precision for score in question) / len(scores), 3) for question in zip(*scores, strict=True)
    ]
    recall = [round(sum(score.recall for score in question) / len(scores), 3) for question in zip(*scores, strict=True)]
    return Score(sum(precision) / len(precision), sum(recall) / len(recall))


def _paragraph(gold: _Summary, predicted: _Summary) -> tuple[Score, ...]:
    return (
        _compare(gold.inputs, predicted.inputs, _similarity),
        _compare(gold.outputs, predicted.outputs, _similarity),
        _compare(gold.conversions, predicted.conversions, _same_change),
        _compare(gold.moves, predicted.moves, _same_change),
    )


def _compare(gold: list[_Item], predicted: list[_Item], similarity: Callable[[_Item, _Item], float]) -> Score:
    if not gold or not predicted:
        return Score(float(not predicted), float(not gold))
    found = sum(max(similarity(answer, item) for answer in gold) for item in predicted)
    # The official evaluation matches the other way round only where the numbers of answers differ.
    if len(gold) == len(predicted):
        recalled = found
    else:
        recalled = sum(max(similarity(answer, item) for item in predicted) for answer in gold)
    return Score(found / len(predicted), recalled / len(gold))


def _same_change(gold: _Change, predicted: _Change) -> float:
    if gold.step != predicted.step:
        return 0.0
    return sum(map(_similarity, gold.parts, predicted.parts)) / 3


def _similarity(gold: _Terms, predicted: _Terms) -> float:
    """How many terms two conjunctions share, as a part of all; a term is a set of alternatives."""
    if set(gold) == set(predicted):
        return 1.0
    shared = sum(not first.isdisjoint(second) for first in gold for second in predicted)
    return shared / (len(gold) + len(predicted) - shared)


def _summary(grid: Grid) -> _Summary:
    steps = len(next(iter(grid.values()))) - 1 if grid else 0
    who = {name: frozenset(part.strip() for part in name.split(";")) for name in grid}
    created, destroyed = [], []  # at each sentence: who and where
    for step in range(1, steps + 1):
        created.append({n: row[step] for n, row in grid.items() if row[step - 1] == ABSENT != row[step]})
        destroyed.append({n: row[step - 1] for n, row in grid.items() if row[step - 1] != ABSENT == row[step]})
    conversions = []
    for step in range(steps):
        gone, new = destroyed[step], created[step]
        if bool(gone) != bool(new) and step < steps - 2:  # what goes now may be what comes with the next sentence
            if gone and not destroyed[step + 1]:
                new = created[step + 1]
            elif new and not created[step + 1]:
                gone = destroyed[step + 1]
        places = tuple(_place(place) for place in {*new.values(), *gone.values()})
        # Nothing is converted into itself.
        if gone is destroyed[step]:
            new = {name: place for name, place in new.items() if name not in gone}
        else:
            gone = {name: place for name, place in gone.items() if name not in new}
        if gone and new:
            conversions.append(_Change(step, (tuple(who[n] for n in gone), tuple(who[n] for n in new), places)))
    moves = [
        _Change(step, ((who[name],), (_place(row[step - 1]),), (_place(row[step]),)))
        for name, row in grid.items()
        for step in range(1, steps + 1)
        if ABSENT not in (row[step - 1], row[step]) and row[step - 1] != row[step]
    ]
    return _Summary(
        inputs=[(who[name],) for name, row in grid.items() if _is_input(row)],
        outputs=[(who[name],) for name, row in grid.items() if _is_input(row[::-1])],
        conversions=conversions,
        moves=moves,
    )


def _is_input(row: Sequence[str]) -> bool:
    """Whether a row begins with existence and is destroyed for good. Read backwards, it is that of an output."""
    lives = [state != ABSENT for state in row]
    return lives[0] and not lives[-1] and sum(before != after for before, after in pairwise(lives)) == 1


def _place(state: str) -> frozenset[str]:
    if state == UNKNOWN:
        return frozenset([state])
    text = state.lower()
    determiner = next((word for word in _DETERMINERS if text.startswith(word + " ")), None)
    return frozenset([porter(text if determiner is None else text.replace(determiner + " ", "", 1))])
