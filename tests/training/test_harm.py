"""Training is never worse for renaming than without: on development questions the better of the two is kept."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from query_reduction.names import Symmetries, SymmetriesByTask
from query_reduction.reading.stories import StoryParts, StoryTask
from query_reduction.text.stories import Story
from query_reduction.training.harm import without_harm
from query_reduction.training.run import Run, best_restart, train_to_end
from query_reduction.training.setup import setup
from query_reduction.worlds import generate

FOUND = SymmetriesByTask({"1": Symmetries(kinds=(("john", "mary", "sandra", "daniel"),))})
SMALL = {"max_epochs": 8, "restarts": 1, "copies": 3, "dimension": 20}


def finished(monkeypatch: pytest.MonkeyPatch, **changes: int) -> Run:
    monkeypatch.setattr(SymmetriesByTask, "discovered", staticmethod(lambda *about: FOUND))
    run = Run(StoryParts("worlds", generate(1, 400, seed=1)), setup("2r", "best", changes=SMALL | changes))
    train_to_end(run)
    return run


def with_false_answers(_: SymmetriesByTask, stories: Sequence[Story]) -> Callable[[random.Random], list[Story]]:
    def retold(chance: random.Random) -> list[Story]:
        answers = [question.answer for story in stories for question in story.questions]
        return [
            replace(story, questions=tuple(replace(asked, answer=chance.choice(answers)) for asked in story.questions))
            for story in stories
        ]

    return retold


def test_renaming_that_does_harm_is_dropped_and_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SymmetriesByTask, "retelling", with_false_answers)
    run = finished(monkeypatch)
    said: list[str] = []
    better = without_harm(run, said.append)
    assert best_restart(better).dev_error + 0.5 < best_restart(run).dev_error
    assert isinstance(better.task, StoryTask) and better.task.symmetries is None
    (line,) = said
    assert line.startswith("interchangeable words are not used: ")


def test_renaming_that_helps_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    run = finished(monkeypatch, max_epochs=2)
    said: list[str] = []
    # Trained for as many steps, but on stories that are always the same, the other is no better.
    monkeypatch.setattr("query_reduction.training.harm.best_restart", lambda _: best_restart(run))
    assert without_harm(run, said.append) is run and not said


def test_nothing_is_compared_where_nothing_is_renamed(monkeypatch: pytest.MonkeyPatch) -> None:
    run = Run(StoryParts("worlds", generate(1, 100, seed=1)), setup("2r", "original", changes={"max_epochs": 1}))
    train_to_end(run)
    monkeypatch.setattr("query_reduction.training.harm.best_restart", None)
    assert without_harm(run, print) is run
