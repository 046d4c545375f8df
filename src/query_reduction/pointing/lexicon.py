"""What a model that points keeps besides its weights: words, classes, and which phrases may be answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from query_reduction.errors import InputError
from query_reduction.text.phrases import PhraseRule, find_runs, phrase_key, words_of
from query_reduction.text.stories import Story
from query_reduction.text.tracks import ABSENT, is_tracked
from query_reduction.text.words import fold

__all__ = ["PADDING", "UNKNOWN", "Lexicon", "is_phrase"]

PADDING, UNKNOWN = 0, 1
_RESERVED = 2
_MOST_CLASSES = 50


@dataclass(frozen=True)
class Lexicon:
    """Words as numbers, and answers as classes or phrases."""

    words: tuple[str, ...]
    """Known words, case-folded; their numbers begin at 2."""
    classes: tuple[str, ...]
    """Answers that are not pointed at: ``?``, ``yes``."""
    rule: PhraseRule
    chances: Mapping[str, int]
    """How many training stories have a phrase as an answer, by the phrase's keys with spaces between them."""
    tracked: bool
    """Whether questions name a thing and are asked after every sentence."""
    chained: bool = False
    """Whether what happens to a thing is decided along the story; absence is then no class."""
    vector_words: tuple[str, ...] = ()
    """Words that have a vector from elsewhere; row 0 of the table is for all others."""

    @staticmethod
    def learned(
        stories: Sequence[Story], *, point: bool = True, chain: bool = True, vector_words: Sequence[str] = ()
    ) -> Lexicon:
        """From training stories alone; without ``point`` all their answers are classes."""
        tracked = is_tracked(stories)
        texts = [sentence for story in stories for sentence in story.sentences]
        asked = [question.text for story in stories for question in story.questions]
        answers = Counter(answer for story in stories for answer in {question.answer for question in story.questions})
        pointed = Counter(
            answer
            for story in stories
            for answer in {question.answer for question in story.questions}
            if is_phrase(answer, story.sentences)
        )
        classes = [answer for answer in sorted(answers) if not point or _is_class(answer, answers, pointed)]
        if point:
            classes = sorted(classes, key=lambda answer: -answers[answer])[:_MOST_CLASSES]
        things = [name for text in asked for name in text.split(";")] if tracked else []
        longest = max((len(phrase_key(answer)) for answer in pointed), default=1)
        chances = Counter[str]()
        for story in stories:
            chances.update({" ".join(phrase_key(question.answer)) for question in story.questions} - {""})
        return Lexicon(
            tuple(sorted({fold(word.text) for text in {*texts, *asked} for word in words_of(text)})),
            tuple(answer for answer in classes if not (tracked and chain and answer == ABSENT)),
            PhraseRule.learned(texts, [*pointed, *things], min(longest, 5)) if point else PhraseRule(0),
            {key: count for key, count in sorted(chances.items()) if key},
            tracked,
            tracked and chain,
            tuple(vector_words),
        )

    @property
    def size(self) -> int:
        """Rows of the table of learned words."""
        return len(self.words) + _RESERVED

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {word: number for number, word in enumerate(self.words, start=_RESERVED)}

    @cached_property
    def _vector_rows(self) -> dict[str, int]:
        return {word: row for row, word in enumerate(self.vector_words, start=1)}

    def numbers(self, text: str) -> NDArray[np.int64]:
        """The numbers of a text's words."""
        known = self._numbers
        return np.array([known.get(fold(word.text), UNKNOWN) for word in words_of(text)], np.int64)

    def vector_rows(self, text: str) -> NDArray[np.int64]:
        """The rows of a text's words in the table of vectors."""
        known = self._vector_rows
        return np.array([known.get(fold(word.text), 0) for word in words_of(text)], np.int64)

    def unknown_words(self, texts: Sequence[str]) -> tuple[str, ...]:
        """Words that neither training nor the vectors have, each once."""
        words = dict.fromkeys(word.text for text in texts for word in words_of(text))
        return tuple(word for word in words if fold(word) not in self._numbers and fold(word) not in self._vector_rows)

    def as_json(self) -> dict[str, Any]:
        """Everything as plain values."""
        return {
            "words": list(self.words),
            "classes": list(self.classes),
            "rule": self.rule.as_json(),
            "chances": dict(self.chances),
            "tracked": self.tracked,
            "chained": self.chained,
            "vector_words": list(self.vector_words),
        }

    @staticmethod
    def from_json(values: Mapping[str, Any]) -> Lexicon:
        """The inverse of ``as_json``."""
        texts = [*values["words"], *values["classes"], *values["chances"], *values["vector_words"]]
        flags = (values["tracked"], values["chained"])
        if not all(isinstance(text, str) for text in texts) or not all(isinstance(flag, bool) for flag in flags):
            raise InputError("words and classes must be texts")
        if not all(type(count) is int and count > 0 for count in values["chances"].values()):
            raise InputError("chances must be whole numbers")
        return Lexicon(
            tuple(values["words"]),
            tuple(values["classes"]),
            PhraseRule.from_json(values["rule"]),
            dict(values["chances"]),
            *flags,
            tuple(values["vector_words"]),
        )


def is_phrase(answer: str, sentences: Sequence[str]) -> bool:
    """Whether an answer is a run of words of some sentence."""
    key = phrase_key(answer)
    return any(True for sentence in sentences for _ in find_runs([word.key for word in words_of(sentence)], key))


def _is_class(answer: str, answers: Counter[str], pointed: Counter[str]) -> bool:
    """No phrase of its stories, as a rule, and met more than once (or no words at all, such as "?")."""
    return 2 * pointed[answer] < answers[answer] and (answers[answer] > 1 or not phrase_key(answer))
