"""Forms of a name: found in stories of many languages, exchanged together, written where they stand."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from query_reduction.names import Renamer, Symmetries, read_unknown
from query_reduction.names.discovery.discover import discover
from query_reduction.names.discovery.paradigms import find_units
from query_reduction.names.forms import find_forms, likeness
from query_reduction.names.renaming import Renaming, Sentences
from query_reduction.names.units import Units
from query_reduction.text.stories import Question, Story
from query_reduction.worlds import generate, load_language
from query_reduction.worlds.solver.languages import interpreter


def falsified(language: str, task: int, stories: Sequence[Story], found: Symmetries) -> list[str]:
    """Questions that renaming made false, or sentences that are none of the language."""
    reader = interpreter(task, load_language(language))
    wrong = []
    for story in Renamer(found, stories).stories(stories, random.Random(1)):
        for asked in story.questions:
            try:
                answer = reader.solve(story.sentences[: asked.after], asked.text)
            except (KeyError, ValueError, IndexError) as error:
                answer = repr(error)
            if answer != asked.answer:
                wrong.append(f"{story.sentences} {asked.text} {asked.answer}, not {answer}")
    return wrong


def groups(units: Units) -> set[frozenset[str]]:
    found: dict[str, set[str]] = {}
    for form, name in units.names.items():
        found.setdefault(name, set()).add(form)
    return {frozenset(forms) for forms in found.values()}


@pytest.mark.parametrize(
    ("language", "task", "forms"),
    [
        ("russian", 1, ["кухня кухню", "пошёл пошла", "в на"]),
        ("russian", 3, ["кухня кухню кухни", "книга книгу", "сад сада", "был была было"]),
        ("turkish", 2, ["mutfak mutfağa", "süt sütü"]),
        ("latin", 2, ["hortus hortum", "liber librum"]),
        ("german", 1, ["den die das"]),
        ("german", 15, ["maus mäuse mäusen"]),
    ],
)
def test_forms_of_a_name_are_found(language: str, task: int, forms: list[str]) -> None:
    found = groups(find_units(generate(task, 600, seed=5, words=load_language(language))))
    assert {frozenset(group.split()) for group in forms} <= found


@pytest.mark.parametrize("task", [1, 4, 5, 9, 16, 18, 19])
def test_english_needs_no_forms(task: int) -> None:
    assert not find_units(generate(task, 300, seed=5)).names


@pytest.mark.parametrize(
    ("language", "task"),
    [("russian", 1), pytest.param("turkish", 1, marks=pytest.mark.slow), ("german", 15), ("chinese", 1)],
)
def test_names_of_all_forms_are_exchanged(language: str, task: int) -> None:
    stories = generate(task, 500, seed=3, words=load_language(language))
    found = discover(stories)
    size = {1: 6, 15: 4}[task]
    assert any(len(kind) == size for kind in found.kinds)
    assert falsified(language, task, stories, found) == []


@pytest.mark.parametrize("questions", [100, pytest.param(250, marks=pytest.mark.slow)])
@pytest.mark.parametrize(("language", "task"), [("russian", 17), ("latin", 2), ("german", 19), ("chinese", 16)])
def test_little_data_in_other_languages_finds_nothing_false(language: str, task: int, questions: int) -> None:
    stories = generate(task, questions, seed=11, words=load_language(language))
    assert falsified(language, task, stories, discover(stories)) == []


@pytest.mark.parametrize("wrong", [pytest.param(0.05, marks=pytest.mark.slow), 0.2])
def test_wrong_answers_make_nothing_false_interchangeable(wrong: float) -> None:
    stories = generate(2, 250, seed=8, words=load_language("latin"))
    chance = random.Random(0)
    answers = sorted({asked.answer for story in stories for asked in story.questions})
    noisy = [
        replace(
            story,
            questions=tuple(
                replace(asked, answer=chance.choice(answers)) if chance.random() < wrong else asked
                for asked in story.questions
            ),
        )
        for story in stories
    ]
    assert falsified("latin", 2, stories, discover(noisy)) == []


STORIES = [
    Story((f"{who} {verb} в {place}.",), (Question(f"Где {who}?", answer, 1),))
    for who, verbs in (("Иван", ("пошёл", "поехал")), ("Анна", ("пошла", "поехала")))
    for verb in verbs
    for place, answer in (("сад", "сад"), ("школу", "школа"))
]
NAMES = {"пошла": "пошёл", "пошёл": "пошёл", "поехала": "поехал", "поехал": "поехал", "школу": "школа"}
NAMES["школа"] = "школа"


def renaming(mapping: dict[str, str]) -> Renaming:
    units = Units(names=NAMES)
    kinds = [("иван", "анна"), ("сад", "школа"), ("пошёл", "поехал")]
    forms = find_forms(STORIES, units, kinds)
    return Renaming(mapping, Sentences(units, STORIES, forms=forms))


def test_a_name_is_written_as_its_place_demands_and_verbs_agree() -> None:
    exchanged = renaming({"иван": "анна", "анна": "иван", "сад": "школа", "школа": "сад"})
    story = exchanged.story(Story(("Иван пошёл в сад.",), (Question("Где Иван?", "сад", 1),)))
    assert story == Story(("Анна пошла в школу.",), (Question("Где Анна?", "школа", 1),))
    assert exchanged.story(story).sentences == ("Иван пошёл в сад.",)


def test_a_story_with_a_form_that_is_not_known_stays_as_it_is() -> None:
    exchanged = renaming({"сад": "школа", "школа": "сад"})
    story = Story(("Иван пошёл в сад.", "Сад перед школой."), (Question("Где Иван?", "сад", 2),))
    assert exchanged.story(story) == story
    story = Story(("Иван пошёл в сад.", "Потом пошёл в сад."), (Question("Где Иван?", "сад", 2),))
    assert exchanged.story(story) == story


def test_an_unknown_name_is_read_in_all_its_forms() -> None:
    found = discover(generate(1, 700, seed=3, words=load_language("russian")))
    known = {word for form in found.units.names for word in form.split()} | {"где"}
    known |= {unit for kind in found.kinds for unit in kind}
    read = read_unknown(found, ["Наташа пошла на веранду.", "Иван поехал в сад."], "Где Наташа?", known)
    assert not read.unplaced
    (person,) = [unit for unit, name in read.names.items() if name == "Наташа"]
    verb = "пошёл" if person == "пётр" else "пошла"
    assert read.sentences[0].split()[:2] == [person.capitalize(), verb]


def test_likeness_of_forms_and_of_other_words() -> None:
    for form, other in (("кухню", "кухня"), ("mäuse", "maus"), ("mutfağa", "mutfak"), ("красный мяч", "красного мяча")):
        assert likeness(form, other) >= 0.6
    for form, other in (
        ("küche", "garten"),
        ("north", "n"),
        ("gave mary", "mary"),
        ("синий квадрат", "красного квадрата"),
    ):
        assert likeness(form, other) < 0.6


@given(st.text(min_size=1, max_size=12), st.text(min_size=1, max_size=12))
def test_likeness_is_symmetric_and_at_most_one(one: str, other: str) -> None:
    assert likeness(one, other) == likeness(other, one)
    assert 0 <= likeness(one, other) <= 1
