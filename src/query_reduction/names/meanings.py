"""Words that training never had, read as known ones of like meaning: "strolled" as "journeyed".

Word vectors from elsewhere rank the known words by their likeness to a new one; frames tell which of them may stand
where it stands ("walked to the hall" is no "left to the hall"). Names are not read in this way: see ``names.unknown``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from query_reduction.errors import InputError
from query_reduction.names.frames import Frames
from query_reduction.text.stories import Story
from query_reduction.text.vectors import WordVectors
from query_reduction.text.vocabulary import Vocabulary
from query_reduction.text.words import fold

__all__ = ["Meanings"]

_MOST_WORDS = 1_000_000


@dataclass(frozen=True)
class Meanings:
    """New words with the known ones they are most like."""

    like: Mapping[str, tuple[str, ...]]
    """Best first."""
    frames: Frames
    vocabulary: Vocabulary

    @staticmethod
    def learned(
        vectors: WordVectors, nearest: int, frames: Frames, vocabulary: Vocabulary, stories: Sequence[Story]
    ) -> Meanings:
        """The ``nearest`` words to each known one that is no name."""
        questions = [question for story in stories for question in story.questions]
        units = frames.symmetries.units
        asked = {unit for question in questions for unit in units.of_text(question.text, "question")}
        asked |= {unit for question in questions for unit in units.of_text(question.answer, "answer")}
        names = {unit for kind in frames.symmetries.columns if not asked.isdisjoint(kind) for unit in kind}
        ranked = vectors.nearest([word for word in vocabulary.words if fold(word) not in names], nearest)
        known = {part for word in vocabulary.words for part in fold(word).split()}
        like = {word: alike for word, alike in ranked.items() if word not in known}
        return Meanings(like, frames, vocabulary)

    def read(self, text: str) -> tuple[str, tuple[tuple[str, str], ...]]:
        """The text with known words in place of new ones, and which were replaced by which."""
        unknown = [fold(word) for word in self.vocabulary.unknown_words([text])]
        replaced: list[tuple[str, str]] = []
        for word in unknown:
            others = {other for other in unknown if other != word}
            for known in self.like.get(word, ()):
                tried = _replaced(text, word, known)
                if self.frames.fits(tried, others):
                    text = tried
                    replaced.append((word, known))
                    break
        return text, tuple(replaced)

    def as_json(self) -> dict[str, list[int]]:
        """The numbers of the known words for each new one."""
        number = self.vocabulary.number_of_word
        return {word: [number[known] for known in alike] for word, alike in self.like.items()}

    @staticmethod
    def from_json(data: object, frames: Frames, vocabulary: Vocabulary) -> Meanings:
        """The inverse of ``as_json``, for the frames and the vocabulary it was learned with."""
        word_of = {number: word for word, number in vocabulary.number_of_word.items()}
        if not isinstance(data, dict) or len(data) > _MOST_WORDS:
            raise InputError("meanings of words cannot be read: they must be an object")
        try:
            like = {str(word): tuple(word_of[number] for number in numbers) for word, numbers in data.items()}
        except (KeyError, TypeError) as error:
            raise InputError("meanings of words cannot be read: they must be lists of word numbers") from error
        return Meanings(like, frames, vocabulary)


def _replaced(text: str, word: str, known: str) -> str:
    """A text with a known word in place of another, with a capital letter where that has one."""

    def written(found: re.Match[str]) -> str:
        return known[0].upper() + known[1:] if found[0][0].isupper() else known

    return re.sub(rf"\b{re.escape(word)}\b", written, text, flags=re.IGNORECASE)
