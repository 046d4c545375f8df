"""What ``--data`` may name, and the parts (train, development, test) it gives.

``generated``            stories told by query_reduction.worlds, nothing on disk
``babi``, ``babi/en-10k``  the published files, under $QRN_DATA or the user's cache
a folder                 bAbI files (qa2_…_train.txt) or train.jsonl, valid.jsonl, test.jsonl
a file                   one set of stories; a tenth of its stories is held out for the test
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from query_reduction.data import jsonl
from query_reduction.data.babi import find_task_files
from query_reduction.data.fetch import find_babi
from query_reduction.data.readers import read_file
from query_reduction.data.stories import Story
from query_reduction.errors import InputError

__all__ = ["Parts", "load_parts", "parse_tasks", "question_count"]


@dataclass(frozen=True, slots=True)
class Parts:
    """Stories for training, development (may be empty: then it is held out of train) and test."""

    name: str
    train: list[Story]
    dev: list[Story] = field(default_factory=list)
    test: list[Story] = field(default_factory=list)

    def checksum(self) -> str:
        """sha256 of the stories themselves: the same content has the same sum, whatever the file format."""
        digest = hashlib.sha256()
        for part in (self.train, self.dev, self.test):
            for line in jsonl.format_stories(part):
                digest.update(line.encode())
            digest.update(b"\0")
        return digest.hexdigest()


def parse_tasks(text: str) -> list[int]:
    """Task numbers from ``2``, ``1-5,19`` or ``all``."""
    if text == "all":
        return list(range(1, 21))
    tasks: list[int] = []
    for piece in text.split(","):
        first, dash, last = piece.strip().partition("-")
        if not first.isdecimal() or (dash and not last.isdecimal()):
            raise InputError(f"no task {piece.strip()!r}: write a number (2), a range (1-5), a list (1,2,19) or 'all'")
        tasks.extend(range(int(first), int(last or first) + 1))
    if not tasks or not all(1 <= task <= 20 for task in tasks):
        raise InputError(f"tasks go from 1 to 20, not {text!r}")
    return list(dict.fromkeys(tasks))


def question_count(stories: Iterable[Story]) -> int:
    """How many questions the stories ask."""
    return sum(len(story.questions) for story in stories)


def load_parts(data: str, task: str | None, *, questions: int = 1000, seed: int = 0) -> Parts:
    """The stories that ``data`` names; several tasks are put together for joint training.

    ``questions`` is the number of training questions a task, for generated stories.
    """
    if data == "generated":
        return _generated(parse_tasks(task or "2"), questions, seed)
    if data == "babi" or data.startswith("babi/"):
        return _babi_folder(find_babi(data.partition("/")[2] or "en"), task)
    path = Path(data)
    if path.is_dir():
        if find_task_files(path):
            return _babi_folder(path, task)
        return _jsonl_folder(path)
    if path.is_file():
        return _single_file(path, seed)
    raise InputError(f"no data at {data!r}: give a file or folder that exists, 'generated' or 'babi'")


def _generated(tasks: list[int], questions: int, seed: int) -> Parts:
    from query_reduction import worlds

    train: list[Story] = []
    dev: list[Story] = []
    test: list[Story] = []
    for task in tasks:
        train += worlds.generate(task, questions, seed=seed, split="train")
        dev += worlds.generate(task, max(questions // 10, 1), seed=seed, split="valid")
        test += worlds.generate(task, 1000, seed=seed, split="test")
    return Parts("generated", train, dev, test)


def _babi_folder(folder: Path, task: str | None) -> Parts:
    files = find_task_files(folder)
    if task is None and len(files) > 1:
        raise InputError(f"{folder} has tasks {', '.join(files)}: choose with --task (a number, 1-5, or all)")
    tasks = [str(number) for number in parse_tasks(task)] if task else list(files)
    train: list[Story] = []
    dev: list[Story] = []
    test: list[Story] = []
    for number in tasks:
        parts = files.get(number, {})
        if "train" not in parts and "test" not in parts:
            raise InputError(f"{folder} has no files of task {number}; it has {', '.join(files) or 'none'}")
        train += read_file(parts["train"]) if "train" in parts else []
        dev += read_file(parts["valid"]) if "valid" in parts else []
        test += read_file(parts["test"]) if "test" in parts else []
    return Parts(folder.name, train, dev, test)


def _jsonl_folder(folder: Path) -> Parts:
    parts = {split: folder / f"{split}.jsonl" for split in ("train", "valid", "test")}
    if not any(path.is_file() for path in parts.values()):
        raise InputError(f"{folder} has neither bAbI files (qa1_…_train.txt) nor train.jsonl / test.jsonl")
    read = {split: read_file(path) if path.is_file() else [] for split, path in parts.items()}
    return Parts(folder.name, read["train"], read["valid"], read["test"])


def _single_file(path: Path, seed: int) -> Parts:
    stories = read_file(path)
    if len(stories) < 2:
        return Parts(path.stem, stories)
    order = np.random.default_rng((seed, len(stories))).permutation(len(stories))
    held_out = set(order[: max(1, len(stories) // 10)].tolist())
    train = [story for number, story in enumerate(stories) if number not in held_out]
    return Parts(path.stem, train, test=[stories[number] for number in sorted(held_out)])
