"""Tasks 1 to 3: where somebody is, where a thing is, where it was before that."""

from __future__ import annotations

import random

from query_reduction.text.stories import Question, Story
from query_reduction.worlds.options import WorldOptions
from query_reduction.worlds.simulation import DROP, GET, MOVE, house_voice
from query_reduction.worlds.teller import QUESTIONS, Teller, first_recent, next_question
from query_reduction.worlds.words import Words

__all__ = ["TELLERS"]

_WALKING_AND_CARRYING = 3
# Only task 3 leaves out most of the "there" after "got the milk".
_THERE_IN_TASK_3 = 0.2
# Of the moves it could ask about, task 3 prefers the later: each is this many times as likely as the one after it.
_EARLIER_MOVE = 0.75


def _one_fact(rng: random.Random, words: Words, options: WorldOptions) -> Story:
    """Task 1: people walk around; where is one of them?"""
    voice = house_voice(words, options)
    house = voice.house(rng)
    told_by = [-1] * len(voice.people)
    sentences: list[str] = []
    questions: list[Question] = []
    walkers: list[int] = []
    while len(questions) < QUESTIONS:
        due = next_question(len(sentences), len(questions), options)
        while len(sentences) < due:
            event = house.happen(1)
            who = event[1]
            told_by[who] = len(sentences)
            walkers.append(who)
            sentences.append(voice.tell(rng, event))
        first = first_recent(len(walkers), options)
        who = walkers[first + int(rng.random() * (len(walkers) - first))]
        questions.append(
            Question(voice.where_is.say(rng, who), voice.places[house.place[who]], len(sentences), (told_by[who],))
        )
    return Story(tuple(sentences), tuple(questions), "1")


def _two_facts(rng: random.Random, words: Words, options: WorldOptions) -> Story:
    """Task 2: a thing is where its holder went with it, or where it was put down."""
    voice = house_voice(words, options)
    house = voice.house(rng)
    sentences: list[str] = []
    questions: list[Question] = []
    arrived = [-1] * len(voice.people)
    handled = [-1] * len(voice.things)
    """The last sentence about each thing."""
    dropped: list[tuple[int, int]] = [(-1, -1)] * len(voice.things)
    """Where each thing was put down, and the sentence that named that place."""
    touched: list[int] = []
    """The thing each sentence handles, -1 if none."""
    while len(questions) < QUESTIONS:
        due = next_question(len(sentences), len(questions), options)
        while len(sentences) < due:
            event = house.happen(_WALKING_AND_CARRYING)
            kind, who, what, _ = event
            if kind == MOVE:
                arrived[who] = len(sentences)
                touched.append(-1)
            else:
                handled[what] = len(sentences)
                touched.append(what)
                if kind == DROP:
                    dropped[what] = house.place[who], arrived[who]
            sentences.append(voice.tell(rng, event))
        known = []
        for thing in touched[first_recent(len(touched), options) :]:
            if thing >= 0:
                holder = house.holder[thing]
                if arrived[holder] > handled[thing] if holder >= 0 else dropped[thing][1] >= 0:
                    known.append(thing)
        if known:
            thing = known[int(rng.random() * len(known))]
            holder = house.holder[thing]
            place, told_by = (house.place[holder], arrived[holder]) if holder >= 0 else dropped[thing]
            questions.append(
                Question(
                    voice.where_is_thing.say(rng, thing), voice.places[place], len(sentences), (handled[thing], told_by)
                )
            )
    return Story(tuple(sentences), tuple(questions), "2")


def _three_facts(rng: random.Random, words: Words, options: WorldOptions) -> Story:
    """Task 3: a thing is carried through places; where was it before one of them?"""
    voice = house_voice(words, options, there=_THERE_IN_TASK_3)
    house = voice.house(rng)
    sentences: list[str] = []
    questions: list[Question] = []
    walks: list[list[tuple[int, int]]] = [[] for _ in voice.people]
    """Each person's moves: the sentence and the place."""
    trip: list[tuple[int, int, int]] = [(0, 0, 0)] * len(voice.things)
    """Who last carried each thing, and the first and past-last of the carrier's moves with it (-1: still going)."""
    handled = [-1] * len(voice.things)
    touched: list[int] = []
    while len(questions) < QUESTIONS:
        due = next_question(len(sentences), len(questions), options)
        while len(sentences) < due:
            event = house.happen(_WALKING_AND_CARRYING)
            kind, who, what, _ = event
            if kind == MOVE:
                walks[who].append((len(sentences), what))
                touched.append(-1)
            else:
                handled[what] = len(sentences)
                touched.append(what)
                start = len(walks[who]) if kind == GET else trip[what][1]
                trip[what] = who, start, -1 if kind == GET else len(walks[who])
            sentences.append(voice.tell(rng, event))
        travelled = []
        for thing in touched[first_recent(len(touched), options) :]:
            if thing >= 0:
                who, start, end = trip[thing]
                if (len(walks[who]) if end < 0 else end) - start >= 2:
                    travelled.append(thing)
        if travelled:
            thing = travelled[int(rng.random() * len(travelled))]
            who, start, end = trip[thing]
            arrival, before = _leg(rng, walks[who][start : len(walks[who]) if end < 0 else end])
            questions.append(
                Question(
                    voice.where_was_thing.say(rng, thing, arrival[1]),
                    voice.places[before[1]],
                    len(sentences),
                    (handled[thing], arrival[0], before[0]),
                )
            )
    return Story(tuple(sentences), tuple(questions), "3")


def _leg(rng: random.Random, walk: list[tuple[int, int]]) -> tuple[tuple[int, int], tuple[int, int]]:
    """A move of the walk and the one before it; of several moves to a place, only the last can be meant."""
    last_visits: list[int] = []
    places: set[int] = set()
    for number in range(len(walk) - 1, 0, -1):
        if walk[number][1] not in places:
            places.add(walk[number][1])
            last_visits.append(number)
    back = 0
    while rng.random() < _EARLIER_MOVE:
        back += 1
    number = last_visits[back % len(last_visits)]
    return walk[number], walk[number - 1]


TELLERS: dict[int, Teller] = {1: _one_fact, 2: _two_facts, 3: _three_facts}
