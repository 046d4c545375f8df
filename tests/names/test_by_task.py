from __future__ import annotations

import json
import random
from typing import Any

import pytest

from query_reduction.errors import InputError
from query_reduction.names import NameReaders, Symmetries, SymmetriesByTask
from query_reduction.names.discovery.discover import discover
from query_reduction.text.stories import Story
from query_reduction.text.vocabulary import Vocabulary
from query_reduction.worlds import generate, solver


@pytest.fixture(scope="module")
def told() -> list[Story]:
    return [story for task in (1, 15, 19) for story in generate(task, 600)]


@pytest.fixture(scope="module")
def found(told: list[Story]) -> SymmetriesByTask:
    return SymmetriesByTask.discovered(told, 600)


def test_each_task_has_what_its_own_stories_show(told: list[Story], found: SymmetriesByTask) -> None:
    assert list(found.of_task) == ["1", "15", "19"]
    for task, own in found.of_task.items():
        assert own == discover([story for story in told if story.task == task])
    assert {line.split(":")[0] for line in found.describe()} == {"task 1", "task 15", "task 19"}


def test_every_story_is_retold_by_the_symmetries_of_its_task(told: list[Story], found: SymmetriesByTask) -> None:
    retold = found.retelling(told)(random.Random(0))
    assert [story.task for story in retold] == [story.task for story in told]
    changed = 0
    for before, after in zip(told, retold, strict=True):
        changed += before != after
        for question in after.questions:
            assert solver.solve(int(after.task), after.sentences[: question.after], question.text) == question.answer
    assert changed > len(told) / 2


def test_a_task_without_symmetries_of_its_own_is_not_renamed(told: list[Story], found: SymmetriesByTask) -> None:
    other = [Story(story.sentences, story.questions, "7") for story in told[:20]]
    assert found.retelling(other)(random.Random(0)) == other


def test_the_only_symmetries_there_are_serve_stories_of_any_name(told: list[Story], found: SymmetriesByTask) -> None:
    only = SymmetriesByTask({"1": found.of_task["1"]})
    own = [Story(story.sentences, story.questions) for story in told if story.task == "1"]
    assert only.retelling(own)(random.Random(0)) != own


def test_names_are_read_by_the_task_that_has_a_place_for_them(told: list[Story], found: SymmetriesByTask) -> None:
    names = NameReaders(found, Vocabulary.from_stories(told).words)
    read = names.read(["The pantry is north of the zoo."], "How do you go from the pantry to the zoo?")
    assert read.unplaced == ()
    assert set(read.names.values()) == {"pantry", "zoo"}


def test_what_is_stored_is_read_again(found: SymmetriesByTask) -> None:
    assert SymmetriesByTask.from_json(json.loads(json.dumps(found.as_json()))) == found


def test_the_form_of_version_0_2_is_read(found: SymmetriesByTask) -> None:
    own = found.of_task["1"]
    assert SymmetriesByTask.from_json(own.as_json()).of_task == {"": own}


@pytest.mark.parametrize(
    "data",
    [
        None,
        [],
        [["1"]],
        [[1, Symmetries().as_json()]],
        [["1", Symmetries().as_json()]] * 2,
        [["1", {}]],
        [[str(number), Symmetries().as_json()] for number in range(2000)],
    ],
)
def test_anything_else_is_refused_in_one_line(data: Any) -> None:
    with pytest.raises(InputError, match="symmetries cannot be read") as refused:
        SymmetriesByTask.from_json(data)
    assert "\n" not in str(refused.value)
