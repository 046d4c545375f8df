"""Tasks 11 to 13: he and she, two people at once, and they."""

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
    def __init__(self, words: Words, options: WorldOptions, least_people: int) -> None:
        self.people = people = words.people.take("house", options.people, at_least=least_people)
        # Two people in different places need a third place to go to together.
        self.places = places = words.places.take("house", options.places, at_least=3)
        pronouns = sorted(set(words.pronouns.values()))
        self.pronoun_of = [pronouns.index(words.pronouns[name]) for name in people]
        self.move = words.lines("move", who=people, place=places)
        self.then_moves = words.lines("then_moves", pronoun=pronouns, place=places)
        self.both_move = words.lines("both_move", who=people, whom=people, place=places)
        self.then_both_move = words.lines("then_both_move", place=places)
        self.where_is = words.asked("where_is", who=people)


@lru_cache(maxsize=16)
def _voice(words: Words, options: WorldOptions, least_people: int) -> _Voice:
    return _Voice(words, options, least_people)


class _Walkers:
    """Where everybody is, which sentences told so, and who moved, in the order told."""

    __slots__ = ("_places", "_random", "movers", "place", "told_by")

    def __init__(self, rng: random.Random, people: int, places: int) -> None:
        self._random = rng.random
        self._places = places
        self.place = [int(rng.random() * places) for _ in range(people)]
        self.told_by: list[tuple[int, ...]] = [()] * people
        self.movers: list[int] = []

    def go(self, who: int, place: int, told_by: tuple[int, ...]) -> None:
        self.place[who] = place
        self.told_by[who] = told_by
        self.movers.append(who)

    def pair(self) -> tuple[int, int, int]:
        """Two people, and a place where neither of them is."""
        while True:
            who = int(self._random() * len(self.place))
            whom = int(self._random() * len(self.place))
            place = int(self._random() * self._places)
            if who != whom and self.place[who] != place != self.place[whom]:
                return who, whom, place

    def ask(self, voice: _Voice, rng: random.Random, told: int, options: WorldOptions) -> Question:
        first = first_recent(len(self.movers), options)
        who = self.movers[first + int(self._random() * (len(self.movers) - first))]
        return Question(voice.where_is.say(rng, who), voice.places[self.place[who]], told, self.told_by[who])


def _he_and_she(rng: random.Random, words: Words, options: WorldOptions) -> Story:
    """Task 11: somebody goes to a place, and then he or she moves on."""
    voice = _voice(words, options, 1)
    walkers = _Walkers(rng, len(voice.people), len(voice.places))
    sentences: list[str] = []
    questions: list[Question] = []
    while len(questions) < QUESTIONS:
        due = next_question(len(sentences), len(questions), options)
        while len(sentences) < due:
            told = len(sentences)
            who = int(rng.random() * len(voice.people))
            stop = pick_other(rng, len(voice.places), walkers.place[who])
            place = pick_other(rng, len(voice.places), stop)
            sentences.append(voice.move.say(rng, who, stop))
            sentences.append(voice.then_moves.say(rng, voice.pronoun_of[who], place))
            walkers.go(who, stop, (told,))
            walkers.go(who, place, (told, told + 1))
        questions.append(walkers.ask(voice, rng, len(sentences), options))
    return Story(tuple(sentences), tuple(questions), "11")


def _two_at_once(rng: random.Random, words: Words, options: WorldOptions) -> Story:
    """Task 12: two people go to a place together."""
    voice = _voice(words, options, 2)
    walkers = _Walkers(rng, len(voice.people), len(voice.places))
    sentences: list[str] = []
    questions: list[Question] = []
    while len(questions) < QUESTIONS:
        due = next_question(len(sentences), len(questions), options)
        while len(sentences) < due:
            who, whom, place = walkers.pair()
            for walker in (who, whom):
                walkers.go(walker, place, (len(sentences),))
            sentences.append(voice.both_move.say(rng, who, whom, place))
        questions.append(walkers.ask(voice, rng, len(sentences), options))
    return Story(tuple(sentences), tuple(questions), "12")


def _they(rng: random.Random, words: Words, options: WorldOptions) -> Story:
    """Task 13: two people go to a place together, and then they move on."""
    voice = _voice(words, options, 2)
    walkers = _Walkers(rng, len(voice.people), len(voice.places))
    sentences: list[str] = []
    questions: list[Question] = []
    while len(questions) < QUESTIONS:
        due = next_question(len(sentences), len(questions), options)
        while len(sentences) < due:
            told = len(sentences)
            who, whom, stop = walkers.pair()
            place = pick_other(rng, len(voice.places), stop)
            sentences.append(voice.both_move.say(rng, who, whom, stop))
            sentences.append(voice.then_both_move.say(rng, place))
            for walker in (who, whom):
                walkers.go(walker, stop, (told,))
            for walker in (who, whom):
                walkers.go(walker, place, (told, told + 1))
        questions.append(walkers.ask(voice, rng, len(sentences), options))
    return Story(tuple(sentences), tuple(questions), "13")


TELLERS: dict[int, Teller] = {11: _he_and_she, 12: _two_at_once, 13: _they}
