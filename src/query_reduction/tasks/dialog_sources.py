"""Dialogs in parts: the published folder, JSONL folders and files of one's own, and generated ones."""

from __future__ import annotations

from pathlib import Path

from query_reduction.data.dialog import (
    CANDIDATES_FILE,
    KNOWLEDGE_FILE,
    find_dialog_files,
    read_candidates,
    read_dialogs,
)
from query_reduction.data.knowledge import KnowledgeBase
from query_reduction.data.stories import Story
from query_reduction.errors import InputError
from query_reduction.tasks.dialogs import DialogParts
from query_reduction.tasks.numbers import parse_tasks
from query_reduction.tasks.protocol import hold_out_stories
from query_reduction.worlds.dialogs import generate_dialogs, knowledge_rows

__all__ = ["dialog_file", "dialog_folder", "dialog_jsonl_folder", "generated_dialogs"]

_REAL_TASK = "6"
"""Task 6 are real conversations (DSTC2) about other places: candidates of their own, and no knowledge-base file."""


def dialog_folder(folder: Path, task: str | None) -> DialogParts:
    """The published tasks; several are put together for joint training (``all``: 1 to 5)."""
    files = find_dialog_files(folder)
    if task is None and len(files) > 1:
        raise InputError(f"{folder} has dialog tasks {', '.join(files)}: choose with --task")
    tasks = _tasks(task, files) if task else list(files)
    parts: dict[str, list[Story]] = {split: [] for split in ("train", "valid", "test", "unseen")}
    for number in tasks:
        for split, stories in parts.items():
            stories += read_dialogs(files[number][split]) if split in files[number] else []
    synthetic = any(number != _REAL_TASK for number in tasks)
    candidate_files = [folder / CANDIDATES_FILE] if synthetic else []
    if _REAL_TASK in tasks:
        candidate_files.append(folder / "dialog-babi-task6-dstc2-candidates.txt")
    candidates = [text for path in candidate_files if path.is_file() for text in read_candidates(path)]
    knowledge = folder / KNOWLEDGE_FILE
    return DialogParts(
        folder.name,
        parts["train"],
        parts["valid"],
        parts["test"],
        unseen=parts["unseen"],
        candidates=tuple(candidates),
        knowledge=KnowledgeBase.read(knowledge).rows if synthetic and knowledge.is_file() else (),
    )


def dialog_jsonl_folder(folder: Path) -> DialogParts:
    """Dialogs of one's own: train.jsonl, and if there are valid.jsonl, test.jsonl, knowledge.txt or knowledge.jsonl."""
    read = {
        split: read_dialogs(path) if (path := folder / f"{split}.jsonl").is_file() else []
        for split in ("train", "valid", "test", "unseen")
    }
    knowledge = [path for name in ("knowledge.txt", "knowledge.jsonl") if (path := folder / name).is_file()]
    return DialogParts(
        folder.name,
        read["train"],
        read["valid"],
        read["test"],
        unseen=read["unseen"],
        knowledge=KnowledgeBase.read(knowledge[0]).rows if knowledge else (),
    )


def dialog_file(path: Path, seed: int) -> DialogParts:
    """One file of dialogs, a tenth of them held out for the test."""
    train, test = hold_out_stories(read_dialogs(path), seed)
    return DialogParts(path.stem, train, test=test)


def generated_dialogs(tasks: list[int], dialogs: int, seed: int) -> DialogParts:
    """Dialogs told by query_reduction.worlds: as many for development and test as for training."""
    told = {
        split: [dialog for task in tasks for dialog in generate_dialogs(task, dialogs, seed=seed, split=split)]
        for split in ("train", "valid", "test", "unseen")
    }
    every = (question.answer for part in told.values() for dialog in part for question in dialog.questions)
    return DialogParts(
        "generated-dialog",
        told["train"],
        told["valid"],
        told["test"],
        unseen=told["unseen"],
        candidates=tuple(sorted(set(every))),
        knowledge=knowledge_rows(),
    )


def _tasks(text: str, files: dict[str, dict[str, Path]]) -> list[str]:
    tasks = [number for number in files if number != _REAL_TASK] if text == "all" else list(map(str, parse_tasks(text)))
    for number in tasks:
        if number not in files:
            raise InputError(f"no dialog task {number}; there are {', '.join(files)}")
    return tasks
