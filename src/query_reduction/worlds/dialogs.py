"""Restaurant bookings: dialogs of the five published tasks, with their knowledge base, in any number.

1 ask for what is missing, then call the knowledge base    4 tell phone and address of the place booked
2 the same wishes, changed afterwards                      5 all of it in one conversation
3 offer places from the best rated down

Every dialog follows from the wishes of a made-up guest and the rows of ``knowledge_rows``. The split ``unseen`` has
cities, cuisines and places that the other splits never mention.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Literal
from zlib import crc32

from query_reduction.errors import InputError
from query_reduction.text.formats.dialog import SILENCE
from query_reduction.text.stories import Question, Story
from query_reduction.worlds.chance import pick, sample, seeded

__all__ = [
    "CONFIRM",
    "DIALOG_TASKS",
    "DISPLAYED_RESPONSES",
    "DialogSplit",
    "display_names",
    "generate_dialogs",
    "knowledge_rows",
]

DialogSplit = Literal["train", "valid", "test", "unseen"]

# Of four equally likely kinds of dialog text, training has two; so splits never share a dialog.
_KINDS_OF_TEXT: dict[str, frozenset[int]] = {
    "train": frozenset({0, 1}),
    "valid": frozenset({2}),
    "test": frozenset({3}),
    "unseen": frozenset({0, 1, 2, 3}),
}
_WISHES = ("cuisine", "location", "number", "price")
_VALUES: dict[bool, dict[str, tuple[str, ...]]] = {
    False: {
        "cuisine": ("british", "french", "indian", "italian", "spanish"),
        "location": ("bombay", "london", "madrid", "paris", "rome"),
    },
    True: {
        "cuisine": ("cantonese", "japanese", "korean", "thai", "vietnamese"),
        "location": ("bangkok", "beijing", "hanoi", "seoul", "tokyo"),
    },
}
_NUMBERS = ("two", "four", "six", "eight")
_PRICES = ("cheap", "moderate", "expensive")
_BEST_RATING = 8

CONFIRM = "let me do the reservation"
"""What must not be done on a doubt."""
DISPLAYED_RESPONSES = {
    "hello what can i help you with today": "Hello! What can I help you with today?",
    "i'm on it": "I'm on it.",
    "any preference on a type of cuisine": "Any preference on a type of cuisine?",
    "where should it be": "Where should it be?",
    "how many people would be in your party": "How many people will be in your party?",
    "which price range are looking for": "Which price range are you looking for?",
    "ok let me look into some options for you": "OK, let me look into some options for you.",
    "what do you think of this option: _": "What do you think of _?",
    "great let me do the reservation": "Great, let me make the reservation.",
    "sure let me find an other option for you": "Sure, let me find another option for you.",
    "sure is there anything else to update": "Sure. Is there anything else to update?",
    "here it is _": "Here is the _.",
    "is there anything i can help you with": "Is there anything else I can help you with?",
    "you're welcome": "You're welcome.",
}
"""Responses as people should see them."""

_FIRST_NAMES = (
    *(
        "Amber",
        "Blue",
        "Copper",
        "Crooked",
        "Dancing",
        "Early",
        "Golden",
        "Green",
        "Happy",
        "Hidden",
        "Iron",
        "Laughing",
    ),
    *("Little", "Lucky", "Merry", "Old", "Painted", "Quiet", "Red", "Rusty", "Salty", "Silver", "Singing", "Sleepy"),
    *("Smiling", "Spotted", "Striped", "Sunny", "Velvet", "Wandering", "White", "Wild", "Winter", "Wooden", "Yellow"),
)
_SECOND_NAMES = (
    *("Anchor", "Apple", "Bear", "Bell", "Boat", "Bridge", "Candle", "Cat", "Cherry", "Clock", "Crown", "Dolphin"),
    *("Fig", "Fox", "Goose", "Harp", "Heron", "Kettle", "Lantern", "Lemon", "Lion", "Mill", "Moon", "Olive"),
    *("Orchard", "Owl", "Pear", "Pepper", "Pigeon", "Rose", "Sparrow", "Spoon", "Star", "Swan", "Tree", "Whale"),
)

_GREETINGS = ("hi", "hello", "good morning")
_OPENERS = (
    "may i have a table",
    "i'd like to book a table",
    "can you book a table",
    "can you make a restaurant reservation",
)
_MENTION = {
    "cuisine": ("with {} food", "with {} cuisine"),
    "location": ("in {}",),
    "number": ("for {}", "for {} people"),
    "price": ("in a {} price range",),
}
_QUESTION = {
    "cuisine": "any preference on a type of cuisine",
    "location": "where should it be",
    "number": "how many people would be in your party",
    "price": "which price range are looking for",
}
_REPLY = {
    "cuisine": ("with {} food", "with {} cuisine", "i love {} food"),
    "location": ("in {}", "{} please"),
    "number": ("we will be {}", "for {} please", "for {} people please"),
    "price": ("i am looking for a {} restaurant", "in a {} price range please"),
}
_CHANGE = ("instead could it be {}", "actually i would prefer {}")
_REFUSALS = ("no this does not work for me", "do you have something else", "no i don't like that")
_ACCEPTANCES = ("i love that", "let's do it", "it's perfect", "that looks great")
_ASK = {
    "phone": (
        "may i have the phone number of the restaurant",
        "what is the phone number of the restaurant",
        "do you have its phone number",
    ),
    "address": ("may i have the address of the restaurant", "can you provide the address", "do you have its address"),
}
_THANKS = ("thanks", "thank you", "you rock")
_NO_MORE = ("no thanks", "no thank you")


@dataclass(frozen=True, slots=True)
class _Place:
    name: str
    about: dict[str, str]
    rating: int

    def rows(self) -> list[str]:
        order = ("phone", "cuisine", "address", "location", "number", "price", "rating")
        return [f"{self.name} R_{relation} {self.about[relation]}" for relation in order]


@dataclass(slots=True)
class _Talk:
    """A dialog in progress."""

    rng: random.Random
    unseen: bool
    sentences: list[str] = field(default_factory=list)
    questions: list[Question] = field(default_factory=list)

    def turn(self, user: str, system: str) -> None:
        self.questions.append(Question(user, system, len(self.sentences)))
        self.sentences += (user, system)

    def one_of(self, texts: tuple[str, ...]) -> str:
        return texts[pick(self.rng, len(texts))]


def generate_dialogs(task: int, dialogs: int, *, seed: int = 0, split: DialogSplit = "train") -> list[Story]:
    """Dialogs of one task; the same seed gives the same ones on every machine."""
    if task not in DIALOG_TASKS:
        raise InputError(f"dialog task {task} cannot be generated; choose from {', '.join(map(str, DIALOG_TASKS))}")
    if split not in _KINDS_OF_TEXT:
        raise InputError(f"unknown split {split!r}; choose from {', '.join(_KINDS_OF_TEXT)}")
    rng = seeded("dialogs", seed, task, split)
    told: list[Story] = []
    while len(told) < dialogs:
        talk = _Talk(rng, split == "unseen")
        DIALOG_TASKS[task](talk)
        if crc32("\n".join(talk.sentences).encode()) & 3 in _KINDS_OF_TEXT[split]:
            told.append(Story(tuple(talk.sentences), tuple(talk.questions), str(task)))
    return told


def knowledge_rows() -> tuple[tuple[str, str, str], ...]:
    """All rows (subject, relation, value) of the knowledge base the dialogs are about."""
    rows = (row.split() for unseen in (False, True) for place in _places(unseen) for row in place.rows())
    return tuple((subject, relation, value) for subject, relation, value in rows)


def display_names() -> dict[str, str]:
    """A name for people to read, of each place of the knowledge base."""
    names = [f"{first} {second}" for second in _SECOND_NAMES for first in _FIRST_NAMES]
    places = [place for unseen in (False, True) for place in _places(unseen)]
    rng = seeded("display names")
    return {
        place.name: f"the {name} ({place.rating} stars)"
        for place, name in zip(places, sample(rng, names, len(places)), strict=True)
    }


@cache
def _places(unseen: bool) -> tuple[_Place, ...]:
    rng = seeded("places", unseen)
    places = []
    for location in _VALUES[unseen]["location"]:
        for price in _PRICES:
            for cuisine in _VALUES[unseen]["cuisine"]:
                for rating in range(1, _BEST_RATING + 1):
                    name = f"resto_{location}_{price}_{cuisine}_{rating}stars"
                    about = {
                        "phone": f"{name}_phone",
                        "cuisine": cuisine,
                        "address": f"{name}_address",
                        "location": location,
                        "number": _NUMBERS[pick(rng, len(_NUMBERS))],
                        "price": price,
                        "rating": str(rating),
                    }
                    places.append(_Place(name, about, rating))
    return tuple(places)


def _issue_call(talk: _Talk) -> None:
    _greet(talk)
    _call(talk, _ask_for_missing(talk, _any_place(talk).about))


def _change_call(talk: _Talk) -> None:
    _greet(talk)
    final = _any_place(talk).about
    first, changed = _other_wishes_first(talk, final)
    talk.turn(_request(talk, first, _WISHES), "i'm on it")
    talk.turn(SILENCE, "ok let me look into some options for you")
    _call(talk, first)
    _change(talk, final, changed)
    _call(talk, final)
    talk.turn(talk.one_of(_THANKS), "you're welcome")


def _show_options(talk: _Talk) -> None:
    wishes = _any_place(talk).about
    places = _find(talk, wishes)
    _tell_rows(talk, places)
    _greet(talk)
    _ask_for_missing(talk, wishes)
    _offer(talk, places)


def _tell_more(talk: _Talk) -> None:
    place = _any_place(talk)
    _tell_rows(talk, [place])
    _greet(talk)
    talk.turn(f"{talk.one_of(_OPENERS)} at {place.name}", "great let me do the reservation")
    _ask_about(talk, place)


def _whole_booking(talk: _Talk) -> None:
    _greet(talk)
    final = _any_place(talk).about
    first, changed = _other_wishes_first(talk, final)
    _call(talk, _ask_for_missing(talk, first))
    _change(talk, final, changed)
    _call(talk, final)
    places = _find(talk, final)
    _tell_rows(talk, places)
    _ask_about(talk, _offer(talk, places))
    talk.turn(talk.one_of(_THANKS), "is there anything i can help you with")
    talk.turn(talk.one_of(_NO_MORE), "you're welcome")


DIALOG_TASKS: dict[int, Callable[[_Talk], None]] = {
    1: _issue_call,
    2: _change_call,
    3: _show_options,
    4: _tell_more,
    5: _whole_booking,
}
"""The function that generates a dialog of each task."""


def _any_place(talk: _Talk) -> _Place:
    places = _places(talk.unseen)
    return places[pick(talk.rng, len(places))]


def _find(talk: _Talk, wishes: dict[str, str]) -> list[_Place]:
    found = [place for place in _places(talk.unseen) if all(place.about[wish] == wishes[wish] for wish in _WISHES)]
    return sample(talk.rng, found, len(found))


def _greet(talk: _Talk) -> None:
    talk.turn(talk.one_of(_GREETINGS), "hello what can i help you with today")


def _request(talk: _Talk, wishes: dict[str, str], said: tuple[str, ...]) -> str:
    order = sample(talk.rng, said, len(said))
    return " ".join([talk.one_of(_OPENERS), *(talk.one_of(_MENTION[wish]).format(wishes[wish]) for wish in order)])


def _ask_for_missing(talk: _Talk, wishes: dict[str, str]) -> dict[str, str]:
    said = tuple(wish for wish in _WISHES if talk.rng.random() < 0.5)
    missing = [wish for wish in _WISHES if wish not in said]
    user = _request(talk, wishes, said)
    talk.turn(user, "i'm on it")
    user = SILENCE
    for wish in missing:
        talk.turn(user, _QUESTION[wish])
        user = talk.one_of(_REPLY[wish]).format(wishes[wish])
    talk.turn(user, "ok let me look into some options for you")
    return wishes


def _call(talk: _Talk, wishes: dict[str, str]) -> None:
    talk.turn(SILENCE, " ".join(["api_call", *(wishes[wish] for wish in _WISHES)]))


def _other_wishes_first(talk: _Talk, final: dict[str, str]) -> tuple[dict[str, str], list[str]]:
    """The guest's requests before one to four of them change to something available; and which those are."""
    values = {**_VALUES[talk.unseen], "number": _NUMBERS, "price": _PRICES}
    changed = sample(talk.rng, _WISHES, 1 + pick(talk.rng, len(_WISHES)))
    first = {wish: final[wish] for wish in _WISHES}
    for wish in changed:
        first[wish] = talk.one_of(tuple(value for value in values[wish] if value != final[wish]))
    return first, changed


def _change(talk: _Talk, wanted: dict[str, str], changed: list[str]) -> None:
    for wish in changed:
        said = talk.one_of(_MENTION[wish]).format(wanted[wish])
        talk.turn(talk.one_of(_CHANGE).format(said), "sure is there anything else to update")
    talk.turn("no", "ok let me look into some options for you")


def _tell_rows(talk: _Talk, places: list[_Place]) -> None:
    talk.sentences += (row for place in places for row in place.rows())


def _offer(talk: _Talk, places: list[_Place]) -> _Place:
    """Offer places from the best down until the guest takes one; the last is taken in any case."""
    ordered = sorted(places, key=lambda place: -place.rating)
    for place in ordered:
        talk.turn(SILENCE, f"what do you think of this option: {place.name}")
        if place is ordered[-1] or talk.rng.random() < 0.3:
            talk.turn(talk.one_of(_ACCEPTANCES), "great let me do the reservation")
            return place
        talk.turn(talk.one_of(_REFUSALS), "sure let me find an other option for you")
    raise AssertionError("there is always a place to offer")


def _ask_about(talk: _Talk, place: _Place) -> None:
    for what in sample(talk.rng, tuple(_ASK), 1 + pick(talk.rng, 2)):
        talk.turn(talk.one_of(_ASK[what]), f"here it is {place.about[what]}")
