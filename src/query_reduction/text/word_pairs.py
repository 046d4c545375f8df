"""Which words follow each other in the sentences of training.

Where sentences have few forms, one of known words in an order that was never seen ("Mary went to sleep", "John is
back") speaks of something else, however well its words are known.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from query_reduction.errors import InputError
from query_reduction.text.stories import Story
from query_reduction.text.vocabulary import NO_WORD, UNKNOWN_WORD, Vocabulary

__all__ = ["WordPairs"]

_UNSEEN = 0.001
"""If a new sentence's next word follows its last for the first time more often than this, any order is allowed."""


@dataclass(frozen=True)
class WordPairs:
    """Pairs of words, as numbers, that are neighbours in some sentence; the ends of sentences count as no word."""

    known: frozenset[tuple[int, int]]

    @staticmethod
    def of_stories(stories: Iterable[Story], vocabulary: Vocabulary, *, more: Iterable[Story] = ()) -> WordPairs | None:
        """Those of some stories and of ``more``, or None if the first have so many forms that others must be expected.

        How many to expect is estimated as Good and Turing do: by the share of pairs that were seen only once.
        """
        told = Counter(sentence for story in stories for sentence in story.sentences)
        counts: Counter[tuple[int, int]] = Counter()
        for sentence, count in told.items():
            for pair in _pairs(vocabulary.numbers(sentence)):
                counts[pair] += count
        if sum(count == 1 for count in counts.values()) > _UNSEEN * counts.total():
            return None
        others = {sentence for story in more for sentence in story.sentences}.difference(told)
        return WordPairs(
            frozenset(counts).union(*(frozenset(_pairs(vocabulary.numbers(sentence))) for sentence in others))
        )

    def allow(self, numbers: Sequence[int]) -> bool:
        """Whether a sentence has only these pairs; unknown words are skipped, as a network skips them."""
        return all(pair in self.known for pair in _pairs(numbers))

    def as_json(self) -> list[list[int]]:
        """Each first word with all that follow it."""
        following: dict[int, list[int]] = {}
        for first, second in sorted(self.known):
            following.setdefault(first, [first]).append(second)
        return list(following.values())

    @staticmethod
    def from_json(data: object, words: int) -> WordPairs:
        """The inverse of ``as_json``, for a vocabulary of so many word numbers."""
        known: set[tuple[int, int]] = set()
        for row in data if isinstance(data, list) else [None]:
            if not isinstance(row, list) or not all(type(word) is int and 0 <= word < words for word in row):
                raise InputError("pairs of words cannot be read: they must be lists of word numbers")
            known.update((row[0], second) for second in row[1:])
        return WordPairs(frozenset(known))


def _pairs(numbers: Sequence[int]) -> Iterator[tuple[int, int]]:
    return pairwise((NO_WORD, *(number for number in numbers if number != UNKNOWN_WORD), NO_WORD))
