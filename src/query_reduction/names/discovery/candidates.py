"""Candidates: units that fill the same gaps of the same sentences, and the classes they make up.

Distribution only proposes. Classes name the roles of a sentence ("some unit of this class moved to some unit of that
one"); whether two units of a class are really interchangeable is for ``evidence`` to decide.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from query_reduction.names.discovery.corpus import Corpus, Encoded

__all__ = ["Candidates", "find_candidates", "joined"]

_CONTEXTS = 3
_PART_OF_CONTEXTS = 0.3
_SENTENCES = 5
"""The number of sentences and answers a unit must occur in to be in a class."""
_UNITS = 400
"""At most so many units are in classes, the most frequent ones."""
_FILLERS = 60
"""A gap that more units fill says little of any two of them."""


@dataclass(frozen=True)
class Candidates:
    """Pairs of units worth testing, and the class of each unit."""

    pairs: tuple[tuple[int, int], ...]
    classes: NDArray[np.int64]
    """By unit; a class has the number of its first unit, so a unit in no class is its own class."""
    in_class: frozenset[int]
    """Units whose class has other members."""
    left_out: int = 0
    """Units that would be in classes, were there not so many."""


def joined(count: int, pairs: Iterable[tuple[int, int]]) -> NDArray[np.int64]:
    """The connected components of a graph, each named by its smallest member."""
    component = list(range(count))

    def root(unit: int) -> int:
        while component[unit] != unit:
            component[unit] = component[component[unit]]
            unit = component[unit]
        return unit

    for one, other in pairs:
        low, high = sorted((root(one), root(other)))
        component[high] = low
    return np.array([root(unit) for unit in range(count)], dtype=np.int64)


def find_candidates(corpus: Corpus) -> Candidates:
    """Pairs by shared contexts in sentences and questions, then by shared questions in answers."""
    occurrences: Counter[int] = Counter()
    texts: set[Encoded] = set()
    asked: set[tuple[Encoded, Encoded]] = set()
    for story in corpus.stories:
        for sentence in story.sentences:
            occurrences.update(set(sentence))
            texts.add(sentence)
        for question in story.questions:
            occurrences.update({*question.text, *question.answer})
            texts.add(question.text)
            asked.add((question.text, question.answer))
    frequent = {unit for unit, count in occurrences.items() if count >= _SENTENCES}
    in_texts = _alike(_gaps(texts, frequent), _CONTEXTS)
    classes = joined(len(corpus.names), in_texts)
    in_answers = _alike(_answer_gaps(asked, classes, frequent), 1)
    alike = in_texts | in_answers
    units = sorted({unit for pair in alike for unit in pair}, key=lambda unit: (-occurrences[unit], unit))
    kept = frozenset(units[:_UNITS])
    pairs = tuple(sorted(pair for pair in alike if kept.issuperset(pair)))
    classes = joined(len(corpus.names), pairs)
    in_class = frozenset(unit for pair in pairs for unit in pair)
    return Candidates(pairs, classes, in_class, len(units) - len(in_class))


def _gaps(texts: Iterable[Encoded], frequent: set[int]) -> dict[Hashable, set[int]]:
    fillers: dict[Hashable, set[int]] = defaultdict(set)
    for text in texts:
        for position, unit in enumerate(text):
            if unit in frequent:
                fillers[hash((text[:position], text[position + 1 :]))].add(unit)
    return fillers


def _answer_gaps(
    asked: Iterable[tuple[Encoded, Encoded]], classes: NDArray[np.int64], frequent: set[int]
) -> dict[Hashable, set[int]]:
    """What answers each kind of question, whatever the order of the answer's parts."""
    fillers: dict[Hashable, set[int]] = defaultdict(set)
    for text, answer in asked:
        fillers[tuple(classes[list(text)].tolist())].update(unit for unit in answer if unit in frequent)
    return fillers


def _alike(fillers: Mapping[Hashable, set[int]], enough: int) -> set[tuple[int, int]]:
    contexts: Counter[int] = Counter()
    shared: Counter[tuple[int, int]] = Counter()
    for filled in fillers.values():
        contexts.update(filled)
        if 1 < len(filled) <= _FILLERS:
            shared.update(combinations(sorted(filled), 2))
    return {
        pair
        for pair, count in shared.items()
        if count >= enough or count >= _PART_OF_CONTEXTS * min(contexts[pair[0]], contexts[pair[1]])
    }
