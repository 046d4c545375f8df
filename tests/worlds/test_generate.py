"""Counts, seeds, splits, names, mixtures and files."""

from __future__ import annotations

import os
import random
import re
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from query_reduction.errors import InputError
from query_reduction.text.formats.babi import find_task_files, format_stories
from query_reduction.text.formats.readers import read_file
from query_reduction.text.stories import Story
from query_reduction.worlds import (
    SPLITS,
    TASKS,
    Split,
    WorldOptions,
    generate,
    generate_splits,
    hidden,
    load_words,
    mixture,
    write,
)
from query_reduction.worlds.solver import solve

SEEDS = st.integers(0, 2**63)
FIRST_STORIES = {
    1: "496ac271beda",
    2: "e5a4c3a268c6",
    3: "912c0231a057",
    4: "3d27073bd8ab",
    5: "f5b3d38e0481",
    6: "ba4c855c1839",
    7: "7864abb1d991",
    8: "003979ce6436",
    9: "70f1e9224f96",
    10: "10543f16bf85",
    11: "571d2e0212f9",
    12: "d54514295b28",
    13: "cc0f267e47d5",
    14: "18090b51f3ea",
    15: "dfdcbc18c662",
    16: "d40a2e41ed8e",
    17: "dba969ec4c1f",
    18: "cbf6a1c6b878",
    19: "4d7a438ddc5c",
    20: "d1f5bb8bc636",
}


def questions_of(stories: list[Story]) -> int:
    return sum(len(story.questions) for story in stories)


def texts_of(stories: list[Story]) -> set[tuple[str, ...]]:
    return {story.sentences for story in stories}


def words_of(stories: list[Story]) -> set[str]:
    lines = [
        line for story in stories for line in (*story.sentences, *(q.text + " " + q.answer for q in story.questions))
    ]
    return {word.lower() for line in lines for word in re.findall(r"\w+", line)}


def test_all_twenty_tasks_are_there() -> None:
    assert list(TASKS) == list(range(1, 21))


@given(st.sampled_from(list(TASKS)), st.integers(1, 30), SEEDS, st.sampled_from(SPLITS))
def test_exactly_as_many_questions_as_asked_for(task: int, questions: int, seed: int, split: Split) -> None:
    stories = generate(task, questions, seed=seed, split=split)
    assert questions_of(stories) == questions
    assert all(story.task == str(task) for story in stories)
    assert all(story.questions and story.questions[-1].after == len(story.sentences) for story in stories)


@given(st.sampled_from(list(TASKS)), SEEDS)
def test_splits_share_no_story_and_do_not_depend_on_each_other(task: int, seed: int) -> None:
    together = generate_splits(task, {"test": 7, "train": 90, "valid": 11}, seed=seed)
    assert not texts_of(together["train"]) & texts_of(together["test"])
    assert not texts_of(together["train"]) & texts_of(together["valid"])
    assert not texts_of(together["valid"]) & texts_of(together["test"])
    assert together["train"] == generate(task, 90, seed=seed, split="train")
    assert together["test"] == generate(task, 7, seed=seed, split="test")


def test_splits_of_different_seeds_share_no_story_where_stories_are_few() -> None:
    """Two sentences about six places make few stories: chance alone would repeat many."""
    train = texts_of(generate(4, 20_000, seed=1))
    test = texts_of(generate(4, 2_000, seed=2, split="test"))
    assert len(train) < 15_000
    assert not train & test


def test_stories_cut_short_are_not_shared_either() -> None:
    """One question of task 1 has two sentences before it, of which there are few."""
    train = {generate(1, 1, seed=seed)[0].sentences for seed in range(400)}
    test = {generate(1, 1, seed=seed, split="test")[0].sentences for seed in range(400)}
    assert all(len(sentences) == 2 for sentences in train)
    assert not train & test


@settings(max_examples=20)
@given(st.sampled_from(list(TASKS)), st.integers(20, 60), st.integers(61, 100), SEEDS)
def test_more_questions_begin_with_the_same_stories(task: int, few: int, many: int, seed: int) -> None:
    short, long = generate(task, few, seed=seed), generate(task, many, seed=seed)
    assert short[:-1] == long[: len(short) - 1]


def test_seeds_differ() -> None:
    assert generate(1, 50, seed=1) != generate(1, 50, seed=2)


def test_the_same_bytes_for_ever() -> None:
    """These are the first stories of seed 7: if they change on purpose, say so in the change log and here."""
    digests = {
        task: sha256("".join(format_stories(generate(task, 100, seed=7))).encode()).hexdigest()[:12] for task in TASKS
    }
    assert digests == FIRST_STORIES


def test_the_same_bytes_in_every_process() -> None:
    """No hash randomisation, no leftover state."""
    program = (
        "from hashlib import sha256; from query_reduction.worlds import *;"
        "from query_reduction.text.formats.babi import *;"
        "print(sha256(''.join(line for task in TASKS for line in format_stories(generate(task, 30, seed=7))).encode())"
        ".hexdigest())"
    )
    found = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        for seed in ("1", "2")
    }
    here = "".join(line for task in TASKS for line in format_stories(generate(task, 30, seed=7)))
    assert found == {sha256(here.encode()).hexdigest()}


@pytest.mark.parametrize("task", TASKS)
def test_unseen_names(task: int) -> None:
    options = WorldOptions(people=6, places=8, things=7)
    train = generate(task, 300, options=options, unseen_names=True)
    test = generate(task, 100, options=options, split="test", unseen_names=True)
    assert train == generate(task, 300, options=options)
    table = load_words()
    names = {
        word.lower()
        for lexicon in (table.people, table.places, table.things, table.containers, table.animals)
        for group in (*lexicon.groups.values(), lexicon.more)
        for word in group
    }
    if task == 20:  # what people do when they are hungry stays true
        names -= {word for motive in table.motives for word in (motive.place, motive.thing)}
    shared = words_of(train) & words_of(test) & names
    assert not shared
    assert words_of(test) & names or task == 17
    for story in test:
        for question in story.questions:
            assert solve(task, story.sentences[: question.after], question.text) == question.answer


@given(st.sampled_from(list(TASKS)), SEEDS, st.floats(0.05, 0.95))
def test_distractors_change_nothing_that_matters(task: int, seed: int, chance: float) -> None:
    plain = generate(task, 20, seed=seed)
    strewn = generate(task, 20, seed=seed, options=WorldOptions(distractors=chance))
    irrelevant = set(load_words().sentences["distractor"])
    for story, longer in zip(plain, strewn, strict=True):
        assert tuple(sentence for sentence in longer.sentences if sentence not in irrelevant) == story.sentences
        for question, same in zip(story.questions, longer.questions, strict=True):
            assert (question.text, question.answer) == (same.text, same.answer)
            assert [story.sentences[fact] for fact in question.support] == [longer.sentences[f] for f in same.support]
            told = longer.sentences[: same.after]
            assert tuple(line for line in told if line not in irrelevant) == story.sentences[: question.after]
            assert solve(task, told, same.text) == same.answer


def test_a_mixture_has_all_tasks_interleaved() -> None:
    stories = mixture([1, 15, 19], 50, seed=3)
    assert questions_of(stories) == 150
    assert {task: questions_of([s for s in stories if s.task == task]) for task in ("1", "15", "19")} == {
        "1": 50,
        "15": 50,
        "19": 50,
    }
    assert len({story.task for story in stories[:10]}) > 1
    assert stories == mixture([1, 15, 19], 50, seed=3)
    assert stories != mixture([1, 15, 19], 50, seed=4)


def test_files_have_the_published_names_and_read_back(tmp_path: Path) -> None:
    paths = write(tmp_path / "new" / "folder", list(TASKS), 20, 7, held_out_questions=10)
    assert len(paths) == 60
    assert (tmp_path / "new" / "folder" / "qa2_two-supporting-facts_valid.txt") in paths
    files = find_task_files(tmp_path / "new" / "folder")
    for task in TASKS:
        assert sorted(files[str(task)]) == ["test", "train", "valid"]
        assert read_file(files[str(task)]["train"]) == generate(task, 20, seed=7)
        assert read_file(files[str(task)]["test"]) == generate(task, 10, seed=7, split="test")
        text = files[str(task)]["train"].read_text(encoding="utf-8")
        assert text.count("\t") == 40
        assert ("? \t" in text) == TASKS[task].space_before_tab
    assert sorted(path.name for path in (tmp_path / "new" / "folder").iterdir()) == sorted(path.name for path in paths)


def test_published_file_names_and_spaces(real_babi: Path) -> None:
    for task, info in TASKS.items():
        text = (real_babi / "en" / f"qa{task}_{info.slug}_train.txt").read_text(encoding="utf-8")
        assert ("? \t" in text) == info.space_before_tab
        assert ("?\t" in text) != info.space_before_tab


def test_a_mixture_in_one_file(tmp_path: Path) -> None:
    paths = write(tmp_path, [1, 4], 20, 7, held_out_questions=5, mixed=True)
    assert [path.name for path in paths] == [f"qa0_mixture_{split}.txt" for split in SPLITS]
    stories = read_file(paths[0])
    assert texts_of(stories) == texts_of(mixture([1, 4], 20, seed=7))
    assert questions_of(read_file(paths[2])) == 10


def test_a_file_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "qa1_single-supporting-fact_train.txt"
    path.mkdir()
    with pytest.raises(InputError, match="cannot write"):
        write(tmp_path, [1], 5)
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("call", "complaint"),
    [
        (lambda: generate(21, 5), "there is no task 21; the tasks are 1 to 20"),
        (lambda: generate(1, 0), "questions must be at least 1, not 0"),
        (lambda: generate(1, 5, split="dev"), "unknown split 'dev'; choose from train, valid, test"),  # type: ignore[arg-type]
        (lambda: WorldOptions(people=0), "people must be a whole number from 1 to 1e\\+06, not 0"),
        (lambda: WorldOptions(distractors=1.0), "distractors must be a number from 0 to 0.99, not 1.0"),
        (lambda: generate(1, 5, split="test", options=WorldOptions(people=50), unseen_names=True), "has 30 left for"),
    ],
)
def test_complaints(call: object, complaint: str) -> None:
    assert callable(call)
    with pytest.raises(InputError, match=complaint) as error:
        call()
    assert "\n" not in str(error.value)


def test_worlds_too_small_for_three_splits() -> None:
    options = WorldOptions(people=1, places=2, sentences=1)
    with pytest.raises(InputError, match="task 4: worlds this small have too few different stories"):
        generate_splits(4, {"valid": 5, "test": 5}, options=WorldOptions(places=2, sentences=1))
    assert generate(1, 5, options=options)


def test_stories_are_hidden_in_halves_of_a_text(tmp_path: Path) -> None:
    book = [f"line {number} of a book" for number in range(400)]
    options = WorldOptions(sentences=100)
    paths = write(tmp_path, [1], 20, held_out_questions=10, options=options, haystack=book)
    first, second = set(book[:200]), set(book[200:])
    for path in paths:
        stories = read_file(path)
        lines = {text for story in stories for text in story.sentences if text.startswith("line")}
        assert lines <= (second if "test" in path.name else first)
        for story in stories:
            # bAbI files end with the last question, after which nothing is told.
            assert len(story.sentences) == 100
            own = [text for text in story.sentences if not text.startswith("line")]
            assert solve(1, own, story.questions[-1].text) == story.questions[-1].answer


def test_a_test_story_longer_than_half_of_a_text_uses_all_of_it() -> None:
    book = [f"line {number}" for number in range(30)]
    (story,) = hidden(generate(1, 1), book, 31, "test", random.Random(0))
    assert len(story.sentences) == 31
    with pytest.raises(InputError, match="the haystack has 15 sentences"):
        hidden(generate(1, 1), book, 31, "train", random.Random(0))


def test_a_haystack_needs_a_number_of_sentences(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="number of sentences"):
        write(tmp_path, [1], 5, haystack=["one", "two"])
