"""What ``--data`` may name, and the parts (train, development, test) it gives.

``generated``            stories told by query_reduction.worlds, nothing on disk
``babi``, ``babi/en-10k``  the published files, under $QRN_DATA or the user's cache
``dialog``               the published dialogs, found likewise
``generated-dialog``     dialogs held by query_reduction.worlds
a folder                 bAbI files (qa2_…_train.txt, dialog-babi-…-trn.txt) or train.jsonl, valid.jsonl, test.jsonl
a file                   one set of stories or (JSONL) dialogs; a tenth of them is held out for the test
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from query_reduction import worlds
from query_reduction.data.babi import find_task_files
from query_reduction.data.dialog import find_dialog_files, is_dialog_file
from query_reduction.data.fetch import find_babi, find_dialog
from query_reduction.data.readers import read_file
from query_reduction.data.stories import Story
from query_reduction.errors import InputError
from query_reduction.tasks.dialog_sources import dialog_file, dialog_folder, dialog_jsonl_folder, generated_dialogs
from query_reduction.tasks.numbers import parse_tasks
from query_reduction.tasks.protocol import Parts, hold_out_stories
from query_reduction.tasks.stories import StoryParts

__all__ = ["load_parts", "question_count", "refuse_task"]


def question_count(stories: Iterable[Story]) -> int:
    """How many questions the stories ask."""
    return sum(len(story.questions) for story in stories)


def load_parts(data: str, task: str | None, *, questions: int = 1000, seed: int = 0) -> Parts:
    """The stories that ``data`` names; several tasks are put together for joint training.

    ``questions`` is the number of training questions per task, for generated stories.
    """
    if data == "generated":
        return _generated(parse_tasks(task or "2"), questions, seed)
    if data == "babi" or data.startswith("babi/"):
        return _babi_folder(find_babi(data.partition("/")[2] or "en"), task)
    if data == "generated-dialog":
        return generated_dialogs(parse_tasks(task or "1"), questions, seed)
    path = find_dialog() if data == "dialog" else Path(data)
    if path.is_dir():
        if find_dialog_files(path):
            return dialog_folder(path, task)
        if find_task_files(path):
            return _babi_folder(path, task)
        refuse_task(data, task)
        return dialog_jsonl_folder(path) if is_dialog_file(path / "train.jsonl") else _jsonl_folder(path)
    if path.is_file():
        refuse_task(data, task)
        return dialog_file(path, seed) if is_dialog_file(path) else _single_file(path, seed)
    raise InputError(f"no data at {data!r}: give a file or folder that exists, 'generated', 'babi' or 'dialog'")


def refuse_task(data: str, task: str | None) -> None:
    """One's own files have no numbered tasks to choose from."""
    if task is not None:
        raise InputError(f"task has no effect on {data}, which is read whole")


def _generated(tasks: list[int], questions: int, seed: int) -> Parts:
    train: list[Story] = []
    dev: list[Story] = []
    test: list[Story] = []
    for task in tasks:
        wanted: dict[worlds.Split, int] = {"train": questions, "valid": max(questions // 10, 1), "test": 1000}
        parts = worlds.generate_splits(task, wanted, seed=seed)
        train += parts["train"]
        dev += parts["valid"]
        test += parts["test"]
    return StoryParts("generated", train, dev, test)


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
    return StoryParts(folder.name, train, dev, test)


def _jsonl_folder(folder: Path) -> Parts:
    parts = {split: folder / f"{split}.jsonl" for split in ("train", "valid", "test")}
    if not any(path.is_file() for path in parts.values()):
        raise InputError(f"{folder} has neither bAbI files (qa1_…_train.txt) nor train.jsonl / test.jsonl")
    read = {split: read_file(path) if path.is_file() else [] for split, path in parts.items()}
    return StoryParts(folder.name, read["train"], read["valid"], read["test"])


def _single_file(path: Path, seed: int) -> Parts:
    train, test = hold_out_stories(read_file(path), seed)
    return StoryParts(path.stem, train, test=test)
