"""Task 20, agents' motivations: people feel something, go where it leads them, and take what helps."""

from __future__ import annotations

import random
from dataclasses import dataclass
from functools import lru_cache

from query_reduction.text.stories import Question, Story
from query_reduction.worlds.options import WorldOptions
from query_reduction.worlds.teller import Teller
from query_reduction.worlds.words import Lines, Motive, Words

__all__ = ["TELLERS"]


@dataclass(frozen=True, slots=True)
class _Step:
    """One of the three things everybody does: how it is told, and what is asked about it at once."""

    told: Lines
    asked: Lines
    answers: tuple[str, ...]
    """By motive."""
    names_motive: bool
    """Whether the question names place or thing, and so needs the number of the motive as well."""


@dataclass(frozen=True, slots=True)
class _Words:
    """What task 20 needs of the table."""

    people: int
    motives: tuple[Motive, ...]
    steps: tuple[_Step, _Step, _Step]
    """Feel, go, get."""


@lru_cache(maxsize=8)
def _prepare(words: Words, options: WorldOptions) -> _Words:
    people = words.people.take("motives", options.people)
    motives = words.motives
    feelings = tuple(motive.feeling for motive in motives)
    places = tuple(motive.place for motive in motives)
    things = tuple(motive.thing for motive in motives)
    return _Words(
        len(people),
        motives,
        (
            _Step(
                words.lines("feels", who=people, feeling=feelings),
                words.asked("where_will_go", who=people),
                places,
                names_motive=False,
            ),
            _Step(
                words.lines("move", who=people, place=places),
                words.asked("why_go", who=people, place=places),
                feelings,
                names_motive=True,
            ),
            _Step(
                words.lines("get_there", who=people, thing=things),
                words.asked("why_get", who=people, thing=things),
                feelings,
                names_motive=True,
            ),
        ),
    )


def _motivations(rng: random.Random, words: Words, options: WorldOptions) -> Story:
    """Task 20: a question after every sentence, until nobody can do anything more.

    There is one thing of each kind, so latecomers go without. If the story has to be longer, another day
    begins: everything is back in its place and everybody feels something new.
    """
    known = _prepare(words, options)
    random_ = rng.random
    steps = known.steps
    motives = known.motives
    length = options.sentences
    sentences: list[str] = []
    questions: list[Question] = []
    while True:
        active = list(range(known.people))
        done = [0] * known.people
        motive_of = [int(random_() * len(motives)) for _ in active]
        felt_at = [0] * known.people
        taken = set()
        while active and len(sentences) != length:
            chosen = int(random_() * len(active))
            person = active[chosen]
            motive = motive_of[person]
            stage = done[person]
            if stage == 2 and motives[motive].thing in taken:
                active[chosen] = active[-1]
                active.pop()
                continue
            step = steps[stage]
            if stage == 0:
                felt_at[person] = len(sentences)
            elif stage == 2:
                taken.add(motives[motive].thing)
                active[chosen] = active[-1]
                active.pop()
            done[person] = stage + 1
            sentences.append(step.told.say(rng, person, motive))
            text = step.asked.say(rng, person, motive) if step.names_motive else step.asked.say(rng, person)
            questions.append(Question(text, step.answers[motive], len(sentences), (felt_at[person],)))
        if length is None or len(sentences) == length:
            return Story(tuple(sentences), tuple(questions), "20")


TELLERS: dict[int, Teller] = {20: _motivations}
