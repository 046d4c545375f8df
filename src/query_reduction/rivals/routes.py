"""From the names of a story to the ways between them: what ``follow`` computes is laid out here, without any weights.

Names that share a sentence are neighbours. The shortest ways from one name of the question to the other give the
*pairs* of names whose relation is needed, and for each longer pair all ways to put it together from two shorter ones:
a before b before c, so that (a, c) is (a, b) followed by (b, c). Nothing here depends on how many names a story has.

A sentence that has the two names asked about themselves is read only where nothing else connects them: so the answer is
put together wherever it can be, in training as in use. Where names are not connected at all, a sentence that has the
same name twice and no other ("K is left of K") may speak of any name that is not reached, and failing that a sentence
is joined with the next one.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

__all__ = ["Routes", "Told", "best_way", "routes_of"]

Ints = NDArray[np.int64]
_FAR = 1 << 30
_Pair = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Told:
    """One place where a pair of names is told."""

    pair: int
    view: tuple[int, ...]
    """The words with the names marked as source, target and other."""
    back: tuple[int, ...]
    """The same seen from the target."""
    sentence: int


@dataclass(slots=True)
class Routes:
    """What has to be computed for one question."""

    pairs: list[_Pair] = field(default_factory=list)
    told: list[Told] = field(default_factory=list)
    levels: list[list[tuple[int, int, int]]] = field(default_factory=list)
    """By level, triples of pairs (a, b), (b, c) and (a, c). Level 0 helps out where a pair is told, level n puts
    together ways of n + 1 sentences; a level may be empty."""
    asked: int = -1
    """The pair of the question; -1 if nothing connects its names."""
    number: dict[_Pair, int] = field(default_factory=dict)

    @property
    def steps(self) -> int:
        """How many sentences the shortest way has."""
        return len(self.levels)

    def add(self, pair: _Pair) -> int:
        """The number of a pair, a new one if it has none."""
        if pair not in self.number:
            self.number[pair] = len(self.pairs)
            self.pairs.append(pair)
        return self.number[pair]


class _Story:
    """A story's words, its names and who is told of with whom."""

    def __init__(self, sentences: Sequence[Sequence[int]], is_name: NDArray[np.bool_], marks: int) -> None:
        self.sentences = sentences
        self._is_name = is_name
        self._marks = marks
        self.named = [list(dict.fromkeys(word for word in words if is_name[word])) for words in sentences]

    def view(self, words: Sequence[int], source: int, target: int) -> tuple[int, ...]:
        """Words with a name as source, one as target, and all others as other names."""
        marks, is_name = self._marks, self._is_name
        return tuple(
            marks if word == source else marks + 1 if word == target else marks + 2 if is_name[word] else word
            for word in words
        )

    def single(self) -> Iterator[tuple[_Pair, Sequence[int], int]]:
        """Pairs of names that share a sentence."""
        for place, names in enumerate(self.named):
            for a in names:
                for c in names:
                    if a != c:
                        yield (a, c), self.sentences[place], place

    def joined(self) -> Iterator[tuple[_Pair, Sequence[int], int]]:
        """Pairs of names that only two sentences share that follow each other."""
        for place in range(len(self.sentences) - 1):
            first, second = self.named[place], self.named[place + 1]
            words = (*self.sentences[place], *self.sentences[place + 1])
            for a in first:
                for c in second:
                    if a not in second and c not in first:
                        yield (a, c), words, place
                        yield (c, a), words, place

    def missing(self, start: set[int], end: set[int]) -> Iterator[tuple[_Pair, Sequence[int], int]]:
        """Pairs of the only name of a sentence, if it has it twice, and each name on the other side."""
        for place, (names, words) in enumerate(zip(self.named, self.sentences, strict=True)):
            if len(names) == 1 and list(words).count(names[0]) > 1:
                for near, far in ((start, end), (end, start)):
                    for name in sorted(far if names[0] in near else ()):
                        yield (names[0], name), words, place
                        yield (name, names[0]), words, place


def routes_of(
    sentences: Sequence[Sequence[int]],
    question: Sequence[int],
    is_name: NDArray[np.bool_],
    marks: int,
    *,
    all_orders: bool = True,
) -> Routes:
    """The routes between the first two names of a question; ``marks`` is the number of the first of three marks.

    Without ``all_orders`` ways are put together from the source on only, one sentence after the other.
    """
    routes = Routes()
    asked = list(dict.fromkeys(word for word in question if is_name[word]))[:2]
    if len(asked) < 2:
        return routes
    story = _Story(sentences, is_name, marks)
    source, target = asked
    single = list(story.single())
    told = [entry for entry in single if set(entry[0]) != set(asked)]
    if not _connected(told, source, target):
        told = single
    if not _connected(told, source, target):
        told = [*told, *story.missing(_reached(told, source), _reached(told, target))]
    if not _connected(told, source, target):
        joined = [*told, *story.joined()]
        told = [entry for entry in joined if set(entry[0]) != set(asked)]
        if not _connected(told, source, target):
            told = joined
    if not _connected(told, source, target):
        return routes
    places: dict[_Pair, list[tuple[Sequence[int], int]]] = {}
    for pair, words, place in told:
        places.setdefault(pair, []).append((words, place))
    _lay_out(routes, places, source, target, all_orders)
    for pair, number in list(routes.number.items()):
        for words, place in places.get(pair, ()):
            view, back = story.view(words, *pair), story.view(words, pair[1], pair[0])
            routes.told.append(Told(number, view, back, place))
    routes.asked = routes.number[source, target]
    return routes


def best_way(route: Routes, sure: Sequence[float]) -> list[int]:
    """The sentences, in order, from which the asked pair is put together in the way that is surest."""
    told = {place.pair: place.sentence for place in reversed(route.told)}
    ways: dict[int, tuple[int, int]] = {}
    for level in route.levels[1:]:
        for ab, bc, ac in level:
            before = ways.get(ac)
            if before is None or sure[ab] * sure[bc] > sure[before[0]] * sure[before[1]]:
                ways[ac] = ab, bc
    sentences = []
    waiting = [route.asked]
    while waiting:
        pair = waiting.pop()
        if pair in told:
            sentences.append(told[pair])
        else:
            waiting += reversed(ways[pair])
    return sentences


def _lay_out(
    routes: Routes, places: dict[_Pair, list[tuple[Sequence[int], int]]], source: int, target: int, all_orders: bool
) -> None:
    """Add the pairs on the shortest ways, and how they are put together."""
    from_source, from_target = _hops(places, source), _hops(places, target)
    length = from_source[target]
    way = sorted(
        (name for name, hops in from_source.items() if hops + from_target.get(name, _FAR) == length),
        key=lambda name: (from_source[name], name),
    )
    known = {(a, c) for a in way for c in way if from_source[a] < from_source[c] and (a, c) in places}
    for pair in sorted(known):
        routes.add(pair)
    neighbours: dict[int, set[int]] = {}
    for a, c in places:
        neighbours.setdefault(a, set()).add(c)
    routes.levels.append(
        [
            (routes.add((a, b)), routes.add((b, c)), routes.number[a, c])
            for a, c in sorted(known)
            for b in sorted(neighbours[a] & neighbours[c])
        ]
    )
    at: list[list[int]] = [[] for _ in range(length + 1)]
    for name in way:
        at[from_source[name]].append(name)
    for hops in range(2, length + 1):
        level = [
            (routes.number[a, b], routes.number[b, c], routes.add((a, c)))
            for first in (range(length - hops + 1) if all_orders else (0,))
            for a in at[first]
            for c in at[first + hops]
            for between in range(first + 1 if all_orders else first + hops - 1, first + hops)
            for b in at[between]
            if (a, b) in known and (b, c) in known
        ]
        known |= {routes.pairs[ac] for _, _, ac in level}
        routes.levels.append(level)


def _hops(pairs: dict[_Pair, list[tuple[Sequence[int], int]]], start: int) -> dict[int, int]:
    """How many sentences lie between a name and each name it is connected with."""
    neighbours: dict[int, list[int]] = {}
    for a, c in pairs:
        neighbours.setdefault(a, []).append(c)
    hops = {start: 0}
    waiting = deque([start])
    while waiting:
        name = waiting.popleft()
        for other in neighbours.get(name, ()):
            if other not in hops:
                hops[other] = hops[name] + 1
                waiting.append(other)
    return hops


def _reached(told: Sequence[tuple[_Pair, Sequence[int], int]], start: int) -> set[int]:
    return set(_hops({pair: [] for pair, *_ in told}, start))


def _connected(told: Sequence[tuple[_Pair, Sequence[int], int]], source: int, target: int) -> bool:
    return target in _reached(told, source)
