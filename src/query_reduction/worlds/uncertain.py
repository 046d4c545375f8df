"""Tasks 9 and 10: what is denied, and what is only half known.

Every sentence reflects a move. Half of the time the story says so, a quarter of the time it says where he is
now, and otherwise it says where he no longer is (task 9) or two places of which one is right (task 10).
"""

from __future__ import annotations

import random
from functools import lru_cache

from query_reduction.text.stories import Question, Story
from query_reduction.worlds.chance import pick_other
from query_reduction.worlds.options import WorldOptions
from query_reduction.worlds.teller import QUESTIONS, Teller, first_recent, next_question
from query_reduction.worlds.words import Words

__all__ = ["TELLERS"]


class _Voice:
    def __init__(self, words: Words, options: WorldOptions, group: str) -> None:
        self.people = people = words.people.take(group, options.people)
        self.places = places = words.places.take(group, options.places, at_least=2)
        self.move = words.lines("move", who=people, place=places)
        self.is_in = words.lines("is_in", who=people, place=places)
        self.is_not_in = words.lines("is_not_in", who=people, place=places)
        self.is_either_in = words.lines("is_either_in", who=people, place=places, other=places)
        self.ask = words.asked("is_in", who=people, place=places)


@lru_cache(maxsize=16)
def _voice(words: Words, options: WorldOptions, group: str) -> _Voice:
    return _Voice(words, options, group)


def _negation(rng: random.Random, words: Words, options: WorldOptions) -> Story:
    """Task 9: somebody is, or is no longer, in a place."""
    voice = _voice(words, options, "house")
    place_of = [int(rng.random() * len(voice.places)) for _ in voice.people]
    sentences: list[str] = []
    questions: list[Question] = []
    movers: list[int] = []
    told: list[tuple[int, int, bool]] = [(-1, -1, False)] * len(voice.people)
    """The last sentence about each person, its place, and whether it says that the person is there."""
    while len(questions) < QUESTIONS:
        due = next_question(len(sentences), len(questions), options)
        while len(sentences) < due:
            who = int(rng.random() * len(place_of))
            left = place_of[who]
            place_of[who] = place = pick_other(rng, len(voice.places), left)
            kind = rng.random()
            told[who] = len(sentences), place if kind < 0.75 else left, kind < 0.75
            if kind < 0.5:
                sentences.append(voice.move.say(rng, who, place))
            elif kind < 0.75:
                sentences.append(voice.is_in.say(rng, who, place))
            else:
                sentences.append(voice.is_not_in.say(rng, who, left))
            movers.append(who)
        first = first_recent(len(movers), options)
        who = movers[first + int(rng.random() * (len(movers) - first))]
        sentence, place, there = told[who]
        if there and rng.random() < 0.5:
            place, there = pick_other(rng, len(voice.places), place), False
        questions.append(
            Question(
                voice.ask.say(rng, who, place), words.answers["yes" if there else "no"], len(sentences), (sentence,)
            )
        )
    return Story(tuple(sentences), tuple(questions), "9")


def _indefinite(rng: random.Random, words: Words, options: WorldOptions) -> Story:
    """Task 10: somebody is in a place, or in one of two; "either in the park or the park" occurs, as published."""
    voice = _voice(words, options, "town")
    place_of = [int(rng.random() * len(voice.places)) for _ in voice.people]
    sentences: list[str] = []
    questions: list[Question] = []
    movers: list[int] = []
    told: list[tuple[int, int]] = [(-1, -1)] * len(voice.people)
    """The last sentence about each person, and the second place it names (-1 if it is certain)."""
    while len(questions) < QUESTIONS:
        due = next_question(len(sentences), len(questions), options)
        while len(sentences) < due:
            who = int(rng.random() * len(place_of))
            place_of[who] = place = pick_other(rng, len(voice.places), place_of[who])
            kind = rng.random()
            other = -1 if kind < 0.75 else int(rng.random() * len(voice.places))
            told[who] = len(sentences), other
            if kind < 0.5:
                sentences.append(voice.move.say(rng, who, place))
            elif kind < 0.75:
                sentences.append(voice.is_in.say(rng, who, place))
            elif rng.random() < 0.5:
                sentences.append(voice.is_either_in.say(rng, who, place, other))
            else:
                sentences.append(voice.is_either_in.say(rng, who, other, place))
            movers.append(who)
        first = first_recent(len(movers), options)
        who = movers[first + int(rng.random() * (len(movers) - first))]
        sentence, other = told[who]
        place = place_of[who]
        if rng.random() < 0.5:
            place = pick_other(rng, len(voice.places), place)
        if other >= 0 and place in (place_of[who], other):
            answer = "maybe"
        else:
            answer = "yes" if place == place_of[who] else "no"
        questions.append(Question(voice.ask.say(rng, who, place), words.answers[answer], len(sentences), (sentence,)))
    return Story(tuple(sentences), tuple(questions), "10")


TELLERS: dict[int, Teller] = {9: _negation, 10: _indefinite}
