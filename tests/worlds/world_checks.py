"""What tests of the worlds share: telling stories, proving them from their text, comparing them with published ones."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable
from pathlib import Path

from query_reduction.text.formats.readers import read_file
from query_reduction.text.stories import Question, Story
from query_reduction.worlds import TASKS, WorldOptions, load_words
from query_reduction.worlds.chance import seeded
from query_reduction.worlds.solver import solve

__all__ = ["assert_like_published", "assert_proved", "tell", "tell_many"]

PUBLISHED = WorldOptions()


def tell(task: int, seed: int, options: WorldOptions = PUBLISHED) -> Story:
    return TASKS[task].tell(seeded("tests", seed), load_words(), options)


def tell_many(task: int, questions: int, options: WorldOptions = PUBLISHED) -> list[Story]:
    rng = seeded("tests", task)
    stories: list[Story] = []
    while questions > 0:
        stories.append(TASKS[task].tell(rng, load_words(), options))
        questions -= len(stories[-1].questions)
    return stories


def assert_proved(story: Story, questions: Iterable[Question] | None = None) -> None:
    """The answers follow from the sentences told before, and from the supporting facts alone."""
    for question in story.questions if questions is None else questions:
        told = story.sentences[: question.after]
        assert solve(int(story.task), told, question.text) == question.answer, (told, question)
        assert all(0 <= fact < question.after for fact in question.support), question
        proof = [story.sentences[fact] for fact in question.support]
        assert solve(int(story.task), proof, question.text) == question.answer, (proof, question)


def assert_like_published(real_babi: Path, task: int, *shapes: Callable[[Story], Hashable]) -> None:
    """The same sentences and questions, and equally distributed lengths, questions, supporting facts, answers, shapes.

    Two files of so many stories differ by about 0.56 · √(values / stories) by chance alone: 1 is too much.
    """
    (path,) = (real_babi / "en-10k").glob(f"qa{task}_*_train.txt")
    published = read_file(path)
    told = tell_many(task, sum(len(story.questions) for story in published))
    features: dict[str, Callable[[Story], Iterable[Hashable]]] = {
        "sentences": lambda story: story.sentences,
        "questions": lambda story: [question.text for question in story.questions],
        "answers": lambda story: [question.answer for question in story.questions],
        "story lengths": lambda story: [len(story.sentences)],
        "places of questions": lambda story: [tuple(question.after for question in story.questions)],
        "places of facts": lambda story: [
            tuple(fact - question.after for fact in question.support) for question in story.questions
        ],
    }
    for shape in shapes:
        features[shape.__name__] = lambda story, shape=shape: [shape(story)]  # type: ignore[misc]
    for name, feature in features.items():
        # The last published story was cut where the file had enough questions.
        expected = Counter(value for story in published[:-1] for value in feature(story))
        found = Counter(value for story in told for value in feature(story))
        if name in ("sentences", "questions"):
            assert set(expected) == set(found), (name, set(expected) ^ set(found))
        distance = _distance(expected, found)
        assert distance < math.sqrt(len(expected) / len(published)), (name, distance, expected, found)


def _distance(expected: Counter[Hashable], found: Counter[Hashable]) -> float:
    """How much of one distribution must be moved to make it the other."""
    expected_total, found_total = expected.total(), found.total()
    values = expected.keys() | found.keys()
    return sum(abs(expected[value] / expected_total - found[value] / found_total) for value in values) / 2
