"""Ready models on the published tests with a hundred sentences they cannot read put anywhere between the others."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from places import REAL_DATA

from query_reduction import StoryModel, load
from query_reduction.text.formats.babi import find_task_files
from query_reduction.text.formats.readers import read_file
from query_reduction.text.sentences import split_sentences
from query_reduction.text.stories import Story

BOOK = REAL_DATA / "text" / "king-james-bible.txt"
QUESTIONS = 60
ADDED = 100


def prose(rng: random.Random) -> list[str]:
    if not BOOK.is_file():
        pytest.skip(f"there is no book at {BOOK}")
    return rng.sample(split_sentences(BOOK.read_text(encoding="utf-8")), 3000)


def nonsense(rng: random.Random) -> list[str]:
    words = ["".join(rng.choices("bcdfgklmnprstvz", k=5)) for _ in range(500)]
    return [f"{' '.join(rng.choices(words, k=rng.randint(2, 10)))}." for _ in range(3000)]


def asked(folder: Path, task: int) -> list[Story]:
    """The first questions of the published test, each with a story of its own."""
    stories = read_file(find_task_files(folder / "en")[str(task)]["test"])
    single = [Story(story.sentences[: one.after], (one,)) for story in stories for one in story.questions]
    return single[:QUESTIONS]


def with_noise(story: Story, noise: list[str], rng: random.Random) -> Story:
    sentences = list(story.sentences)
    for sentence in rng.sample(noise, ADDED):
        sentences.insert(rng.randint(0, len(sentences)), sentence)
    (question,) = story.questions
    return Story(tuple(sentences), (type(question)(question.text, question.answer, len(sentences)),))


@pytest.mark.parametrize("task", [1, 2, 3, 5, 6])
@pytest.mark.parametrize("make", [nonsense, prose])
def test_answers_stay(real_babi: Path, task: int, make: object) -> None:
    assert callable(make)
    rng = random.Random(task)
    noise = make(rng)
    model = load(f"task{task}")
    assert isinstance(model, StoryModel)
    stories = asked(real_babi, task)
    before = [one.answer for one in model.given(stories)]
    after = [one.answer for one in model.given([with_noise(story, noise, rng) for story in stories])]
    assert sum(one == other for one, other in zip(before, after, strict=True)) >= 0.99 * len(before)
