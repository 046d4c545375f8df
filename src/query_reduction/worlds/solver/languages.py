"""Solvers for stories in another language than English: read into English, solved there, and the answer read back.

Two tables tell the same stories from the same random numbers, so a world told long enough in both gives every sentence
of one in the other. A sentence that never came up is none of the language: "Иван пошла" cannot be read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from query_reduction.worlds.chance import seeded
from query_reduction.worlds.options import WorldOptions
from query_reduction.worlds.solver import solve
from query_reduction.worlds.tasks import TASKS
from query_reduction.worlds.word_table import load_words
from query_reduction.worlds.words import Words

__all__ = ["Interpreter", "interpreter"]

_QUESTIONS = 6000
_PUBLISHED = WorldOptions()


class Interpreter:
    """Reads the stories of one task in one language."""

    def __init__(self, task: int, words: Words) -> None:
        english = load_words()
        # One phrasing is as good as any: only the meaning counts.
        english = replace(english, sentences={name: ways[:1] for name, ways in english.sentences.items()})
        if len(set(words.pronouns.values())) == 1:  # "o" is he or she
            english = replace(english, pronouns=dict.fromkeys(english.pronouns, "she"))
        self._task = task
        self._english: dict[str, str] = {}
        self._answer: dict[str, str] = {}
        rng, english_rng = seeded("interpreter", task), seeded("interpreter", task)
        # The first things are always the smallest: all of them take turns.
        tables = list(zip(_turned(words), _turned(english), strict=True))
        asked = 0
        while asked < _QUESTIONS:
            told_in, meant_in = tables[len(tables) * asked // _QUESTIONS]
            story = TASKS[task].tell(rng, told_in, _PUBLISHED)
            meaning = TASKS[task].tell(english_rng, meant_in, _PUBLISHED)
            for text, meant in zip(story.sentences, meaning.sentences, strict=True):
                self._learn(text, meant)
            for question, meant_question in zip(story.questions, meaning.questions, strict=True):
                self._learn(question.text, meant_question.text)
                for part, meant in zip(question.answer.split(","), meant_question.answer.split(","), strict=True):
                    if self._answer.setdefault(meant, part) != part:
                        raise ValueError(f"{meant!r} is both {part!r} and {self._answer[meant]!r}")
                asked += 1

    def _learn(self, text: str, meant: str) -> None:
        if self._english.setdefault(text, meant) != meant:
            raise ValueError(f"{text!r} is both {meant!r} and {self._english[text]!r}")

    def solve(self, sentences: Sequence[str], question: str) -> str:
        """The answer to a question in the language of the table; a ``KeyError`` names what cannot be read."""
        told = [self._english[sentence] for sentence in sentences]
        answer = solve(self._task, told, self._english[question])
        return ",".join(self._answer[part] for part in answer.split(","))


def _turned(words: Words) -> list[Words]:
    """The table with its containers in other orders, each of them first once."""
    lexicon = words.containers
    (group,) = lexicon.groups
    own = lexicon.groups[group]
    return [
        replace(words, containers=replace(lexicon, groups={group: own[first:] + own[:first]}))
        for first in range(len(own))
    ]


@lru_cache(maxsize=128)
def interpreter(task: int, words: Words) -> Interpreter:
    """The interpreter of a task, made once."""
    return Interpreter(task, words)
