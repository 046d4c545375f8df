"""Task 6: is somebody in a place, yes or no?"""

from __future__ import annotations

import random

from query_reduction.text.stories import Question, Story
from query_reduction.worlds.chance import pick_other
from query_reduction.worlds.options import WorldOptions
from query_reduction.worlds.simulation import MOVE, house_voice
from query_reduction.worlds.teller import QUESTIONS, Teller, first_recent, next_question
from query_reduction.worlds.words import Words

__all__ = ["TELLERS"]

_WALKING_AND_CARRYING = 3


def _is_there(rng: random.Random, words: Words, options: WorldOptions) -> Story:
    """People walk around and carry things; half of the questions name the right place."""
    voice = house_voice(words, options)
    house = voice.house(rng)
    sentences: list[str] = []
    questions: list[Question] = []
    arrived = [-1] * len(voice.people)
    walkers: list[int] = []
    """Who moves in each sentence, -1 if nobody does."""
    while len(questions) < QUESTIONS:
        due = next_question(len(sentences), len(questions), options)
        while len(sentences) < due:
            event = house.happen(_WALKING_AND_CARRYING)
            if event[0] == MOVE:
                arrived[event[1]] = len(sentences)
                walkers.append(event[1])
            else:
                walkers.append(-1)
            sentences.append(voice.tell(rng, event))
        recent = [who for who in walkers[first_recent(len(walkers), options) :] if who >= 0]
        if recent:
            who = recent[int(rng.random() * len(recent))]
            place, answer = house.place[who], "yes"
            if rng.random() < 0.5:
                place, answer = pick_other(rng, len(voice.places), place), "no"
            questions.append(
                Question(voice.is_in.say(rng, who, place), words.answers[answer], len(sentences), (arrived[who],))
            )
    return Story(tuple(sentences), tuple(questions), "6")


TELLERS: dict[int, Teller] = {6: _is_there}
