"""Task 4, two-argument relations: places in a row, next to each other.

Its map is also that of tasks 17 and 19.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import combinations
from typing import TypeAlias

from query_reduction.text.stories import Question, Story
from query_reduction.worlds.chance import pick, sample
from query_reduction.worlds.lengths import story_length
from query_reduction.worlds.options import WorldOptions
from query_reduction.worlds.teller import Teller
from query_reduction.worlds.words import Lines, Words

__all__ = ["TELLERS", "Map", "Neighbour", "surrounded_path", "tell_map"]

Neighbour: TypeAlias = tuple[int, int, int, int]
"""A spot, one of its sides, the spot that lies there, and the number of the link between them.

Sides are 0 north (above), 1 south (below), 2 east (right), 3 west (left); ``side ^ 1`` is the opposite one.
"""
_TURNS = 12
"""Divisible by any number of neighbours a spot can have."""
_RING = 11
"""Spots of a path of three with all its sides taken."""


class Map:
    """Spots joined side to side, with one link less than spots: between two spots runs one path."""

    def __init__(self, spots: list[list[Neighbour]]) -> None:
        self.spots = spots
        """The neighbours of every spot."""
        self.turns = [
            neighbour for neighbours in spots for neighbour in neighbours for _ in range(_TURNS // len(neighbours))
        ]
        """All neighbours, as often as they come up when a spot is drawn and then one of its neighbours."""


def _join(spots: list[list[Neighbour]], spot: int, side: int) -> None:
    """Add a new spot on a free side of one that is there."""
    new = len(spots)
    link = new - 1
    spots[spot].append((spot, side, new, link))
    spots.append([(new, side ^ 1, spot, link)])


def _free_sides(spots: list[list[Neighbour]], start: int) -> list[tuple[int, int]]:
    """The spots from ``start`` on, with their free sides."""
    return [
        (spot, side)
        for spot in range(start, len(spots))
        for side in range(4)
        if all(side != neighbour[1] for neighbour in spots[spot])
    ]


@cache
def _rows(count: int) -> list[Map]:
    """Spots in a straight row, in each of the four directions."""
    maps = []
    for side in range(4):
        spots: list[list[Neighbour]] = [[]]
        for last in range(count - 1):
            _join(spots, last, side)
        maps.append(Map(spots))
    return maps


@cache
def _surrounded_paths(count: int) -> list[Map]:
    """All maps of 3 to 11 spots: the first three a path that never turns back, the others on its free sides."""
    maps = []
    for first in range(4):
        for second in range(4):
            if second == first ^ 1:
                continue
            path: list[list[Neighbour]] = [[]]
            _join(path, 0, first)
            _join(path, 1, second)
            for taken in combinations(_free_sides(path, 0), count - 3):
                spots = [list(neighbours) for neighbours in path]
                for spot, side in taken:
                    _join(spots, spot, side)
                maps.append(Map(spots))
    return maps


def surrounded_path(rng: random.Random, count: int) -> Map:
    """Spots 0, 1 and 2 a path that never turns back; the others on its free sides, and when those are full on theirs.

    Two of them may lie on the same side of the same bend, as they do in the published stories.
    """
    maps = _surrounded_paths(min(count, _RING))
    chosen = maps[int(rng.random() * len(maps))]
    if count <= _RING:
        return chosen
    spots = [list(neighbours) for neighbours in chosen.spots]
    inner = 0
    free: list[tuple[int, int]] = []
    while len(spots) < count:
        if not free:
            free = _free_sides(spots, inner)
            inner = len(spots)
        number = pick(rng, len(free))
        free[number], free[-1] = free[-1], free[number]
        _join(spots, *free.pop())
    return Map(spots)


def tell_map(rng: random.Random, told_of: Map, sentences: int) -> tuple[list[Neighbour], list[int]]:
    """What is told, sentence by sentence, and the last sentence that told each link.

    A spot and then one of its neighbours is drawn; a link is repeated only if there are more sentences than
    links. Spots with one neighbour are therefore drawn with it more often than the others.
    """
    random_ = rng.random
    turns = told_of.turns
    turn_count = len(turns)
    links = len(told_of.spots) - 1
    spare = sentences - links
    told: list[Neighbour] = []
    told_at = [-1] * links
    count = 0
    while count < sentences:
        neighbour = turns[int(random_() * turn_count)]
        link = neighbour[3]
        if told_at[link] >= 0:
            if not spare:
                continue
            spare -= 1
        told_at[link] = count
        told.append(neighbour)
        count += 1
    return told, told_at


@dataclass(frozen=True, slots=True)
class _Words:
    """What task 4 needs of the table."""

    places: tuple[str, ...]
    numbers: range
    """Of the places."""
    sentences: int
    lies: Lines
    questions: tuple[Lines, Lines]
    """What lies on that side, and what this lies on which side of: the place and the direction known."""


@lru_cache(maxsize=8)
def _prepare(words: Words, options: WorldOptions) -> _Words:
    places = words.places.take("house", options.places, at_least=2)
    directions = tuple(words.directions)
    return _Words(
        places,
        range(len(places)),
        story_length(4, options, published=2, least=1),
        words.lines("lies", place=places, direction=directions, other=places),
        (
            words.asked("what_lies", direction=directions, place=places),
            words.asked("lies_of_what", direction=directions, place=places),
        ),
    )


def _relations(rng: random.Random, words: Words, options: WorldOptions) -> Story:
    """Task 4: the answer is always the subject of the supporting sentence."""
    known = _prepare(words, options)
    count = min(known.sentences + 1, len(known.places))
    place_of = sample(rng, known.numbers, count)
    told, told_at = tell_map(rng, _rows(count)[pick(rng, 4)], known.sentences)
    say = known.lies.say
    sentences = tuple([say(rng, place_of[spot], side ^ 1, place_of[other]) for spot, side, other, _ in told])
    fact = told_at[pick(rng, count - 1)]
    spot, side, other, _ = told[fact]
    reverse = pick(rng, 2)
    text = known.questions[reverse].say(rng, side if reverse else side ^ 1, place_of[other])
    return Story(sentences, (Question(text, known.places[place_of[spot]], known.sentences, (fact,)),), "4")


TELLERS: dict[int, Teller] = {4: _relations}
