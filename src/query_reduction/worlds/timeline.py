"""Task 14: moves told out of order, each with the part of the day it happened in."""

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
    def __init__(self, words: Words, options: WorldOptions) -> None:
        self.people = people = words.people.take("town", options.people)
        self.places = places = words.places.take("town", options.places, at_least=2)
        self.times = len(words.times)
        self.moved_when = words.lines("moved_when", who=people, place=places, when=words.times)
        self.where_was = words.asked("where_was", who=people, place=places)


@lru_cache(maxsize=8)
def _voice(words: Words, options: WorldOptions) -> _Voice:
    return _Voice(words, options)


def _before(rng: random.Random, words: Words, options: WorldOptions) -> Story:
    """Everybody moves once in each part of the day; what happened between two questions is told out of order.

    When all days are full, a longer story tells again, in other words, what it has told.
    """
    voice = _voice(words, options)
    sentences: list[str] = []
    questions: list[Question] = []
    went: list[list[int]] = [[] for _ in voice.people]
    """Each person's places, one per part of the day so far."""
    told_by: dict[tuple[int, int], int] = {}
    """The last sentence about each person's move in each part of the day."""
    facts: list[tuple[int, int]] = []
    """Person and part of the day, as it happened."""
    free = list(range(len(voice.people)))
    while len(questions) < QUESTIONS:
        due = next_question(len(facts), len(questions), options)
        while len(facts) < due:
            if free:
                who = free[int(rng.random() * len(free))]
                facts.append((who, len(went[who])))
                went[who].append(_next_place(rng, len(voice.places), went[who]))
                if len(went[who]) == voice.times:
                    free.remove(who)
            else:
                facts.append(facts[int(rng.random() * len(facts))])
        recent = [fact for fact in facts[first_recent(len(facts), options) :] if _has_before(fact, went)]
        if recent:
            for who, time in _rearranged(rng, facts[len(sentences) :]):
                told_by[who, time] = len(sentences)
                sentences.append(voice.moved_when.say(rng, who, went[who][time], time))
            who, time = recent[int(rng.random() * len(recent))]
            questions.append(
                Question(
                    voice.where_was.say(rng, who, went[who][time]),
                    voice.places[went[who][time - 1]],
                    len(sentences),
                    (told_by[who, time], told_by[who, time - 1]),
                )
            )
    return Story(tuple(sentences), tuple(questions), "14")


def _next_place(rng: random.Random, places: int, day: list[int]) -> int:
    return pick_other(rng, places, day[-1]) if day else int(rng.random() * places)


def _has_before(fact: tuple[int, int], went: list[list[int]]) -> bool:
    """Whether there is exactly one place before this one: the person does not return here later."""
    who, time = fact
    return time > 0 and went[who][time] not in went[who][time + 1 :]


def _rearranged(rng: random.Random, facts: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The facts with none in its place: a random cycle, as published (so two facts always change places)."""
    for last in range(len(facts) - 1, 0, -1):
        other = int(rng.random() * last)
        facts[last], facts[other] = facts[other], facts[last]
    return facts


TELLERS: dict[int, Teller] = {14: _before}
