"""Stories in any number: any task, split, size and mixture, in memory or as bAbI files.

The same seed gives the same bytes on every machine. A story's own text determines which split it belongs to, so
splits never share one, whatever is generated and in whatever order.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal
from zlib import crc32

from query_reduction.errors import InputError
from query_reduction.files import write_atomically
from query_reduction.text.formats.babi import format_stories
from query_reduction.text.haystack import halves, hide, passage
from query_reduction.text.stories import Question, Story
from query_reduction.worlds.chance import sample, seeded
from query_reduction.worlds.options import WorldOptions
from query_reduction.worlds.tasks import TASKS, TaskInfo
from query_reduction.worlds.word_table import load_words
from query_reduction.worlds.words import Words

__all__ = ["MIXTURE_FILE", "SPLITS", "Split", "generate", "generate_splits", "hidden", "mixture", "write"]

Split = Literal["train", "valid", "test"]
SPLITS: tuple[Split, ...] = ("train", "valid", "test")
MIXTURE_FILE = "qa0_mixture_{split}.txt"
"""The file of a mixture of tasks: task 0 to every reader of bAbI file names."""

_PUBLISHED = WorldOptions()
# Of eight equally likely kinds of story text, training has six and the others one each. One stream of stories feeds
# all three splits, so making them together wastes little.
_SPLIT_OF_TEXT: tuple[Split, ...] = (*("train",) * 6, "valid", "test")
_PATIENCE = 5000


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
    return generate_splits(
        task, {split: questions}, seed=seed, options=options, words=words, unseen_names=unseen_names
    )[split]


def generate_splits(
    task: int,
    questions: Mapping[Split, int],
    *,
    seed: int = 0,
    options: WorldOptions = _PUBLISHED,
    words: Words | None = None,
    unseen_names: bool = False,
) -> dict[Split, list[Story]]:
    """Several splits of one task: the same stories as ``generate``, faster than one split after the other."""
    if task not in TASKS:
        raise InputError(f"there is no task {task}; the tasks are 1 to {len(TASKS)}")
    for split, count in questions.items():
        if split not in SPLITS:
            raise InputError(f"unknown split {split!r}; choose from {', '.join(SPLITS)}")
        if count < 1:
            raise InputError(f"questions must be at least 1, not {count}")
    table = load_words() if words is None else words
    hidden: dict[Split, int] = {"test": questions["test"]} if unseen_names and "test" in questions else {}
    shown = {split: count for split, count in questions.items() if split not in hidden}
    stories = _sort_out(TASKS[task], seeded("worlds", seed, task), table, options, shown)
    if hidden:
        stories |= _sort_out(
            TASKS[task], seeded("worlds", seed, task, "unseen"), table.unseen(options), options, hidden
        )
    if options.distractors:
        for split in stories:
            rng = seeded("distractors", seed, task, split)
            stories[split] = [_with_distractors(story, rng, table, options.distractors) for story in stories[split]]
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
    return _shuffled(stories, seed, split)


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
    haystack: Sequence[str] = (),
) -> list[Path]:
    """Write bAbI files for training (``questions`` per task), validation and test (``held_out_questions`` per task).

    One file per task and split, named like the published ones; ``mixed`` writes all tasks into one file per split.
    With a ``haystack`` stories are as long as the published ones and hidden in it, ``options.sentences`` in all.
    """
    total = options.sentences or 0
    if haystack:
        if not total:
            raise InputError("a haystack needs the number of sentences that a story has with it")
        options = replace(options, sentences=None)
    counts: dict[Split, int] = {"train": questions, "valid": held_out_questions, "test": held_out_questions}
    paths: list[Path] = []
    pool: dict[Split, list[Story]] = {split: [] for split in SPLITS}
    for task in tasks:
        parts = generate_splits(task, counts, seed=seed, options=options, words=words, unseen_names=unseen_names)
        for split, stories in parts.items():
            if haystack:
                stories = hidden(stories, haystack, total, split, seeded("haystack", seed, task, split))
            if mixed:
                pool[split] += stories
            else:
                paths.append(
                    _write_file(folder / _file_name(TASKS[task], split), stories, TASKS[task].space_before_tab)
                )
    if mixed:
        for split, stories in pool.items():
            path = folder / MIXTURE_FILE.format(split=split)
            paths.append(_write_file(path, _shuffled(stories, seed, split), space_before_tab=False))
    return paths


def hidden(
    stories: Iterable[Story], haystack: Sequence[str], total: int, split: Split, chance: random.Random
) -> list[Story]:
    """Stories hidden in consecutive sentences of a haystack, each with ``total`` sentences then, or its own if more.

    Training and validation use the first half of the haystack, the test the second, so that no sentence is in both;
    only where a test story is longer than that half, it uses all.
    """
    first, second = halves(haystack)
    found = []
    for story in stories:
        count = max(total - len(story.sentences), 0)
        part = first if split != "test" else second if count <= len(second) else haystack
        found.append(hide(story, passage(part, count, chance), chance))
    return found


def _sort_out(
    info: TaskInfo, rng: random.Random, words: Words, options: WorldOptions, questions: Mapping[Split, int]
) -> dict[Split, list[Story]]:
    """Tell stories and put each into the split its text belongs to, until every split has its questions."""
    stories: dict[Split, list[Story]] = {split: [] for split in questions}
    missing = dict(questions)
    useless = 0
    while missing:
        story = info.tell(rng, words, options)
        split = _split_of(story)
        fits = split in missing
        if fits and len(story.questions) > missing[split]:
            story = _cut(story, missing[split])
            fits = _split_of(story) == split
        if fits:
            useless = 0
            stories[split].append(story)
            missing[split] -= len(story.questions)
            if not missing[split]:
                del missing[split]
            continue
        useless += 1
        if useless > _PATIENCE:
            raise InputError(
                f"task {info.number}: worlds this small have too few different stories for splits that share none; "
                "allow more people, places, things or sentences"
            )
    return stories


def _split_of(story: Story) -> Split:
    return _SPLIT_OF_TEXT[crc32("\n".join(story.sentences).encode()) & 7]


def _cut(story: Story, questions: int) -> Story:
    """The story up to its question number ``questions``."""
    kept = story.questions[:questions]
    return Story(story.sentences[: kept[-1].after], kept, story.task)


def _with_distractors(story: Story, rng: random.Random, words: Words, chance: float) -> Story:
    """The story with irrelevant sentences mixed in; proofs and questions keep pointing at the same sentences."""
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


def _shuffled(stories: list[Story], seed: int, split: Split) -> list[Story]:
    return sample(seeded("mixture", seed, split), stories, len(stories))


def _file_name(info: TaskInfo, split: Split) -> str:
    return f"qa{info.number}_{info.slug}_{split}.txt"


def _write_file(path: Path, stories: Iterable[Story], space_before_tab: bool) -> Path:
    write_atomically(path, "".join(format_stories(stories, space_before_tab=space_before_tab)))
    return path
