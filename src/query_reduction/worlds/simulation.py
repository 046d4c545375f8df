"""The shared world: people in places who walk around, take things, put them down and hand them over.

Everybody and everything starts somewhere that no story mentions. What happens next is drawn as in the published data:
a kind of action and a person, all equally likely, drawn again if that person cannot do it. Giving is the exception:
there, it is always the first thing of the table that can be handed over, to the first person of the table present.
All are numbers here; ``HouseVoice`` puts them into words.
"""

from __future__ import annotations

import random
from functools import lru_cache
from typing import TypeAlias

from query_reduction.worlds.options import WorldOptions
from query_reduction.worlds.words import Words

__all__ = ["DROP", "GET", "GIVE", "MOVE", "Event", "House", "HouseVoice", "house_voice"]

MOVE, GET, DROP, GIVE = range(4)
Event: TypeAlias = tuple[int, int, int, int]
"""Kind, who, the place or the thing, and to whom (-1 if nobody)."""


class House:
    """People, places and things, and what can happen among them."""

    __slots__ = ("_carried", "_crowd", "_lying", "_people", "_places", "_random", "holder", "place")

    def __init__(self, rng: random.Random, people: int, places: int, things: int) -> None:
        self._random = rng.random
        self._people = people
        self._places = places
        self.place = [int(rng.random() * places) for _ in range(people)]
        """Where each person is."""
        self.holder = [-1] * things
        """Who has each thing, -1 while it lies somewhere."""
        self._crowd = [0] * places
        for place in self.place:
            self._crowd[place] += 1
        self._carried: list[list[int]] = [[] for _ in range(people)]
        self._lying: list[list[int]] = [[] for _ in range(places)]
        for thing in range(things):
            self._lying[int(rng.random() * places)].append(thing)

    def happen(self, kinds: int) -> Event:
        """Make something happen, from the first ``kinds`` kinds of event."""
        random_, place_of, people = self._random, self.place, self._people
        while True:
            kind = int(random_() * kinds)
            who = int(random_() * people)
            here = place_of[who]
            if kind == MOVE:
                place = int(random_() * self._places)
                if place != here:
                    place_of[who] = place
                    self._crowd[here] -= 1
                    self._crowd[place] += 1
                    return MOVE, who, place, -1
            elif kind == GET:
                lying = self._lying[here]
                if lying:
                    thing = lying.pop(int(random_() * len(lying)))
                    self._carried[who].append(thing)
                    self.holder[thing] = who
                    return GET, who, thing, -1
            elif kind == DROP:
                carried = self._carried[who]
                if carried:
                    thing = carried.pop(int(random_() * len(carried)))
                    self._lying[here].append(thing)
                    self.holder[thing] = -1
                    return DROP, who, thing, -1
            else:
                gift = self._first_gift()
                if gift is not None:
                    return gift

    def _first_gift(self) -> Event | None:
        place_of, crowd = self.place, self._crowd
        for thing, giver in enumerate(self.holder):
            if giver >= 0 and crowd[place_of[giver]] > 1:
                here = place_of[giver]
                taker = place_of.index(here)
                if taker == giver:
                    taker = place_of.index(here, giver + 1)
                self._carried[giver].remove(thing)
                self._carried[taker].append(thing)
                self.holder[thing] = taker
                return GIVE, giver, thing, taker
        return None


class HouseVoice:
    """Puts what happens in a house, and what can be asked about it, into words."""

    def __init__(self, words: Words, options: WorldOptions, group: str, there: float, *, at_least: int) -> None:
        self.people = words.people.take(group, options.people, at_least=at_least)
        self.places = words.places.take("house", options.places, at_least=2)
        self.things = words.things.take("carried", options.things)
        self._there = there
        slots = {"who": self.people, "thing": self.things}
        self._move = words.lines("move", who=self.people, place=self.places)
        self._give = words.lines("give", **slots, whom=self.people)
        self._get = words.lines("get", **slots)
        self._get_there = words.lines("get_there", **slots)
        self._drop = words.lines("drop", **slots)
        self._drop_there = words.lines("drop_there", **slots)
        self.where_is = words.asked("where_is", who=self.people)
        self.where_is_thing = words.asked("where_is_thing", thing=self.things)
        self.where_was_thing = words.asked("where_was_thing", thing=self.things, place=self.places)
        self.is_in = words.asked("is_in", who=self.people, place=self.places)
        self.how_many = words.asked("how_many", who=self.people)
        self.what_carries = words.asked("what_carries", who=self.people)

    def house(self, rng: random.Random) -> House:
        """A new house for these people and things."""
        return House(rng, len(self.people), len(self.places), len(self.things))

    def tell(self, rng: random.Random, event: Event) -> str:
        """One sentence about the event."""
        kind, who, what, whom = event
        if kind == MOVE:
            return self._move.say(rng, who, what)
        if kind == GET:
            return (self._get_there if rng.random() < self._there else self._get).say(rng, who, what)
        if kind == DROP:
            # The published stories add "there" to one in five of these.
            return (self._drop_there if rng.random() < 0.2 else self._drop).say(rng, who, what)
        return self._give.say(rng, who, what, whom)


@lru_cache(maxsize=32)
def house_voice(
    words: Words, options: WorldOptions, group: str = "house", there: float = 1.0, at_least: int = 1
) -> HouseVoice:
    """The voice for these words and sizes, made once; ``there`` is how often somebody gets a thing "there"."""
    return HouseVoice(words, options, group, there, at_least=at_least)
