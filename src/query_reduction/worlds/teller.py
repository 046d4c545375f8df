"""What a teller is, and when the tellers of this package ask.

The published stories ask five questions each, one after every second sentence in which something worth asking has
happened recently: a question is about one of the last five facts told. Longer stories spread their five questions
evenly and ask about anything told.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import TypeAlias

from query_reduction.text.stories import Story
from query_reduction.worlds.options import WorldOptions
from query_reduction.worlds.words import Words

__all__ = ["QUESTIONS", "Teller", "first_recent", "next_question"]

Teller: TypeAlias = Callable[[random.Random, Words, WorldOptions], Story]
"""Chance, words and sizes in; one story out, its ``task`` set. Distractors and splits are not its concern."""

QUESTIONS = 5
_SENTENCES_A_QUESTION = 2
_RECENT_FACTS = 5


def next_question(told: int, asked: int, options: WorldOptions) -> int:
    """How many sentences to tell before trying to ask again, given ``told`` sentences and ``asked`` questions."""
    due = 0 if options.sentences is None else (asked + 1) * options.sentences // QUESTIONS
    return due if due > told else told + _SENTENCES_A_QUESTION


def first_recent(facts: int, options: WorldOptions) -> int:
    """The first of this many facts that is recent enough to ask about."""
    return max(0, facts - _RECENT_FACTS) if options.sentences is None else 0
