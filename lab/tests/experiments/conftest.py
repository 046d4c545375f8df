"""Small settings, stories and stores for the tests of sweeps and tables."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from query_reduction_lab.experiments.plan import Variation
from query_reduction_lab.experiments.probe import Fingerprint, _stories, fingerprint
from query_reduction_lab.experiments.settings import Machine, Origin, Processor, Setting
from query_reduction_lab.experiments.store import ResultStore, StoredResult
from query_reduction_lab.experiments.sweep import Job, plan
from query_reduction_lab.experiments.table_recipes import RECIPES

from query_reduction.reading.stories import StoryParts
from query_reduction.text.formats.babi import format_stories
from query_reduction.training.results import RestartResult
from query_reduction.training.setup import Setup, setup

QUICK_CHANGES = {"dimension": 10, "batch": 8, "evaluate_every": 2, "patience": 0}


def small_parts() -> StoryParts:
    return StoryParts("small", _stories(0, 16), test=_stories(16, 20))


def small_setup(epochs: int = 6, **changes: Any) -> Setup:
    patience = 4 if epochs < 1000 else 0  # a long training is to be long
    small = {"dimension": 10, "batch": 8, "evaluate_every": 2, "learning_rate": 0.1, "split": "question"}
    return setup("2r", changes=small | {"max_epochs": epochs, "patience": patience} | changes)


def small_setting(task: str = "1", epochs: int = 6, **changes: Any) -> Setting:
    return Setting("qa-1k", "2r", task, small_setup(epochs, **changes), "small", small_parts().checksum(), "small")


def small_fingerprint() -> Fingerprint:
    return fingerprint(small_setup())


def origin(
    code: Fingerprint | tuple[float, ...] | None = None,
    commit: str = "abc",
    date: str = "2026-01-01T00:00:00",
    ran_on: Processor | None = None,
) -> Origin:
    code = Fingerprint(code) if isinstance(code, tuple) else code or small_fingerprint()
    machine = Machine("a processor", 2, "Linux x86_64", "3.11", "2.6")
    return Origin(commit, "qrn reproduce", machine, "0.1", date, code, ran_on or Processor())


def result(restart: int, test: float, dev_error: float | None = 0.0, dev_loss: float | None = 0.1) -> RestartResult:
    return RestartResult(restart, 10, 10, dev_loss, dev_error, {"answer": {"1": test}}, 1.5)


def record(setting: Setting, entry: RestartResult, where: Origin | None = None) -> StoredResult:
    return StoredResult(setting, entry, where or origin())


@pytest.fixture
def store(tmp_path: Path) -> ResultStore:
    return ResultStore(tmp_path / "store")


@pytest.fixture
def make_jobs(store: ResultStore, tmp_path: Path) -> Callable[..., list[Job]]:
    def make(restarts: int, *, stack: int = 2, tasks: tuple[str, ...] = ("1",), epochs: int = 6) -> list[Job]:
        jobs = []
        for task in tasks:
            setting = small_setting(task, epochs)
            where = origin(fingerprint(setting.setup))
            jobs += plan(
                store, tmp_path / "unfinished", setting, range(restarts), where, small_parts, stack=stack, cost=1.0
            )
        return jobs

    return make


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with two small tasks as published data, and a recipe ``quick``."""
    folder = tmp_path / "data" / "babi" / "en"
    folder.mkdir(parents=True)
    for task in (1, 2):
        for part, first, last in (("train", task, task + 12), ("test", 20, 24)):
            stories = [replace(story, task=str(task)) for story in _stories(first, last)]
            (folder / f"qa{task}_small_{part}.txt").write_text("".join(format_stories(stories)))
    quick = Variation("quick", changes={**QUICK_CHANGES, "max_epochs": 4})
    monkeypatch.setitem(RECIPES, "quick", quick)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("QRN_DATA", "")
    return tmp_path
