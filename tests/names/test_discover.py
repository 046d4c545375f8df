"""What is found in stories of the worlds, of which it is known what may stand for what, and in the published ones."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from places import ROOT

from query_reduction.names import Symmetries
from query_reduction.names.discovery.discover import discover
from query_reduction.text.formats.readers import read_file
from query_reduction.text.stories import Question, Story
from query_reduction.worlds import WorldOptions, generate, load_words

Falsified = Callable[[int, Sequence[Story], Symmetries], list[str]]

PEOPLE = {"mary", "john", "sandra", "daniel"}
PLACES = {"bathroom", "bedroom", "garden", "hallway", "kitchen", "office"}
GET = {"took", "got", "grabbed", "picked up"}
DROP = {"dropped", "discarded", "left", "put down"}
NEVER = [{"yes", "no"}, {"yes", "maybe"}, {"no", "maybe"}, {"none", "one"}, {"one", "two"}, {"nothing", "milk"}]
SCRIPT = str.maketrans(
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ",
    "абвгдежзийклмнопрстуфхцчшщАБВГДЕЖЗИЙКЛМНОПРСТУФХЦЧШЩ",
)


def map_texts(story: Story, change: Callable[[str], str]) -> Story:
    questions = tuple(
        Question(change(asked.text), change(asked.answer), asked.after, asked.support) for asked in story.questions
    )
    return replace(story, sentences=tuple(map(change, story.sentences)), questions=questions)


def kinds_of(found: Symmetries) -> list[set[str]]:
    return [set(kind) for kind in found.kinds]


def check_nothing_forbidden(found: Symmetries) -> None:
    for kind in kinds_of(found):
        assert not any(pair <= kind for pair in NEVER)
        assert not (kind & GET and kind & DROP)


def test_people_places_and_verbs_of_the_first_task(falsified: Falsified) -> None:
    stories = generate(1, 700, seed=3)
    found = discover(stories)
    verbs = {"moved", "went", "went back", "travelled", "journeyed"}
    assert sorted(map(sorted, kinds_of(found))) == sorted(map(sorted, [PEOPLE, PLACES, verbs]))
    assert falsified(1, stories, found) == []
    assert found == discover(stories)


def test_forms_of_a_name_move_together(falsified: Falsified) -> None:
    stories = generate(15, 1000, seed=3)
    found = discover(stories)
    (table,) = found.tables
    assert {frozenset(row) for row in table} == {
        frozenset(row) for row in [("cat", "cats"), ("mouse", "mice"), ("wolf", "wolves"), ("sheep", "sheep#2")]
    }
    assert falsified(15, stories, found) == []
    assert any("cat" in line and "cats" in line for line in found.describe())


def test_things_of_any_size_by_truth_alone(falsified: Falsified) -> None:
    stories = generate(18, 1000, seed=3)
    found = discover(stories)
    assert {"chocolate", "box of chocolates", "chest", "box", "container", "suitcase"} in kinds_of(found)
    assert falsified(18, stories, found) == []


def test_men_and_women_are_exchanged_with_their_pronouns(falsified: Falsified) -> None:
    stories = generate(11, 1000, seed=3)
    found = discover(stories)
    assert {"he", "she"} in [set(pair) for coupling in found.couplings for pair in coupling]
    assert {"john", "daniel"} in kinds_of(found) and {"mary", "sandra"} in kinds_of(found)
    assert falsified(11, stories, found) == []


@pytest.mark.parametrize("task", [10, 17, 20])
def test_little_data_finds_less_but_nothing_false(task: int, falsified: Falsified) -> None:
    stories = generate(task, 200, seed=11)
    found = discover(stories)
    check_nothing_forbidden(found)
    assert falsified(task, stories, found) == []


@pytest.mark.parametrize("seed", [2, 5])
def test_words_with_other_forms_in_answers_never_move_alone(seed: int, falsified: Falsified) -> None:
    """Too few stories to see that "north" needs "n": nothing must be concluded from that."""
    stories = generate(19, 150, seed=seed)
    found = discover(stories)
    assert not any({"north", "east", "south", "west"} & kind for kind in kinds_of(found))
    assert falsified(19, stories, found) == []


def test_an_exchange_is_believed_only_if_no_more_could_belong_to_it(falsified: Falsified) -> None:
    """Nothing refutes north for east with two pairs of letters, nor that west and south would have to move as well."""
    stories = generate(19, 180, seed=5)
    assert falsified(19, stories, discover(stories)) == []


def test_two_hundred_stories_show_colours_places_and_the_compass(falsified: Falsified) -> None:
    colours = generate(16, 200, seed=0)
    assert {"gray", "white", "yellow", "green"} in kinds_of(discover(colours))
    ways = generate(19, 200, seed=0)
    found = discover(ways)
    assert PLACES in kinds_of(found)
    assert {frozenset({"north", "south"}), frozenset({"n", "s"})} in [
        {frozenset(pair) for pair in coupling} for coupling in found.couplings
    ]
    assert falsified(16, colours, discover(colours)) == [] == falsified(19, ways, found)


def test_a_script_of_its_own_changes_nothing() -> None:
    stories = generate(20, 600, seed=4)
    found = discover([map_texts(story, lambda text: text.translate(SCRIPT)) for story in stories])
    english = discover(stories)
    assert [set(kind) for kind in found.kinds] == [{unit.translate(SCRIPT) for unit in kind} for kind in english.kinds]
    assert len(found.couplings) == len(english.couplings) > 0


@pytest.mark.parametrize("questions", [200, pytest.param(1000, marks=pytest.mark.slow)])
def test_words_written_otherwise_in_questions_never_move_alone(questions: int) -> None:
    def written_otherwise(story: Story) -> Story:
        questions = tuple(
            replace(asked, text=re.sub(r"\w+", r"\g<0>ne", asked.text), answer=f"{asked.answer}ta")
            for asked in story.questions
        )
        return replace(story, questions=questions)

    found = discover([written_otherwise(story) for story in generate(1, questions, seed=7)])
    assert all(not kind & (PEOPLE | PLACES) for kind in kinds_of(found))
    for table in found.tables:
        assert all(other.startswith(row[0]) for row in table for other in row)
    for coupling in found.couplings:
        assert len(coupling) > 1


def test_a_language_with_other_words_and_order(tmp_path: Path) -> None:
    """German-like: the verb's second part at the end, names of several words, other articles."""
    table = (ROOT / "src/query_reduction/worlds/words.toml").read_text(encoding="utf-8")
    for old, new in {
        'house = ["John", "Mary", "Sandra", "Daniel"]': 'house = ["Jürgen", "Änne", "Käthe", "Ole"]',
        '["bathroom", "bedroom", "garden", "hallway", "kitchen", "office"]':
            '["Bad", "Schlafzimmer", "Garten", "Flur im Keller", "Küche", "Büro"]',
        'move = ["moved to", "went to", "went back to", "travelled to", "journeyed to"]':
            'move = ["ging", "lief", "eilte", "kehrte zurück"]',
        'move = "{who} {move} the {place}."': 'move = "{who} {move} dann nach {place} hin."',
        'where_is = "Where is {who}?"': 'where_is = "Wo ist jetzt {who}?"',
        'she = [\n  "Mary", "Sandra",': 'she = [\n  "Änne", "Käthe",',
        'he = [\n  "John", "Daniel",': 'he = [\n  "Jürgen", "Ole",',
    }.items():  # fmt: skip
        table = table.replace(old, new)
    path = tmp_path / "words.toml"
    path.write_text(table, encoding="utf-8")
    found = discover(generate(1, 1000, seed=2, words=load_words(path)))
    assert {"jürgen", "änne", "käthe", "ole"} in kinds_of(found)
    assert {"bad", "schlafzimmer", "garten", "flur im keller", "küche", "büro"} in kinds_of(found)
    assert {"ging", "lief", "eilte", "kehrte zurück"} in kinds_of(found)
    assert any("Jürgen" in line for line in found.describe())


def test_names_told_of_very_unequally_are_never_exchanged_falsely(falsified: Falsified) -> None:
    rng = random.Random(0)

    def skewed(story: Story) -> Story:
        places = {place: rng.choice(sorted(PLACES)[:2] if rng.random() < 0.3 else sorted(PLACES)) for place in PLACES}
        return map_texts(story, lambda text: re.sub(r"\w+", lambda word: places.get(word[0], word[0]), text))

    stories = [skewed(story) for story in generate(1, 600, seed=9)]
    found = discover(stories)
    check_nothing_forbidden(found)
    assert falsified(1, stories, found) == []


def test_what_few_stories_do_not_refute_more_stories_may(real_babi: Path, falsified: Falsified) -> None:
    """A thousand questions of task 17 are 125 stories: too few to keep apart what is below and to the left."""
    (path,) = (real_babi / "en-10k").glob("qa17_*_train.txt")
    stories = list(read_file(path))
    random.Random(6).shuffle(stories)
    stories = stories[:250]
    assert falsified(17, stories, discover(stories)) == []


@pytest.mark.parametrize("seed", [3, 4, 6])
def test_kinds_are_confirmed_with_the_units_of_others_counted_as_one(
    seed: int, real_babi: Path, falsified: Falsified
) -> None:
    """In a hundred stories of task 4 nothing keeps north and east apart, unless all rooms are one."""
    (path,) = (real_babi / "en-10k").glob("qa4_*_train.txt")
    stories = list(read_file(path))
    random.Random(seed).shuffle(stories)
    stories = stories[:100]
    found = discover(stories)
    assert PLACES in kinds_of(found)
    assert {"north", "south"} in kinds_of(found) and {"east", "west"} in kinds_of(found)
    assert falsified(4, stories, found) == []


@pytest.mark.parametrize("seed", [0, 2])
def test_words_that_are_barely_frequent_enough_are_kept_apart_in_doubt(seed: int, real_babi: Path) -> None:
    """Of sixty stories 40 to 46 tell "is not in", none asks or answers it: nothing controls its exchange."""
    (path,) = (real_babi / "en").glob("qa9_*_train.txt")
    found = discover(random.Random(seed).sample(list(read_file(path)), 60))
    assert not any("is not in" in kind for kind in kinds_of(found))


def test_nothing_is_found_in_nothing() -> None:
    assert not discover([])
    assert not discover([Story(("A b.",), (Question("B?", "a", 1),))])


@pytest.mark.slow
@pytest.mark.parametrize("questions", [100, 250, 1000])
@pytest.mark.parametrize("task", range(1, 21))
def test_every_exchange_found_in_generated_stories_is_true(task: int, questions: int, falsified: Falsified) -> None:
    stories = generate(task, questions, seed=21)
    found = discover(stories)
    check_nothing_forbidden(found)
    assert falsified(task, stories, found) == []


@pytest.mark.slow
@pytest.mark.parametrize("task", [1, 2, 5, 16, 18])
def test_larger_worlds(task: int, falsified: Falsified) -> None:
    stories = generate(task, 1000, seed=22, options=WorldOptions(people=6, places=8, things=7))
    found = discover(stories)
    check_nothing_forbidden(found)
    assert falsified(task, stories, found) == []


@pytest.mark.slow
@pytest.mark.parametrize("part", [1, 2, 4])
@pytest.mark.parametrize("task", range(1, 21))
def test_published_training_stories(task: int, part: int, real_babi: Path, falsified: Falsified) -> None:
    (path,) = (real_babi / "en").glob(f"qa{task}_*_train.txt")
    stories = read_file(path)
    stories = stories[: len(stories) // part]
    found = discover(stories)
    check_nothing_forbidden(found)
    # Where solver and published answers differ already, renaming must add nothing.
    doubtful = falsified(task, stories, Symmetries())
    assert len(falsified(task, stories, found)) <= len(doubtful)
    if part == 1:
        assert found
