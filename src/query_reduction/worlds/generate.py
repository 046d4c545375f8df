"""Stories by the number: any task, split, size and mixture, in memory or as bAbI files.

The same seed gives the same bytes on every machine. A story's own text decides which split it may be in, so
splits never share one, whatever is generated and in whatever order.
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal
from zlib import crc32

from query_reduction.data.babi import format_stories
from query_reduction.data.stories import Question, Story
from query_reduction.errors import InputError
from query_reduction.worlds.chance import sample, seeded
from query_reduction.worlds.options import WorldOptions
from query_reduction.worlds.tasks import TASKS, TaskInfo
from query_reduction.worlds.words import Words, load_words

__all__ = ["MIXTURE_FILE", "SPLITS", "Split", "generate", "mixture", "write"]

Split = Literal["train", "valid", "test"]
SPLITS: tuple[Split, ...] = ("train", "valid", "test")
MIXTURE_FILE = "qa0_mixture_{split}.txt"
"""The file of a mixture of tasks: task 0 to every reader of bAbI file names."""

_PUBLISHED = WorldOptions()
# Of four equally likely kinds of story text, training has two and the others one each: a test story costs four
# tellings, which buys splits that cannot share a story.
_SPLIT_OF_TEXT: tuple[Split, ...] = ("train", "train", "valid", "test")
_PATIENCE = 2000


def generate(
    task: int,
    questions: int,
    *,
    seed: int = 0,
    split: Split = "train",
    options: WorldOptions = _PUBLISHED,
    words: Words | None = None,
    unseen_names: bool = False,
) -> list[Story]:
    """Stories of one task with exactly ``questions`` questions.

    ``unseen_names`` makes the test split use people, places and things the other splits never mention.
    """
    info = _task(task)
    if questions < 1:
        raise InputError(f"questions must be at least 1, not {questions}")
    if split not in SPLITS:
        raise InputError(f"unknown split {split!r}; there are {', '.join(SPLITS)}")
    table = load_words() if words is None else words
    if unseen_names and split == "test":
        table = table.unseen(options)
    rng = seeded("worlds", seed, task, split)
    stories: list[Story] = []
    missing = questions
    while missing:
        story = _one_story(info, rng, table, options, split, missing)
        stories.append(story)
        missing -= len(story.questions)
    return stories


def mixture(
    tasks: Iterable[int],
    questions: int,
    *,
    seed: int = 0,
    split: Split = "train",
    options: WorldOptions = _PUBLISHED,
    words: Words | None = None,
    unseen_names: bool = False,
) -> list[Story]:
    """Stories of several tasks, shuffled together; ``questions`` of each task."""
    stories = [
        story
        for task in tasks
        for story in generate(
            task, questions, seed=seed, split=split, options=options, words=words, unseen_names=unseen_names
        )
    ]
    return sample(seeded("mixture", seed, split), stories, len(stories))


def write(
    folder: Path,
    tasks: Sequence[int],
    questions: int,
    seed: int = 0,
    *,
    held_out_questions: int = 1000,
    options: WorldOptions = _PUBLISHED,
    words: Words | None = None,
    unseen_names: bool = False,
    mixed: bool = False,
) -> list[Path]:
    """Write bAbI files for training (``questions`` a task), validation and test (``held_out_questions`` a task).

    One file a task and split, named as the published ones are; ``mixed`` writes all tasks into one file a split.
    """
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for split in SPLITS:
        count = questions if split == "train" else held_out_questions
        if mixed:
            stories = mixture(
                tasks, count, seed=seed, split=split, options=options, words=words, unseen_names=unseen_names
            )
            paths.append(_write_file(folder / MIXTURE_FILE.format(split=split), stories, space_before_tab=False))
            continue
        for task in tasks:
            info = _task(task)
            stories = generate(
                task, count, seed=seed, split=split, options=options, words=words, unseen_names=unseen_names
            )
            path = folder / f"qa{task}_{info.slug}_{split}.txt"
            paths.append(_write_file(path, stories, space_before_tab=info.space_before_tab))
    return paths


def _task(number: int) -> TaskInfo:
    if number not in TASKS:
        raise InputError(f"there is no task {number}; the tasks are 1 to 20")
    return TASKS[number]


def _one_story(
    info: TaskInfo, rng: random.Random, words: Words, options: WorldOptions, split: Split, questions: int
) -> Story:
    """The next story whose text belongs to the split, with at most ``questions`` questions."""
    for _ in range(_PATIENCE):
        story = info.tell(rng, words, options)
        if len(story.questions) > questions:
            story = _cut(story, questions)
        if _SPLIT_OF_TEXT[crc32("\n".join(story.sentences).encode()) & 3] == split:
            return _with_distractors(story, rng, words, options.distractors) if options.distractors else story
    raise InputError(
        f"task {info.number}: a world this small has too few different stories for a {split} split of its own; "
        "allow more people, places, things or sentences"
    )


def _cut(story: Story, questions: int) -> Story:
    """The story up to its question number ``questions``."""
    kept = story.questions[:questions]
    return Story(story.sentences[: kept[-1].after], kept, story.task)


def _with_distractors(story: Story, rng: random.Random, words: Words, chance: float) -> Story:
    """The story with irrelevant sentences strewn in; proofs and questions keep pointing at the same sentences."""
    irrelevant = words.sentences["distractor"]
    sentences: list[str] = []
    new_position = []
    for sentence in story.sentences:
        new_position.append(len(sentences))
        sentences.append(sentence)
        if rng.random() < chance:
            sentences.append(irrelevant[int(rng.random() * len(irrelevant))])
    new_position.append(len(sentences))
    questions = tuple(
        Question(
            question.text,
            question.answer,
            new_position[question.after],
            tuple(new_position[fact] for fact in question.support),
        )
        for question in story.questions
    )
    return Story(tuple(sentences), questions, story.task)


def _write_file(path: Path, stories: Iterable[Story], *, space_before_tab: bool) -> Path:
    """Write a whole file or nothing."""
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with unfinished.open("w", encoding="utf-8", newline="\n") as file:
            file.writelines(format_stories(stories, space_before_tab=space_before_tab))
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)
    return path
