from __future__ import annotations

import io
import os
import signal
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from query_reduction.cli.sweep_view import SweepView
from query_reduction.errors import InputError
from query_reduction.experiments.store import ResultStore
from query_reduction.experiments.sweep import Job, Sweep, keep_trial, only_sweep, plan
from query_reduction.experiments.trials import Ended, Message, Progress, RestartResult, Trial, run_trial
from query_reduction.experiments.workers import ProcessEngine
from query_reduction.tasks.sources import Parts

from .conftest import origin, result, small_parts, small_probe, small_setting

MakeJobs = Callable[..., list[Job]]


class InlineEngine:
    """Runs a job's messages from a script, or for real, inside this process."""

    def __init__(self, *scripts: list[Message]) -> None:
        self.workers = 1
        self.scripts = list(scripts)
        self.begun: list[tuple[int, ...]] = []
        self.told: list[tuple[int, Message]] = []

    def start(self, number: int, job: Job) -> None:
        self.begun.append(job.trial.restarts)
        messages = self.scripts.pop(0) if self.scripts else [*run_trial(job.trial, job.load(), None), Ended("finished")]
        self.told += [(number, message) for message in messages]

    def wait(self, seconds: float) -> list[tuple[int, Message]]:
        told, self.told = self.told, []
        return told

    def stop(self) -> None:
        self.told += [(0, Ended("stopped"))]

    def close(self) -> None: ...


def stored_restarts(store: ResultStore, task: str = "1", epochs: int = 6) -> list[int]:
    found = store.find(small_setting(task, epochs=epochs))
    return sorted(found.of_code(origin().probe)) if found else []


def test_all_restarts_come_into_the_store(store: ResultStore, make_jobs: MakeJobs, tmp_path: Path) -> None:
    sweep = Sweep(store, make_jobs(5, tasks=("1", "2")))
    assert sweep.total == 10
    assert sweep.run(InlineEngine())
    assert stored_restarts(store, "1") == stored_restarts(store, "2") == [0, 1, 2, 3, 4]
    assert sweep.stored == 10
    assert not list((tmp_path / "unfinished").glob("*/trial.json"))


def test_more_restarts_train_only_the_new_ones(store: ResultStore, make_jobs: MakeJobs) -> None:
    Sweep(store, make_jobs(3, stack=10)).run(InlineEngine())
    assert make_jobs(3) == []
    jobs = make_jobs(5, stack=10)
    assert [job.trial.restarts for job in jobs] == [(3, 4)]


def test_a_restart_does_not_depend_on_its_neighbours() -> None:
    """Only up to rounding: products of another number of matrices may be added up in another order."""

    def losses(*restarts: int) -> dict[int, float | None]:
        told = run_trial(Trial(small_setting(), restarts, small_probe()), small_parts(), None)
        return {message.restart: message.dev_loss for message in told if isinstance(message, RestartResult)}

    alone, together = losses(2), losses(0, 1, 2, 3)
    assert alone[2] == pytest.approx(together[2], rel=1e-3)
    assert together[2] != pytest.approx(together[1], rel=1e-3)


def test_other_code_is_not_reused_unless_told(store: ResultStore, tmp_path: Path) -> None:
    setting = small_setting()
    store.add(setting, result(0, 1.0), origin(probe=(9.0, 9.0)))

    def missing(mix: bool) -> list[Job]:
        return plan(store, tmp_path, setting, range(1), origin(), small_parts, stack=9, cost=1.0, mix=mix)

    assert len(missing(mix=False)) == 1
    assert missing(mix=True) == []


def test_a_lost_worker_is_tried_again_and_a_failure_is_told(store: ResultStore, make_jobs: MakeJobs) -> None:
    jobs = make_jobs(2, tasks=("1", "2"))
    engine = InlineEngine(
        [Progress(2, 2, None), result(0, 3.0), Ended("lost", "its process ended")],
        [Ended("failed", "ValueError: no")],
        [result(0, 3.0), result(1, 4.0), Ended("finished")],
    )
    sweep = Sweep(store, jobs)
    engine.scripts[1], engine.scripts[2] = engine.scripts[2], engine.scripts[1]
    assert not sweep.run(engine)
    assert stored_restarts(store) == [0, 1]
    assert len(sweep.retries) == 1
    assert sweep.failures == ["qa-1k 2r task 2 restarts 0-1: ValueError: no"]


def test_a_trial_that_keeps_dying_is_given_up(store: ResultStore, make_jobs: MakeJobs) -> None:
    deaths: list[list[Message]] = [[Ended("lost", "killed")]] * 5
    sweep = Sweep(store, make_jobs(1))
    assert not sweep.run(InlineEngine(*deaths))
    assert len(sweep.retries) == 2
    assert "given up after 3 tries" in sweep.failures[0]


def test_a_worker_with_other_code_takes_no_part() -> None:
    with pytest.raises(InputError, match="computes something else"):
        next(run_trial(Trial(small_setting(), (0,), (1.0, 2.0)), small_parts(), None))


def test_processes_train_store_and_report_failures(store: ResultStore, make_jobs: MakeJobs, tmp_path: Path) -> None:
    jobs = make_jobs(2, tasks=("1", "2"))
    changed = Parts("changed", small_parts().train[:-1], test=small_parts().test)
    jobs[1] = Job(jobs[1].trial, jobs[1].origin, jobs[1].folder, lambda: changed, 1.0)
    engine = ProcessEngine(1)
    try:
        sweep = Sweep(store, jobs)
        assert not sweep.run(engine)
    finally:
        engine.close()
    assert stored_restarts(store, "1") == [0, 1]
    assert stored_restarts(store, "2") == []
    assert len(sweep.failures) == 1
    assert "the data has changed" in sweep.failures[0]


def test_a_trial_cut_short_ends_with_the_same_numbers(make_jobs: MakeJobs, tmp_path: Path) -> None:
    trial = make_jobs(2, epochs=12)[0].trial
    folder = tmp_path / "state"

    def results(*arguments: object) -> dict[int, RestartResult]:
        told = run_trial(trial, small_parts(), *arguments)  # type: ignore[arg-type]
        return {message.restart: replace(message, seconds=0) for message in told if isinstance(message, RestartResult)}

    assert results(folder, lambda: True) == {}
    assert (folder / "state.safetensors").exists()
    asked = iter([False] * 4)
    assert results(folder, lambda: next(asked, True)) == {}
    assert results(folder) == results(None)


def test_a_killed_process_is_replaced(store: ResultStore, make_jobs: MakeJobs) -> None:
    engine = ProcessEngine(1)
    killed: list[int] = []

    def kill_once(sweep: Sweep) -> None:
        if not killed:
            killed.append(engine._pool[0].process.pid or 0)
            os.kill(killed[0], signal.SIGKILL)

    try:
        sweep = Sweep(store, make_jobs(2))
        assert sweep.run(engine, kill_once)
    finally:
        engine.close()
    assert sweep.retries == ["qa-1k 2r task 1 restarts 0-1: its process ended with code -9"]
    assert stored_restarts(store) == [0, 1]


def test_a_stopped_sweep_goes_on_with_the_stacks_it_began(
    store: ResultStore, make_jobs: MakeJobs, tmp_path: Path
) -> None:
    jobs = make_jobs(3, stack=3)
    sweep = Sweep(store, jobs)
    engine = InlineEngine([result(1, 5.0), Progress(2, 2, 1.0)])
    assert not sweep.run(engine, lambda running: running.request_stop())
    assert stored_restarts(store) == [1]
    again = make_jobs(3, stack=3)
    assert [job.trial.restarts for job in again] == [(0, 1, 2)]
    assert again[0].folder == jobs[0].folder


def test_what_is_left_of_a_finished_trial_is_cleared_away(store: ResultStore, make_jobs: MakeJobs) -> None:
    job = make_jobs(1)[0]
    keep_trial(job)
    assert make_jobs(1)[0].folder == job.folder
    store.add(job.trial.setting, result(0, 1.0), job.origin)
    assert make_jobs(1) == []
    assert not job.folder.exists()


def test_one_sweep_of_a_table_at_a_time(tmp_path: Path) -> None:
    with (
        only_sweep(tmp_path, "qa-1k"),
        only_sweep(tmp_path, "qa-10k"),
        pytest.raises(InputError, match="another sweep of qa-1k is running"),
        only_sweep(tmp_path, "qa-1k"),
    ):
        pass
    with only_sweep(tmp_path, "qa-1k"):
        pass


def test_a_terminal_sees_a_live_table(store: ResultStore, make_jobs: MakeJobs) -> None:
    screen = io.StringIO()
    console = Console(file=screen, force_terminal=True, width=100)
    sweep = Sweep(store, make_jobs(2))
    engine = InlineEngine([result(0, 3.25), Progress(4, 1, 20.0)], [])
    shown: list[str] = []

    def look(sweep: Sweep) -> None:
        view.update(sweep)
        with console.capture() as captured:
            console.print(view._table())
        shown.append(captured.get())
        sweep.request_stop()

    with SweepView(sweep, 1, console) as view:
        sweep.run(engine, look)
    assert "3.2 (1), 0.0 epoch 4, dev 20.0" in shown[0]
    assert "1/2 restarts stored" in screen.getvalue()


def test_elsewhere_a_line_says_what_is_stored_and_what_is_left(store: ResultStore, make_jobs: MakeJobs) -> None:
    screen = io.StringIO()
    sweep = Sweep(store, make_jobs(2))
    with SweepView(sweep, 1, Console(file=screen, width=200)) as view:
        sweep.run(InlineEngine(), view.update)
    assert "2 restarts to train in 1 stack, 1 at once" in screen.getvalue()
    assert "2/2 restarts stored" in screen.getvalue()
    assert "about 0:00:00 left" in screen.getvalue()
