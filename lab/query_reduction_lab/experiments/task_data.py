"""The stories of a table's tasks, completed by generated ones where a published file is missing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from query_reduction import worlds
from query_reduction.reading.protocol import Parts
from query_reduction.reading.stories import StoryParts
from query_reduction.sources.fetch import find_babi
from query_reduction.sources.named import load_parts, question_count
from query_reduction.text.formats.babi import find_task_files
from query_reduction.text.formats.readers import read_file
from query_reduction.text.stories import Story
from query_reduction_lab.experiments.plan import JOINT, Experiment

__all__ = ["load_task"]

_TRAIN_QUESTIONS = {"en": 1000, "en-10k": 10000}


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
