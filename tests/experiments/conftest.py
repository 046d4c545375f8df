"""Small settings, stories and stores for the tests of sweeps and tables."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from query_reduction import config
from query_reduction.config import preset
from query_reduction.data.babi import format_stories
from query_reduction.experiments.probe import _stories, probe
from query_reduction.experiments.store import Origin, ResultStore
from query_reduction.experiments.sweep import Job, plan
from query_reduction.experiments.trials import RestartResult, Setting
from query_reduction.tasks.sources import Parts


def small_parts() -> Parts:
    return Parts("small", _stories(0, 16), test=_stories(16, 20))


def small_setting(task: str = "1", variant: str = "2r", epochs: int = 6, **options: object) -> Setting:
    model, recipe = preset("original", variant)
    patience = 4 if epochs < 1000 else 0  # a long training is to be long
    recipe = replace(recipe, batch=8, max_epochs=epochs, evaluate_every=2, patience=patience, learning_rate=0.1)
    setting = Setting("qa-1k", variant, task, replace(model, dimension=10), recipe, small_parts().checksum(), "small")
    return replace(setting, **options)  # type: ignore[arg-type]


def small_probe() -> tuple[float, ...]:
    setting = small_setting()
    return probe(setting.model, setting.recipe)


def origin(probe: tuple[float, ...] | None = None, commit: str = "abc", date: str = "2026-01-01T00:00:00") -> Origin:
    return Origin(commit, "qrn reproduce", {"cores": 2}, "0.1", date, small_probe() if probe is None else probe)


def result(restart: int, test: float, dev_error: float | None = 0.0, dev_loss: float | None = 0.1) -> RestartResult:
    return RestartResult(restart, 10, 10, dev_loss, dev_error, {"answer": {"1": test}}, 1.5)


@pytest.fixture
def store(tmp_path: Path) -> ResultStore:
    return ResultStore(tmp_path / "store")


@pytest.fixture
def make_jobs(store: ResultStore, tmp_path: Path) -> Callable[..., list[Job]]:
    def make(restarts: int, *, stack: int = 2, tasks: tuple[str, ...] = ("1",), epochs: int = 6) -> list[Job]:
        jobs = []
        for task in tasks:
            setting = small_setting(task, epochs=epochs)
            where = origin(probe(setting.model, setting.recipe))
            jobs += plan(
                store, tmp_path / "unfinished", setting, range(restarts), where, small_parts, stack=stack, cost=1.0
            )
        return jobs

    return make


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with two small tasks as published data."""
    folder = tmp_path / "data" / "babi" / "en"
    folder.mkdir(parents=True)
    for task in (1, 2):
        for part, first, last in (("train", task, task + 12), ("test", 20, 24)):
            lines = "".join(format_stories(_stories(first, last)))
            (folder / f"qa{task}_small_{part}.txt").write_text(lines)
    model, recipe = config.PRESETS["original"]
    quick = replace(recipe, batch=8, max_epochs=4, evaluate_every=2, patience=0)
    monkeypatch.setitem(config.PRESETS, "quick", (replace(model, dimension=10), quick))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("QRN_DATA", "")
    return tmp_path
