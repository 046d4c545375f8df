"""The stories of a table's tasks, completed by generated ones where a published file is missing.

To say that everything is stored, only the checksums of the stories are needed: those of published files are remembered
until the size or the time of a file changes.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from query_reduction import worlds
from query_reduction.files import write_atomically
from query_reduction.reading.protocol import Parts
from query_reduction.reading.stories import StoryParts
from query_reduction.sources.fetch import find_babi, find_dialog
from query_reduction.sources.named import load_parts, question_count
from query_reduction.text.formats.babi import find_task_files
from query_reduction.text.formats.readers import read_file
from query_reduction.text.stories import Story
from query_reduction_lab.experiments.plan import JOINT, Experiment

__all__ = ["KnownData", "TaskData", "load_task"]

_TRAIN_QUESTIONS = {"en": 1000, "en-10k": 10000}


@dataclass(frozen=True, slots=True)
class TaskData:
    """What a result records of the stories it was trained on."""

    sha256: str
    name: str
    note: str
    """Set if the stories are not the published ones."""


class KnownData:
    """The data of a table's tasks; what is known of unchanged files is remembered in a file."""

    def __init__(self, memory: Path) -> None:
        self._memory = memory
        self._known: dict[str, Any] = _remembered(memory)
        self._checked: set[str] = set()

    def of(self, experiment: Experiment, task: str) -> TaskData:
        """The data of a task (or of ``all``)."""
        if experiment.generated:
            return _described(*load_task(experiment, task))
        tasks = self._tasks(find_dialog() if experiment.data == "dialog" else find_babi(experiment.data))
        # A table of few tasks has its own meaning of all.
        name = ",".join(experiment.tasks) if task == JOINT else task
        if name in tasks:
            return TaskData(**tasks[name])
        data = _described(*load_task(experiment, task))
        if not data.note:  # generated stories depend on more than files
            tasks[name] = asdict(data)
            write_atomically(self._memory, json.dumps(self._known, indent=1) + "\n")
        return data

    def _tasks(self, folder: Path) -> dict[str, Any]:
        """What is known of a folder's tasks; nothing if a file is not as it was."""
        place = str(folder.resolve())
        if place not in self._checked:
            about = [(path.name, path.stat()) for path in sorted(folder.iterdir())]
            files = [[name, stat.st_size, stat.st_mtime_ns] for name, stat in about]
            if self._known.get(place, {}).get("files") != files:
                self._known[place] = {"files": files, "tasks": {}}
            self._checked.add(place)
        tasks: dict[str, Any] = self._known[place]["tasks"]
        return tasks


def _remembered(memory: Path) -> dict[str, Any]:
    try:
        known = json.loads(memory.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return known if isinstance(known, dict) else {}


def _described(parts: Parts, note: str) -> TaskData:
    return TaskData(parts.checksum(), parts.name, note)


def load_task(experiment: Experiment, task: str) -> tuple[Parts, str]:
    """The stories of a task (or of ``all``), and a note where they are not the published ones."""
    if experiment.data == "dialog":
        return load_parts("dialog", task), ""
    folder = find_babi(experiment.data)
    if task == JOINT:
        loaded = [_load_one(folder, experiment, number) for number in experiment.tasks]
        notes = " ".join(note for _, note in loaded if note)
        train, dev, test = (
            [story for parts, _ in loaded for story in getattr(parts, part)] for part in ("train", "dev", "test")
        )
        return StoryParts(folder.name, train, dev, test), notes
    return _load_one(folder, experiment, task)


def _load_one(folder: Path, experiment: Experiment, task: str) -> tuple[Parts, str]:
    parts = load_parts(str(folder), task)
    if experiment.generated:
        return replace(parts, train=worlds.generate(int(task), _TRAIN_QUESTIONS[experiment.data]), dev=[]), ""
    if parts.train:
        return parts, ""
    return _completed(folder, parts, task, _TRAIN_QUESTIONS[experiment.data])


def _completed(folder: Path, parts: Parts, task: str, questions: int) -> tuple[Parts, str]:
    """A task whose training file is missing: the available real stories, supplemented by generated ones."""
    real: list[Story] = []
    for other in (folder.with_name(f"{folder.name}-qa{task}-partial"), folder.with_name("en")):
        if other.is_dir() and (path := find_task_files(other).get(task, {}).get("train")):
            real = read_file(path)
            break
    known = question_count(real)
    generated = worlds.generate(int(task), questions - known, seed=0, split="train")
    note = f"task {task}: trained on {known} published and {questions - known} generated questions"
    return replace(parts, train=[*real, *generated]), note
