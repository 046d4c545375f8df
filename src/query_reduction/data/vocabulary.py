"""Words and answers as numbers. Word 0 is no word, word 1 any unknown word: both read as nothing."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, get_args

from query_reduction.data.stories import Story
from query_reduction.errors import InputError

__all__ = ["NO_WORD", "UNKNOWN_WORD", "Tokens", "Vocabulary", "split_words"]

NO_WORD = 0
UNKNOWN_WORD = 1
_FIRST_WORD = 2
_LONGEST = 1_000_000

_WORD = re.compile(r"\w+")


Tokens = Literal["words", "lower", "spaces"]
"""What counts as a word: runs of letters, digits and underscores as they are written or in small letters, or (dialogs)
whatever stands between spaces, in small letters."""


def split_words(text: str, tokens: Tokens) -> list[str]:
    """The words of a text."""
    if tokens == "spaces":
        return text.lower().split()
    return _WORD.findall(text if tokens == "words" else text.lower())


@dataclass(frozen=True)
class Vocabulary:
    """The words and answers a model knows, in the order of their numbers."""

    words: tuple[str, ...]
    answers: tuple[str, ...]
    longest_sentence: int
    """Number of words of the longest sentence or question it was made from."""
    tokens: Tokens = "words"
    longest_story: int = 0
    """The most sentences before a question there; 0 where it was not counted."""

    @staticmethod
    def from_stories(stories: Iterable[Story], tokens: Tokens = "words") -> Vocabulary:
        """All words and answers of these stories, in alphabetical order so that file order does not matter."""
        texts: set[str] = set()
        answers: set[str] = set()
        longest_story = 0
        for story in stories:
            texts.update(story.sentences)
            for question in story.questions:
                texts.add(question.text)
                answers.add(question.answer)
                longest_story = max(longest_story, question.after)
        split = [split_words(text, tokens) for text in texts]
        words = {word for sentence in split for word in sentence}
        longest_sentence = max(map(len, split), default=1) or 1
        return Vocabulary(tuple(sorted(words)), tuple(sorted(answers)), longest_sentence, tokens, longest_story)

    @staticmethod
    def from_json(values: Mapping[str, Any]) -> Vocabulary:
        """A vocabulary read from a file, checked: distinct texts, a length that makes sense, a known way to split."""
        words, answers = tuple(values["words"]), tuple(values["answers"])
        for texts in (words, answers):
            if len(set(texts)) != len(texts) or not all(isinstance(text, str) for text in texts):
                raise InputError("words and answers must be texts, each once")
        longest, tokens, story = values["longest_sentence"], values["tokens"], values.get("longest_story", 0)
        if not isinstance(longest, int) or not 1 <= longest <= _LONGEST or tokens not in get_args(Tokens):
            raise InputError(
                f"longest_sentence must be a whole number from 1 on, tokens one of {', '.join(get_args(Tokens))}"
            )
        if not isinstance(story, int) or not 0 <= story <= _LONGEST:
            raise InputError("longest_story must be a whole number")
        return Vocabulary(words, answers, longest, tokens, story)

    @property
    def size(self) -> int:
        """How many word numbers there are, the two without meaning included."""
        return len(self.words) + _FIRST_WORD

    @cached_property
    def number_of_word(self) -> dict[str, int]:
        """The number of each known word."""
        return {word: number for number, word in enumerate(self.words, start=_FIRST_WORD)}

    @cached_property
    def _number_of_answer(self) -> dict[str, int]:
        return {answer: number for number, answer in enumerate(self.answers)}

    def numbers(self, text: str) -> list[int]:
        """The word numbers of a sentence."""
        known = self.number_of_word
        return [known.get(word, UNKNOWN_WORD) for word in split_words(text, self.tokens)]

    def answer_number(self, answer: str) -> int:
        """The number of an answer, or -1 if it is not a known one."""
        return self._number_of_answer.get(answer, -1)

    def unknown_words(self, texts: Iterable[str]) -> list[str]:
        """Words of the texts that are not in the vocabulary, each once, in order of appearance."""
        known = self.number_of_word
        words = (word for text in texts for word in split_words(text, self.tokens))
        return list(dict.fromkeys(word for word in words if word not in known))
