"""Symmetries of several tasks at once: what may be exchanged in the stories of one task may not be in another's."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from query_reduction.errors import InputError
from query_reduction.names.symmetries import Renamer, Symmetries
from query_reduction.names.unknown import KnownReading, NameReader
from query_reduction.text.stories import Story

__all__ = ["NameReaders", "SymmetriesByTask"]

_MOST_TASKS = 1000


@dataclass(frozen=True)
class SymmetriesByTask:
    """The symmetries of each task; stories without a task, as people's own are, count as one more task."""

    of_task: Mapping[str, Symmetries]

    @staticmethod
    def discovered(
        stories: Sequence[Story], seconds: float, progress: Callable[[str, float], None] | None = None
    ) -> SymmetriesByTask:
        """What is found in the stories of each task, in so many seconds for all of them."""
        from query_reduction.names.discovery.discover import discover  # much code that a model in use does not need

        told: dict[str, list[Story]] = defaultdict(list)
        for story in stories:
            told[story.task].append(story)
        each = seconds / len(told)

        def of_all(number: int) -> Callable[[str, float], None] | None:
            return progress and (lambda what, part: progress(what, (number + part) / len(told)))

        found = [discover(own, seconds=each, progress=of_all(number)) for number, own in enumerate(told.values())]
        return SymmetriesByTask(dict(zip(told, found, strict=True)))

    @property
    def phrases(self) -> frozenset[tuple[str, ...]]:
        """All names of several words."""
        return frozenset().union(*(found.units.phrases for found in self.of_task.values()))

    @property
    def only(self) -> Symmetries | None:
        """The symmetries of the only task, if there is one."""
        return next(iter(self.of_task.values())) if len(self.of_task) == 1 else None

    @property
    def has_forms(self) -> bool:
        """Whether names have several forms in any task."""
        return any(found.units.names for found in self.of_task.values())

    def retelling(self, stories: Sequence[Story]) -> Callable[[random.Random], list[Story]]:
        """A function that gives the stories again, each with its own renaming."""
        renamers = {task: Renamer(found, _told_in(stories, task)) for task, found in self.of_task.items()}
        only = next(iter(renamers.values())) if len(renamers) == 1 else None

        def retold(chance: random.Random) -> list[Story]:
            told = []
            for story in stories:
                renamer = renamers.get(story.task, only)
                told.append(renamer.draw(chance).story(story) if renamer else story)
            return told

        return retold

    def describe(self) -> list[str]:
        """What was found, as lines of text that say of which task, if there are several."""
        if len(self.of_task) == 1:
            return next(iter(self.of_task.values())).describe()
        return [f"task {task}: {line}" for task, found in self.of_task.items() for line in found.describe()]

    def not_examined(self) -> list[str]:
        """What was not looked at, as lines of text."""
        if len(self.of_task) == 1:
            return next(iter(self.of_task.values())).not_examined()
        return [f"task {task}: {line}" for task, found in self.of_task.items() for line in found.not_examined()]

    def as_json(self) -> list[list[object]]:
        """Pairs of a task and its symmetries."""
        return [[task, found.as_json()] for task, found in self.of_task.items()]

    @staticmethod
    def from_json(data: object) -> SymmetriesByTask:
        """The inverse of ``as_json``; an ``InputError`` says what is wrong with anything else."""
        if isinstance(data, dict):  # as version 0.2.0 wrote those of its only task
            data = [["", data]]
        if not isinstance(data, list) or not 0 < len(data) <= _MOST_TASKS:
            raise InputError("symmetries cannot be read: they must be a list, one entry per task")
        of_task = {}
        for entry in data:
            if not isinstance(entry, list) or len(entry) != 2 or not isinstance(entry[0], str) or entry[0] in of_task:
                raise InputError("symmetries cannot be read: each entry must name its own task, and what was found")
            of_task[entry[0]] = Symmetries.from_json(entry[1])
        return SymmetriesByTask(of_task)


def _told_in(stories: Sequence[Story], task: str) -> list[Story]:
    return [story for story in stories if story.task == task]


class NameReaders:
    """Reads unknown names by the symmetries of the task in which most of them have a place."""

    def __init__(self, symmetries: SymmetriesByTask, known_words: Collection[str]) -> None:
        self._readers = [NameReader(found, known_words) for found in symmetries.of_task.values()]
        self.written = {unit: form for found in symmetries.of_task.values() for unit, form in found.written.items()}
        """How names are written that are not written in lower case."""

    def untold(self, sentences: Sequence[str], question: str) -> tuple[str, ...]:
        """See ``NameReader``; of several tasks nobody knows which one this is."""
        return self._readers[0].untold(sentences, question) if len(self._readers) == 1 else ()

    def read(self, sentences: Sequence[str], question: str) -> KnownReading:
        """See ``NameReader``; of several equally good readings, the first."""
        readings = (reader.read(sentences, question) for reader in self._readers)
        return min(readings, key=lambda reading: (len(reading.unplaced), reading.strange))
