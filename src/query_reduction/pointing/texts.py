"""A story as numbers, with the phrases that may be answers and the sentences that mention them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from query_reduction.pointing.lexicon import Lexicon
from query_reduction.text.phrases import Phrase, words_of

__all__ = ["Ints", "Mentions", "Text"]

Ints = NDArray[np.int64]
_Spans = list[tuple[int, int, int, int]]
_MOST_CELLS = 2_000_000
_FEWEST_PHRASES = 50


@dataclass(frozen=True, slots=True)
class Mentions:
    """Sentences that mention phrases: one mention per phrase and sentence, in the order of phrases."""

    of_span: Ints
    """(span): the mention it belongs to."""
    sentences: Ints
    """(mention)"""
    places: Ints
    """(mention): which mention of its phrase it is, from 0."""
    phrases: Ints
    """(mention)"""
    counts: Ints
    """(phrase): how many mentions it has."""

    def cells(self, states: Ints, sentence_count: int) -> Ints:
        """(3, state, phrase): which mention is in the sentence just before a state, which is the last so far, and which
        the next, counted from 1 in its phrase; 0 is none."""
        starts = np.cumsum(self.counts) - self.counts
        codes = self.phrases * (sentence_count + 1) + self.sentences
        wanted = np.arange(len(self.counts)) * (sentence_count + 1) + states[:, None]
        told = np.searchsorted(codes, wanted) - starts  # mentions before each state
        last = self.sentences[np.maximum(starts + told - 1, 0)] if len(self.sentences) else told
        here = np.where((told > 0) & (last == states[:, None] - 1), told, 0)
        return np.stack([here, told, np.where(told < self.counts, told + 1, 0)])


@dataclass(frozen=True)
class Text:
    """A story: the same for all questions about it."""

    sentences: tuple[str, ...]
    words: list[Ints]
    vectors: list[Ints]
    keys: list[tuple[str, ...]]
    """The keys of each sentence's words."""
    spans: _Spans
    """Sentence, first word, word after the last, phrase."""
    phrases: list[tuple[str, ...]]
    """The keys of each phrase."""
    left_out: int = 0
    """Phrases left out because the story is too long for all of them."""

    @staticmethod
    def of(sentences: Sequence[str], lexicon: Lexicon, states: int) -> Text:
        """Read a story. A tracked phrase is one wherever it stands; else each place is a phrase of its own."""
        keys = [tuple(word.key for word in words_of(sentence)) for sentence in sentences]
        number: dict[Any, int] = {}
        spans: _Spans = []
        phrases: list[tuple[str, ...]] = []
        for at, of_sentence in enumerate(keys):
            for first, end in lexicon.rule.runs(of_sentence):
                key = of_sentence[first:end]
                identity = key if lexicon.tracked else (at, first, end)
                if identity not in number:
                    number[identity] = len(number)
                    phrases.append(key)
                spans.append((at, first, end, number[identity]))
        most = max(_FEWEST_PHRASES, _MOST_CELLS // max(states, 1))
        left_out = max(0, len(phrases) - most)
        if left_out:
            spans, phrases = _most_likely(spans, phrases, lexicon.chances, most)
        words = [lexicon.numbers(sentence) for sentence in sentences]
        vectors = [lexicon.vector_rows(sentence) for sentence in sentences]
        return Text(tuple(sentences), words, vectors, keys, spans, phrases, left_out)

    @cached_property
    def mentions(self) -> Mentions:
        """Which sentences mention which phrases."""
        spans = np.array(self.spans, np.int64).reshape(-1, 4)
        codes, of_span = np.unique(spans[:, 3] * (len(self.sentences) + 1) + spans[:, 0], return_inverse=True)
        phrases, sentences = np.divmod(codes, len(self.sentences) + 1)
        counts = np.bincount(phrases, minlength=len(self.phrases))
        places = np.arange(len(codes)) - np.repeat(np.cumsum(counts) - counts, counts)
        return Mentions(of_span.reshape(-1), sentences, places, phrases, counts)

    def phrase(self, span: tuple[int, int, int, int]) -> Phrase:
        """A span in the words of the story."""
        sentence, first, end, _ = span
        words = words_of(self.sentences[sentence])
        start, stop = words[first].start, words[end - 1].end
        return Phrase(self.sentences[sentence][start:stop], sentence, (first, end), (start, stop))

    @cached_property
    def spans_of(self) -> list[_Spans]:
        """For each phrase where it stands, in order."""
        found: list[_Spans] = [[] for _ in self.phrases]
        for span in self.spans:
            found[span[3]].append(span)
        return found


def _most_likely(
    spans: _Spans, phrases: list[tuple[str, ...]], chances: Mapping[str, int], most: int
) -> tuple[_Spans, list[tuple[str, ...]]]:
    """The phrases that were answers most often, then those that are mentioned most."""
    mentions = np.bincount([span[3] for span in spans], minlength=len(phrases))
    order = sorted(range(len(phrases)), key=lambda n: (-chances.get(" ".join(phrases[n]), 0), -mentions[n], n))
    number = {old: new for new, old in enumerate(sorted(order[:most]))}
    kept = [(at, first, end, number[old]) for at, first, end, old in spans if old in number]
    return kept, [phrases[old] for old in number]
