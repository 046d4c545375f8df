"""Task 5: who gave what to whom."""

from __future__ import annotations

import random
from functools import lru_cache

from query_reduction.text.stories import Question, Story
from query_reduction.worlds.options import WorldOptions
from query_reduction.worlds.simulation import GIVE, Event, house_voice
from query_reduction.worlds.teller import QUESTIONS, Teller, first_recent, next_question
from query_reduction.worlds.words import Words

__all__ = ["TELLERS"]

_WALKING_CARRYING_AND_GIVING = 4


def _three_arguments(rng: random.Random, words: Words, options: WorldOptions) -> Story:
    """People hand things over; ask for one of giver, thing and taker."""
    voice = house_voice(words, options, group="giving", at_least=2)
    asked = _asked(words, options)
    house = voice.house(rng)
    sentences: list[str] = []
    questions: list[Question] = []
    gifts: list[Event | None] = []
    """The gift in each sentence, if any."""
    last_gift: dict[tuple[int, int], int] = {}
    """The sentence of the last gift of each thing, (thing, -1), and between each two people."""
    while len(questions) < QUESTIONS:
        due = next_question(len(sentences), len(questions), options)
        while len(sentences) < due:
            event = house.happen(_WALKING_CARRYING_AND_GIVING)
            if event[0] == GIVE:
                _, giver, thing, taker = event
                last_gift[thing, -1] = last_gift[giver, taker] = len(sentences)
                gifts.append(event)
            else:
                gifts.append(None)
            sentences.append(voice.tell(rng, event))
        recent = [gift for gift in gifts[first_recent(len(gifts), options) :] if gift is not None]
        if recent:
            told_by = last_gift[recent[int(rng.random() * len(recent))][2], -1]
            gift = gifts[told_by]
            assert gift is not None
            text, answer = asked.ask(rng, gift, unclear=last_gift[gift[1], gift[3]] != told_by)
            questions.append(Question(text, answer, len(sentences), (told_by,)))
    return Story(tuple(sentences), tuple(questions), "5")


class _Asked:
    """The five questions about a gift."""

    def __init__(self, words: Words, people: tuple[str, ...], things: tuple[str, ...]) -> None:
        self.people = people
        self.things = things
        self.what = words.asked("what_given", who=people, whom=people)
        self.who = words.asked("who_gave", thing=things)
        self.who_to_whom = words.asked("who_gave_to", thing=things, whom=people)
        self.whom = words.asked("who_received", thing=things)
        self.whom_from_who = words.asked("whom_gave", who=people, thing=things)

    def ask(self, rng: random.Random, gift: Event, *, unclear: bool) -> tuple[str, str]:
        """A question and its answer; "What did Fred give to Bill?" is not asked if it is ``unclear`` which gift."""
        _, giver, thing, taker = gift
        form = int(rng.random() * 6)
        while unclear and form < 2:
            form = int(rng.random() * 6)
        if form < 2:
            return self.what.say(rng, giver, taker), self.things[thing]
        if form == 2:
            return self.who.say(rng, thing), self.people[giver]
        if form == 3:
            return self.who_to_whom.say(rng, thing, taker), self.people[giver]
        if form == 4:
            return self.whom.say(rng, thing), self.people[taker]
        return self.whom_from_who.say(rng, giver, thing), self.people[taker]


@lru_cache(maxsize=8)
def _asked(words: Words, options: WorldOptions) -> _Asked:
    voice = house_voice(words, options, group="giving", at_least=2)
    return _Asked(words, voice.people, voice.things)


TELLERS: dict[int, Teller] = {5: _three_arguments}
