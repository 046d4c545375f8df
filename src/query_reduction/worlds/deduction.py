"""Tasks 15 and 16: what holds for a kind holds for each member (deduction), and vice versa (induction)."""

from __future__ import annotations

import random
from dataclasses import dataclass
from functools import lru_cache

from query_reduction.text.stories import Question, Story
from query_reduction.worlds.chance import pick_other, sample
from query_reduction.worlds.lengths import story_length
from query_reduction.worlds.options import WorldOptions
from query_reduction.worlds.teller import Teller
from query_reduction.worlds.words import Lines, Words

__all__ = ["TELLERS"]

_DEDUCTION_QUESTIONS = 4


@dataclass(frozen=True, slots=True)
class _DeductionWords:
    """What task 15 needs of the table; animals are counted by the option ``things``."""

    animals: tuple[str, ...]
    people: int
    sentences: int
    are_afraid: Lines
    is_a: Lines
    afraid_of: Lines


@lru_cache(maxsize=8)
def _prepare_deduction(words: Words, options: WorldOptions) -> _DeductionWords:
    people = words.people.take("deduction", options.people)
    animals = words.animals.take("deduction", options.things, at_least=2)
    plurals = [words.plural(animal) for animal in animals]
    return _DeductionWords(
        animals,
        len(people),
        story_length(15, options, published=len(people) + len(animals), least=2),
        words.lines("are_afraid", animals=plurals, others=plurals),
        words.lines("is_a", who=people, animal=animals),
        words.asked("afraid_of", who=people),
    )


def _deduction(rng: random.Random, words: Words, options: WorldOptions) -> Story:
    """Task 15: every animal fears one other, and everybody is an animal that has been mentioned."""
    known = _prepare_deduction(words, options)
    random_ = rng.random
    animal_count = len(known.animals)
    length = known.sentences
    # Subjects are animals, then people; the first `untold` of them have not been mentioned yet.
    subjects = list(range(animal_count + known.people))
    kinds = subjects[:animal_count]
    if length < len(subjects):
        kinds = sample(rng, kinds, max(1, length * animal_count // len(subjects)))
        subjects = kinds + sample(rng, subjects[animal_count:], length - len(kinds))
    people = subjects[len(kinds) :]
    fears = [pick_other(rng, animal_count, animal) for animal in range(animal_count)]
    animal_of = [-1] * (animal_count + known.people)
    told_at = [-1] * (animal_count + known.people)
    untold = len(subjects)
    spare = length - untold
    sentences: list[str] = []
    while len(sentences) < length:
        chosen = int(random_() * (len(subjects) if spare else untold))
        subject = subjects[chosen]
        if subject >= animal_count and animal_of[subject] < 0:
            # An animal not mentioned yet cannot be what somebody is: draw another subject.
            animal = kinds[int(random_() * len(kinds))]
            if told_at[animal] < 0:
                continue
            animal_of[subject] = animal
        if told_at[subject] < 0:
            untold -= 1
            subjects[chosen], subjects[untold] = subjects[untold], subject
        else:
            spare -= 1
        told_at[subject] = len(sentences)
        if subject < animal_count:
            sentences.append(known.are_afraid.say(rng, subject, fears[subject]))
        else:
            sentences.append(known.is_a.say(rng, subject - animal_count, animal_of[subject]))
    questions = []
    for _ in range(_DEDUCTION_QUESTIONS):
        person = people[int(random_() * len(people))]
        animal = animal_of[person]
        questions.append(
            Question(
                known.afraid_of.say(rng, person - animal_count),
                known.animals[fears[animal]],
                length,
                (told_at[person], told_at[animal]),
            )
        )
    return Story(tuple(sentences), tuple(questions), "15")


@dataclass(frozen=True, slots=True)
class _InductionWords:
    """What task 16 needs of the table; animals are counted by the option ``things``."""

    people: int
    animals: int
    colours: tuple[str, ...]
    sentences: int
    is_a: Lines
    is_colour: Lines
    what_colour: Lines


@lru_cache(maxsize=8)
def _prepare_induction(words: Words, options: WorldOptions) -> _InductionWords:
    people = words.people.take("induction", options.people, at_least=2)
    animals = words.animals.take("induction", options.things, at_least=2)
    colours = words.colours.take("induction")
    return _InductionWords(
        len(people),
        len(animals),
        colours,
        story_length(16, options, published=2 * len(people) - 1, least=3),
        words.lines("is_a", who=people, animal=animals),
        words.lines("is_colour", who=people, colour=colours),
        words.asked("what_colour", who=people),
    )


def _induction(rng: random.Random, words: Words, options: WorldOptions) -> Story:
    """Task 16: everybody is an animal and has a colour, and the question asks for the colour of the last one.

    Whenever another animal of a kind appears, the kind gets a new colour, and members whose colour is stated from then
    on have it: two of a kind may differ. The answer is the colour of the member that appeared last: this holds in all
    published stories, even where the majority has another colour.
    """
    known = _prepare_induction(words, options)
    random_ = rng.random
    length = known.sentences
    order, events = _who_comes_up(rng, known.people, length)
    asked = order[0]
    animal_of = _kinds(rng, order, known)
    colours = len(known.colours)
    colour_of_kind = [0] * known.animals
    colour_of = [-1] * known.people
    appeared_at = [-1] * known.people
    coloured_at = [-1] * known.people
    companion = asked
    sentences: list[str] = []
    for person, tells_colour in events:
        animal = animal_of[person]
        if tells_colour:
            if colour_of[person] < 0:
                colour_of[person] = colour_of_kind[animal]
            coloured_at[person] = len(sentences)
            sentences.append(known.is_colour.say(rng, person, colour_of[person]))
        else:
            if appeared_at[person] < 0:
                colour_of_kind[animal] = int(random_() * colours)
                if animal == animal_of[asked] and person != asked:
                    companion = person
            appeared_at[person] = len(sentences)
            sentences.append(known.is_a.say(rng, person, animal))
    question = Question(
        known.what_colour.say(rng, asked),
        known.colours[colour_of[companion]],
        length,
        (appeared_at[asked], appeared_at[companion], coloured_at[companion]),
    )
    return Story(tuple(sentences), (question,), "16")


def _who_comes_up(rng: random.Random, people: int, sentences: int) -> tuple[list[int], list[tuple[int, bool]]]:
    """The people, first the one whose colour is not stated; and who comes up in each sentence, with colour or not.

    Anybody not yet fully described comes up next: first the animal, then the colour. The others come up again only if
    there are more sentences than that.
    """
    random_ = rng.random
    count = min(people, (sentences + 1) // 2)
    # Everybody is equally likely to come up next, so only a sample of them has to be drawn.
    order = list(range(people)) if count == people else sample(rng, range(people), count)
    spare = sentences - (2 * count - 1)
    unfinished = count
    appeared = [False] * people
    events: list[tuple[int, bool]] = []
    while len(events) < sentences:
        chosen = int(random_() * (count if spare else unfinished))
        person = order[chosen]
        if chosen < unfinished and not appeared[person]:
            appeared[person] = True
            events.append((person, False))
        elif 1 < unfinished > chosen:
            unfinished -= 1
            order[chosen], order[unfinished] = order[unfinished], person
            events.append((person, True))
        else:
            spare -= 1
            events.append((person, chosen > 0 and random_() < 0.5))
    return order, events


def _kinds(rng: random.Random, order: list[int], known: _InductionWords) -> list[int]:
    """Everybody's animal, such that the first of ``order`` has company, but never of exactly two, as published."""
    random_ = rng.random
    animals = known.animals
    while True:
        kinds = [int(random_() * animals) for _ in range(known.people)]
        kind = kinds[order[0]]
        company = sum([kinds[person] == kind for person in order]) - 1
        if company and company != 2:
            return kinds


TELLERS: dict[int, Teller] = {15: _deduction, 16: _induction}
