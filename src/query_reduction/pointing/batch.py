"""Questions about stories as arrays: what the network reads, and which answers are right.

Phrases are scored at states: state 0 is before the first sentence, state t after sentence t. A phrase has a row of
mentions, one per sentence that has it. Row 0 of the mentions means "none".
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Generic, TypeVar

__all__ = ["Batch", "Targets"]

A = TypeVar("A")


@dataclass(frozen=True, slots=True)
class Targets(Generic[A]):
    """What is right."""

    right: A
    """(question, state, class or phrase): 1 where the answer is right; a row of zeros teaches nothing."""
    weight: A
    """(question, state): how much it counts."""
    actions: A
    """(question, sentence): what happens to the thing; see ``chain``."""


@dataclass(frozen=True, slots=True)
class Batch(Generic[A]):
    """Several questions, each about its own story."""

    words: A
    """(row, word): a row is a sentence as one question reads it."""
    vectors: A
    """(row, word): rows of the table of vectors from elsewhere."""
    marks: A
    word_counts: A
    """(row)"""
    word_places: A
    """(word): where words are in the table of rows, as row * width + place."""
    row_question: A
    """(row): the question that reads it."""
    query: A
    """(question, word)"""
    query_vectors: A
    query_counts: A
    stories: A
    """(question, sentence): rows; past a story's end, the number of rows."""
    sentence_counts: A
    """(question)"""
    states: A
    """(question, state): which states are asked for."""
    spans: A
    """(4, span): row, first word, last word, mention."""
    span_counts: A
    """(mention): how many spans share it."""
    mention_places: A
    """(4, mention): question, sentence, phrase (among those of all questions), and which of its mentions it is."""
    phrase_mentions: A
    """(phrase, place): the mentions of each phrase in order, from 1."""
    mention_counts: A
    """(phrase)"""
    cells: A
    """(6, cell): a phrase at a state. Its mention in the sentence before the state, the last one up to it, and the next
    one after it, from 1; then which state of which question it is, which phrase of
    which question, and its place among all (question, state, phrase)."""
    chances: A
    """(question, phrase): how often the phrase was an answer in training, as log(1 + times)."""
    kinds: A
    """(question, phrase)"""
    phrase_mask: A
    """(question, phrase): 1 where there is a phrase."""
    targets: Targets[A] | None = None

    def converted(self, convert: Any) -> Batch[Any]:
        """The batch with a function applied to every array."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        targets = values.pop("targets")
        if targets is not None:
            targets = Targets(*(convert(getattr(targets, field.name)) for field in fields(targets)))
        return Batch(**{name: convert(value) for name, value in values.items()}, targets=targets)
