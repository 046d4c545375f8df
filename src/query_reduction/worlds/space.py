"""Tasks 17 to 19, reasoning about space: where things stand, what fits into what, how to get somewhere."""

from __future__ import annotations

import random
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

from query_reduction.text.stories import Question, Story
from query_reduction.worlds.chance import sample
from query_reduction.worlds.lengths import story_length
from query_reduction.worlds.options import WorldOptions
from query_reduction.worlds.relations import surrounded_path, tell_map
from query_reduction.worlds.teller import Teller
from query_reduction.worlds.words import Lines, Words

__all__ = ["TELLERS"]

_POSITION_QUESTIONS = 8
# The steps to the four sides a map has (above, below, right, left).
_STEPS = ((0, 1), (0, -1), (1, 0), (-1, 0))


def _askable(side: int, other_side: int, answer: bool) -> tuple[tuple[bool, int], ...]:
    """All questions with this answer about two neighbours of a spot: whether they are swapped, and the side."""
    (x, y), (other_x, other_y) = _STEPS[side], _STEPS[other_side]
    across, up = x - other_x, y - other_y
    return tuple(
        (swapped, asked)
        for swapped, sign in ((False, 1), (True, -1))
        for asked, (step_x, step_y) in enumerate(_STEPS)
        if (sign * (across * step_x + up * step_y) > 0) == answer
    )


_ASKABLE = {
    (side, other_side, answer): _askable(side, other_side, answer)
    for side in range(4)
    for other_side in range(4)
    if side != other_side
    for answer in (False, True)
}


@dataclass(frozen=True, slots=True)
class _PositionWords:
    """What task 17 needs of the table, by side."""

    things: range
    sentences: int
    told: tuple[Lines, ...]
    asked: tuple[Lines, ...]
    answers: tuple[str, str]
    """No and yes."""


@lru_cache(maxsize=8)
def _prepare_positions(words: Words, options: WorldOptions) -> _PositionWords:
    things = words.shapes.take("placed", options.things, at_least=3)
    sides = ("above", "below", "right_of", "left_of")
    return _PositionWords(
        range(len(things)),
        story_length(17, options, published=2, least=2),
        tuple(words.lines(side, thing=things, other=things) for side in sides),
        tuple(words.asked(f"is_{side}", thing=things, other=things) for side in sides),
        (words.answers["no"], words.answers["yes"]),
    )


def _positions(rng: random.Random, words: Words, options: WorldOptions) -> Story:
    """Task 17: things one step from each other, and questions about two that are next to the same third.

    Yes and no are equally likely, and so are all questions with that answer.
    """
    known = _prepare_positions(words, options)
    random_ = rng.random
    length = known.sentences
    thing_of = sample(rng, known.things, min(length + 1, len(known.things)))
    around = surrounded_path(rng, len(thing_of))
    facts, told_at = tell_map(rng, around, length)
    sentences = []
    for spot, side, other, _ in facts:
        sentences.append(known.told[side].say(rng, thing_of[other], thing_of[spot]))
    between = [neighbours for neighbours in around.spots if len(neighbours) > 1]
    questions = []
    for _ in range(_POSITION_QUESTIONS):
        neighbours = between[int(random_() * len(between))]
        first = int(random_() * len(neighbours))
        second = int(random_() * (len(neighbours) - 1))
        _, side, thing, link = neighbours[first]
        _, other_side, other, other_link = neighbours[second + (second >= first)]
        answer = random_() < 0.5
        askable = _ASKABLE[side, other_side, answer]
        swapped, side = askable[int(random_() * len(askable))]
        if swapped:
            thing, link, other, other_link = other, other_link, thing, link
        text = known.asked[side].say(rng, thing_of[thing], thing_of[other])
        questions.append(Question(text, known.answers[answer], length, (told_at[link], told_at[other_link])))
    return Story(tuple(sentences), tuple(questions), "17")


_SIZE_ROUND = 5
"""Comparisons told before questions of task 18 are asked, and questions asked then."""
_SIZE_ATTEMPTS = 100
Comparison: TypeAlias = tuple[int, int]
"""The smaller and the bigger thing."""


@dataclass(frozen=True, slots=True)
class _SizeWords:
    """What task 18 needs of the table."""

    things: int
    sentences: int
    """In a round."""
    one_round: bool
    """Whether the story must have exactly that many sentences."""
    told: tuple[Lines, Lines]
    """That the first thing fits into the second, and that the second is bigger than the first."""
    asked: tuple[Lines, Lines]
    answers: tuple[str, str]
    """No and yes."""


@lru_cache(maxsize=8)
def _prepare_sizes(words: Words, options: WorldOptions) -> _SizeWords:
    things = words.containers.take("packed", options.things, at_least=3)
    return _SizeWords(
        len(things),
        story_length(18, options, published=_SIZE_ROUND, least=2),
        options.sentences is not None,
        (words.lines("fits", thing=things, other=things), words.lines("bigger", other=things, thing=things)),
        (words.asked("does_fit", thing=things, other=things), words.asked("is_bigger", other=things, thing=things)),
        (words.answers["no"], words.answers["yes"]),
    )


def _sizes(rng: random.Random, words: Words, options: WorldOptions) -> Story:
    """Task 18: which of two things is bigger, by way of a third.

    Five comparisons are told, then up to five questions asked. If too many attempts to find those fail, five more
    comparisons are told and five more questions asked, as in the published stories; if the number of sentences is
    given, another story is told instead.
    """
    known = _prepare_sizes(words, options)
    random_ = rng.random
    while True:
        # The two smallest are always the same.
        by_size = [0, 1, *sample(rng, range(2, known.things), known.things - 2)]
        compared: list[Comparison] = []
        sentences: list[str] = []
        questions: list[Question] = []
        while True:
            told = _comparisons(rng, by_size, known.sentences)
            compared += told
            sentences += [known.told[random_() < 0.5].say(rng, *pair) for pair in told]
            found = _size_questions(rng, known, compared)
            questions += found
            if len(found) == _SIZE_ROUND:
                return Story(tuple(sentences), tuple(questions), "18")
            if known.one_round:
                break


def _comparisons(rng: random.Random, by_size: list[int], count: int) -> list[Comparison]:
    """This many pairs of things, repeatedly, all pairs equally likely."""
    random_ = rng.random
    things = len(by_size)
    pairs = []
    for _ in range(count):
        one = int(random_() * things)
        other = int(random_() * (things - 1))
        # One of the things after `one` is bigger, one of those before it smaller.
        pairs.append((by_size[one], by_size[other + 1]) if other >= one else (by_size[other], by_size[one]))
    return pairs


def _size_questions(rng: random.Random, known: _SizeWords, compared: list[Comparison]) -> list[Question]:
    """Up to five questions, each answered by two comparisons that have a thing in common.

    One comparison and one of its things are drawn; the other comparison is the first told that mentions this thing. If
    the thing is not between the other two in size, the attempt fails.
    """
    random_ = rng.random
    # Where each thing is mentioned first, and where next.
    first = [-1] * known.things
    second = [-1] * known.things
    for position, pair in enumerate(compared):
        for thing in pair:
            if first[thing] < 0:
                first[thing] = position
            elif second[thing] < 0:
                second[thing] = position
    questions: list[Question] = []
    for _ in range(_SIZE_ATTEMPTS):
        fact = int(random_() * len(compared))
        pair = compared[fact]
        # From the bigger thing of the pair over the smaller one to a still smaller one, a claim is true; from
        # the smaller one upwards, false.
        answer = random_() < 0.5
        between = pair[not answer]
        other_fact = first[between] if first[between] != fact else second[between]
        if other_fact < 0 or compared[other_fact][answer] != between:
            continue
        text = known.asked[random_() < 0.5].say(rng, compared[other_fact][not answer], pair[answer])
        questions.append(Question(text, known.answers[answer], len(compared), (fact, other_fact)))
        if len(questions) == _SIZE_ROUND:
            break
    return questions


@dataclass(frozen=True, slots=True)
class _PathWords:
    """What task 19 needs of the table."""

    places: range
    sentences: int
    lies: Lines
    how_to_go: Lines
    letters: tuple[str, ...]
    """By side."""


@lru_cache(maxsize=8)
def _prepare_paths(words: Words, options: WorldOptions) -> _PathWords:
    places = words.places.take("house", options.places, at_least=3)
    return _PathWords(
        range(len(places)),
        story_length(19, options, published=5, least=2),
        words.lines("lies", place=places, direction=tuple(words.directions), other=places),
        words.asked("how_to_go", place=places, other=places),
        tuple(words.directions.values()),
    )


def _paths(rng: random.Random, words: Words, options: WorldOptions) -> Story:
    """Task 19: two steps from one place to another, through the middle of a map with only one path."""
    known = _prepare_paths(words, options)
    length = known.sentences
    place_of = sample(rng, known.places, min(length + 1, len(known.places)))
    around = surrounded_path(rng, len(place_of))
    facts, told_at = tell_map(rng, around, length)
    say = known.lies.say
    sentences = tuple([say(rng, place_of[spot], side ^ 1, place_of[other]) for spot, side, other, _ in facts])
    # The path from spot 0 over spot 1 to spot 2 was laid first.
    (_, first_side, _, _), (_, second_side, _, _) = around.spots[0][0], around.spots[1][1]
    text = known.how_to_go.say(rng, place_of[0], place_of[2])
    answer = f"{known.letters[first_side]},{known.letters[second_side]}"
    return Story(sentences, (Question(text, answer, length, (told_at[0], told_at[1])),), "19")


TELLERS: dict[int, Teller] = {17: _positions, 18: _sizes, 19: _paths}
