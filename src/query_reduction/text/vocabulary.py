"""Words and answers as numbers. Word 0 is no word, word 1 is any unknown word: both have no meaning."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, get_args

from query_reduction.errors import InputError
from query_reduction.text.stories import Story
from query_reduction.text.words import Tokens, compose, fold, signs, split_words, without_possessive

__all__ = ["NO_WORD", "UNKNOWN_WORD", "Sentence", "Vocabulary", "case_matters", "split_words"]

NO_WORD = 0
UNKNOWN_WORD = 1
_FIRST_WORD = 2
_LONGEST = 1_000_000
_BEGINS_PHRASE = -1
"""In place of its number: a word that a name of several words may begin with."""
_MOST_SPELLINGS = 1 << 16
_LONGEST_SPELLING = 100
"""Longer words are not kept with their numbers."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence or question as a model reads it, cut into words and numbered once."""

    text: str
    words: tuple[str, ...]
    ids: tuple[int, ...]
    """The number of each word."""
    unknown: tuple[str, ...]
    """The words that the model does not know, each once as written; symbols that are no words to it come last."""


@dataclass(frozen=True)
class Vocabulary:
    """The words and answers a model knows, in the order of their numbers."""

    words: tuple[str, ...]
    answers: tuple[str, ...]
    longest_sentence: int
    """Number of words of the longest sentence or question it was made from."""
    tokens: Tokens = "words"
    fold_case: bool = False
    """A word that is unknown as written is looked up case-insensitively."""
    phrases: tuple[tuple[str, ...], ...] = ()
    """Names of several words, in lower case, that are read as one word."""
    longest_story: int = 0
    """The largest number of sentences before a question there; 0 if not recorded."""

    @staticmethod
    def from_stories(
        stories: Iterable[Story],
        tokens: Tokens = "words",
        *,
        fold_case: bool = False,
        phrases: Iterable[tuple[str, ...]] = (),
    ) -> Vocabulary:
        """All words and answers of these stories, in alphabetical order so that file order does not matter.

        With ``fold_case`` the words are case-folded, and of answers that differ only by case one is kept.
        """
        reading = Vocabulary((), (), 1, tokens, fold_case, tuple(sorted(phrases)))
        texts: set[str] = set()
        answers: set[str] = set()
        longest_story = 0
        for story in stories:
            texts.update(story.sentences)
            for question in story.questions:
                texts.add(question.text)
                answers.add(compose(question.answer) if tokens == "text" else question.answer)
                longest_story = max(longest_story, question.after)
        split = [reading.joined(split_words(text, tokens)) for text in texts]
        words = {word for sentence in split for word in sentence}
        if fold_case:
            words = {fold(word) for word in words}
            answers = _one_spelling(answers)
        return replace(
            reading,
            words=tuple(sorted(words)),
            answers=tuple(sorted(answers)),
            longest_sentence=max(map(len, split), default=1) or 1,
            longest_story=longest_story,
        )

    def extended(self, stories: Iterable[Story]) -> Vocabulary:
        """This vocabulary with the new words and answers of some stories after its own, whose numbers stay.

        The longest sentence and story stay, too: they are part of how a network was trained.
        """
        texts: set[str] = set()
        answers: set[str] = set()
        for story in stories:
            texts.update(story.sentences)
            texts.update(question.text for question in story.questions)
            answers.update(compose(q.answer) if self.tokens == "text" else q.answer for q in story.questions)
        new = {word for text in texts for word in self._split(text) if self._as_written(word) == UNKNOWN_WORD}
        answers = {answer for answer in answers if self.answer_number(answer) < 0}
        if self.fold_case:
            new = set(map(fold, new))
            answers = _one_spelling(answers)
        return replace(self, words=(*self.words, *sorted(new)), answers=(*self.answers, *sorted(answers)))

    def with_words_of(self, texts: Iterable[str], least: int) -> Vocabulary:
        """This vocabulary with those new words after its own that at least ``least`` of some texts have."""
        counts: Counter[str] = Counter()
        for text in texts:
            words = set(self._split(text))
            counts.update(set(map(fold, words)) if self.fold_case else words)
        common = sorted(word for word, count in counts.items() if count >= least)
        new = [word for word in common if self._as_written(word) == UNKNOWN_WORD]
        return replace(self, words=(*self.words, *new))

    @staticmethod
    def from_json(values: Mapping[str, Any]) -> Vocabulary:
        """A vocabulary read from a file, checked: distinct texts, a plausible length, a known tokenisation."""
        words, answers = tuple(values["words"]), tuple(values["answers"])
        for texts in (words, answers):
            if len(set(texts)) != len(texts) or not all(isinstance(text, str) for text in texts):
                raise InputError("words and answers must be texts, each once")
        if not answers:
            raise InputError("there must be an answer")
        longest, story = values["longest_sentence"], values.get("longest_story", 0)
        if not isinstance(longest, int) or not 1 <= longest <= _LONGEST:
            raise InputError("longest_sentence must be a whole number from 1 on")
        if not isinstance(story, int) or not 0 <= story <= _LONGEST:
            raise InputError("longest_story must be a whole number")
        tokens, fold_case = values["tokens"], values.get("fold_case", False)
        if tokens not in get_args(Tokens) or not isinstance(fold_case, bool):
            raise InputError(f"tokens must be one of {', '.join(get_args(Tokens))}, fold_case true or false")
        phrases = tuple(tuple(phrase) for phrase in values.get("phrases", ()))
        if not all(len(phrase) > 1 and all(isinstance(word, str) for word in phrase) for phrase in phrases):
            raise InputError("phrases must be lists of at least two words")
        return Vocabulary(words, answers, longest, tokens, fold_case, phrases, story)

    @property
    def size(self) -> int:
        """The number of word indices, including the two without meaning."""
        return len(self.words) + _FIRST_WORD

    @cached_property
    def number_of_word(self) -> dict[str, int]:
        """The number of each known word."""
        return {word: number for number, word in enumerate(self.words, start=_FIRST_WORD)}

    @cached_property
    def _number_as_written(self) -> _Numbers:
        return _Numbers(self)

    @cached_property
    def _number_of_folded(self) -> dict[str, int]:
        if not self.fold_case:
            return {}
        # As ``fold`` does it, which most words do not need.
        return {word.lower() if word.isascii() else fold(word): n for word, n in self.number_of_word.items()}

    @cached_property
    def _number_of_answer(self) -> dict[str, int]:
        return {answer: number for number, answer in enumerate(self.answers)}

    @cached_property
    def _number_of_folded_answer(self) -> dict[str, int]:
        return {fold(answer): number for answer, number in self._number_of_answer.items()} if self.fold_case else {}

    def sentence(self, text: str) -> Sentence:
        """A text with its words and their numbers."""
        words, ids = self._words_and_ids(text)
        unknown = dict.fromkeys([word for word, number in zip(words, ids, strict=True) if number == UNKNOWN_WORD])
        if self.tokens == "words":
            unknown.update(dict.fromkeys(signs(text)))
        return Sentence(text, tuple(words), tuple(ids), tuple(unknown))

    def numbers(self, text: str) -> list[int]:
        """The word numbers of a sentence."""
        return self._words_and_ids(text)[1]

    def _words_and_ids(self, text: str) -> tuple[list[str], list[int]]:
        if not text.isascii():
            words = self._split(text)
            return words, list(map(self._number, words))
        known = self._number_as_written
        words = split_words(text, self.tokens)
        ids = [known[word] for word in words]
        if _BEGINS_PHRASE in ids:
            words = self.joined(words)
            ids = list(map(self._number, words))
        return words, ids

    def answer_number(self, answer: str) -> int:
        """The index of an answer, or -1 if it is unknown."""
        known = self._number_of_answer
        found = known.get(answer, -1)
        if found < 0:
            answer = compose(answer)
            found = known.get(answer, -1)
        return self._number_of_folded_answer.get(fold(answer), -1) if found < 0 and self.fold_case else found

    def unknown_words(self, texts: Iterable[str]) -> list[str]:
        """Words of the texts that are not in the vocabulary, each once as written, in order of appearance.

        Symbols that it does not treat as words (``words`` skips a ``€`` or ``🙂``) come after the words of their text.
        """
        return list(dict.fromkeys([word for text in texts for word in self.sentence(text).unknown]))

    def _as_written(self, word: str) -> int:
        found = self.number_of_word.get(word, UNKNOWN_WORD)
        if found == UNKNOWN_WORD and self.fold_case:
            return self._number_of_folded.get(fold(word), UNKNOWN_WORD)
        return found

    def _number(self, word: str) -> int:
        """The number of a word; one that is unknown with its possessive ending may be known without it."""
        found = self._as_written(word)
        if found == UNKNOWN_WORD and self.tokens == "text" and (owner := without_possessive(word)) is not word:
            return self._as_written(owner)
        return found

    def joined(self, words: list[str]) -> list[str]:
        """The words with each name of several words as one."""
        if not self.phrases or self._phrases_by_first.keys().isdisjoint(map(str.lower, words)):
            return words
        found = []
        start = 0
        while start < len(words):
            begins = words[start].lower() in self._phrases_by_first
            length = next((len(rest) for rest in self._phrases_from(words, start)), 1) if begins else 1
            found.append(" ".join(words[start : start + length]))
            start += length
        return found

    def _phrases_from(self, words: list[str], start: int) -> Iterator[tuple[str, ...]]:
        """The phrases at a position, longest first."""
        for phrase in self._phrases_by_first.get(words[start].lower(), ()):
            if tuple(word.lower() for word in words[start : start + len(phrase)]) == phrase:
                yield phrase

    @cached_property
    def _phrases_by_first(self) -> dict[str, list[tuple[str, ...]]]:
        found: dict[str, list[tuple[str, ...]]] = {}
        for phrase in sorted(self.phrases, key=len, reverse=True):
            found.setdefault(phrase[0], []).append(phrase)
        return found

    def _split(self, text: str) -> list[str]:
        """The words of a text, in the normal form NFC if more of them are known that way.

        Vocabularies of ``text`` are made in this form; older ones may have been made from texts in another one.
        """
        words = self.joined(split_words(text, self.tokens))
        if self.tokens == "text" or (composed := compose(text)) is text:
            return words
        other = self.joined(split_words(composed, self.tokens))
        return other if self._count_unknown(other) < self._count_unknown(words) else words

    def _count_unknown(self, words: list[str]) -> int:
        return sum(self._number(word) == UNKNOWN_WORD for word in words)


class _Numbers(dict[str, int]):
    """The number of every word in every spelling that was seen: most words of a text were."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        super().__init__()
        self._vocabulary = vocabulary

    def __missing__(self, word: str) -> int:
        begins = word.lower() in self._vocabulary._phrases_by_first
        number = _BEGINS_PHRASE if begins else self._vocabulary._number(word)
        if len(self) < _MOST_SPELLINGS and len(word) <= _LONGEST_SPELLING:
            self[word] = number
        return number


def _one_spelling(answers: Iterable[str]) -> set[str]:
    """Of answers that differ only by case the last in order: lower case comes after upper case."""
    return set({fold(answer): answer for answer in sorted(answers)}.values())


def case_matters(stories: Iterable[Story]) -> bool:
    """Whether case distinguishes words of these stories, so that it must not be folded.

    It does if two answers differ only by case, or two words that both occur after the first word of a sentence: the
    capital letter of a first word says nothing.
    """
    texts: set[str] = set()
    answers: set[str] = set()
    for story in stories:
        texts.update(story.sentences)
        for question in story.questions:
            texts.add(question.text)
            answers.add(compose(question.answer))
    later = {word for text in texts for word in split_words(text, "text")[1:]}
    return len(set(map(fold, answers))) < len(answers) or len(set(map(fold, later))) < len(later)
