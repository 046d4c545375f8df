"""Stories in other words, and the check that renamed stories keep their answers."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

import pytest

from query_reduction.names import Renamer, Symmetries
from query_reduction.text.stories import Story
from query_reduction.worlds.solver import solve

Falsified = Callable[[int, Sequence[Story], Symmetries], list[str]]


@pytest.fixture(scope="session")
def falsified() -> Falsified:
    """Questions that renaming made false, according to a solver that knows only English."""

    def check(task: int, stories: Sequence[Story], symmetries: Symmetries) -> list[str]:
        renamer = Renamer(symmetries, stories)
        wrong = []
        for renamed in renamer.stories(stories, random.Random(1)):
            for asked in renamed.questions:
                told = renamed.sentences[: asked.after]
                try:
                    answer = solve(task, told, asked.text)
                except (ValueError, KeyError, IndexError) as error:
                    answer = repr(error)
                if answer != asked.answer:
                    wrong.append(f"{told} {asked.text} {asked.answer}, not {answer}")
        return wrong

    return check
