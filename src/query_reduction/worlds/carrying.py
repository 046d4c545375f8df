"""Tasks 7 and 8: how many things somebody carries, and which."""

from __future__ import annotations

import random
from collections.abc import Callable

from query_reduction.text.stories import Question, Story
from query_reduction.worlds.options import WorldOptions
from query_reduction.worlds.simulation import GIVE, MOVE, House, HouseVoice, house_voice
from query_reduction.worlds.teller import QUESTIONS, Teller, first_recent, next_question
from query_reduction.worlds.words import Words

__all__ = ["TELLERS"]

_WALKING_AND_CARRYING = 3
_WALKING_CARRYING_AND_GIVING = 4
_Handled = list[tuple[int, int]]
"""The sentences that tell of one person handling a thing, each with the thing."""


def _count(rng: random.Random, words: Words, options: WorldOptions) -> Story:
    """Task 7: people carry things and hand them over; how many has one of them?"""

    def ask(voice: HouseVoice, house: House, who: int, handled: _Handled) -> tuple[str, str, tuple[int, ...]]:
        count = house.holder.count(who)
        answer = words.numbers[count] if count < len(words.numbers) else str(count)
        return voice.how_many.say(rng, who), answer, tuple(sentence for sentence, _ in handled)

    return _carry(rng, words, options, _WALKING_CARRYING_AND_GIVING, ask, "7")


def _list(rng: random.Random, words: Words, options: WorldOptions) -> Story:
    """Task 8: people carry things; which has one of them? Things come in the order that person first touched them."""

    def ask(voice: HouseVoice, house: House, who: int, handled: _Handled) -> tuple[str, str, tuple[int, ...]]:
        sentences_of: dict[int, list[int]] = {}
        for sentence, thing in handled:
            sentences_of.setdefault(thing, []).append(sentence)
        has = [voice.things[thing] for thing in sentences_of if house.holder[thing] == who]
        support = tuple(sentence for sentences in sentences_of.values() for sentence in sentences)
        return voice.what_carries.say(rng, who), ",".join(has) or words.answers["nothing"], support

    return _carry(rng, words, options, _WALKING_AND_CARRYING, ask, "8")


def _carry(
    rng: random.Random,
    words: Words,
    options: WorldOptions,
    kinds: int,
    ask: Callable[[HouseVoice, House, int, _Handled], tuple[str, str, tuple[int, ...]]],
    task: str,
) -> Story:
    """People walk around and handle things; each question is about somebody who has recently done so."""
    voice = house_voice(words, options)
    house = voice.house(rng)
    sentences: list[str] = []
    questions: list[Question] = []
    handled: list[_Handled] = [[] for _ in voice.people]
    handlers: list[int] = []
    """Who handles a thing in each sentence, -1 if nobody does."""
    while len(questions) < QUESTIONS:
        due = next_question(len(sentences), len(questions), options)
        while len(sentences) < due:
            event = house.happen(kinds)
            kind, who, what, whom = event
            if kind == MOVE:
                handlers.append(-1)
            else:
                handlers.append(who)
                handled[who].append((len(sentences), what))
                if kind == GIVE:
                    handled[whom].append((len(sentences), what))
            sentences.append(voice.tell(rng, event))
        recent = [who for who in handlers[first_recent(len(handlers), options) :] if who >= 0]
        if recent:
            who = recent[int(rng.random() * len(recent))]
            text, answer, support = ask(voice, house, who, handled[who])
            questions.append(Question(text, answer, len(sentences), support))
    return Story(tuple(sentences), tuple(questions), task)


TELLERS: dict[int, Teller] = {7: _count, 8: _list}
