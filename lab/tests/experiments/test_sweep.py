from __future__ import annotations

import io
import os
import signal
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from query_reduction_lab.cli.sweep_view import SweepView
from query_reduction_lab.experiments.probe import Fingerprint
from query_reduction_lab.experiments.settings import Processor
from query_reduction_lab.experiments.store import ResultStore
from query_reduction_lab.experiments.sweep import Job, Sweep, keep_trial, only_sweep, plan
from query_reduction_lab.experiments.trials import Done, Ended, Message, Progress, Trial, run_trial
from query_reduction_lab.experiments.workers import ProcessEngine
from rich.console import Console

from query_reduction.errors import InputError
from query_reduction.native import library
from query_reduction.training.results import RestartResult

from .conftest import (
    origin,
    record,
    result,
    small_fingerprint,
    small_parts,
    small_setting,
)

MakeJobs = Callable[..., list[Job]]


def done(restart: int, error: float) -> Done:
    return Done(result(restart, error), Processor("avx2", True))


class InlineEngine:
    """Runs a job's messages from a script, or for real, inside this process."""

    def __init__(self, *scripts: list[Message]) -> None:
        self.workers = 1
        self.scripts = list(scripts)
        self.begun: list[tuple[int, ...]] = []
        self.messages: list[tuple[int, Message]] = []

    def start(self, number: int, job: Job) -> None:
        self.begun.append(job.trial.restarts)
        messages = self.scripts.pop(0) if self.scripts else [*run_trial(job.trial, job.load(), None), Ended("finished")]
        self.messages += [(number, message) for message in messages]

    def wait(self, seconds: float) -> list[tuple[int, Message]]:
        messages, self.messages = self.messages, []
        return messages

    def stop(self) -> None:
        self.messages += [(0, Ended("stopped"))]

    def close(self) -> None: ...


def stored_restarts(store: ResultStore, task: str = "1", epochs: int = 6) -> list[int]:
    found = store.find(small_setting(task, epochs=epochs))
    return sorted(found.of_code(small_fingerprint())) if found else []


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
        messages = run_trial(Trial(small_setting(), restarts, small_fingerprint()), small_parts(), None)
        return {one.result.restart: one.result.dev_loss for one in messages if isinstance(one, Done)}

    alone, together = losses(2), losses(0, 1, 2, 3)
    assert alone[2] == pytest.approx(together[2], rel=1e-3)
    assert together[2] != pytest.approx(together[1], rel=1e-3)


def test_other_code_is_not_reused_unless_asked(store: ResultStore, tmp_path: Path) -> None:
    setting = small_setting()
    store.add(record(setting, result(0, 1.0), origin((9.0, 9.0))))

    def missing(mix: bool) -> list[Job]:
        return plan(store, tmp_path, setting, range(1), origin(), small_parts, stack=9, cost=1.0, mix=mix)

    assert len(missing(mix=False)) == 1
    assert missing(mix=True) == []


def test_a_record_says_where_its_restart_ran_and_with_which_others(store: ResultStore, make_jobs: MakeJobs) -> None:
    Sweep(store, make_jobs(2)).run(InlineEngine())
    found = store.find(small_setting())
    assert found is not None
    native = library.available()
    for entry in found.records:
        assert entry.origin.ran_on == Processor(library.variant() if native else None, native)
        assert entry.stack == (0, 1)


def test_what_was_begun_with_other_code_is_not_gone_on_with(store: ResultStore, tmp_path: Path) -> None:
    job = Job(Trial(small_setting(), (0,), Fingerprint((9.0,))), origin((9.0,)), tmp_path / "x" / "a", small_parts, 1.0)
    keep_trial(job)
    assert (
        plan(store, tmp_path / "x", small_setting(), [0], origin(), small_parts, stack=1, cost=1.0)[0].folder
        != job.folder
    )
    state = job.folder / "state.safetensors"
    state.touch()
    keep_trial(replace(job, trial=replace(job.trial, fingerprint=small_fingerprint())))
    assert not state.exists()


def test_a_lost_worker_is_tried_again_and_a_failure_is_reported(store: ResultStore, make_jobs: MakeJobs) -> None:
    jobs = make_jobs(2, tasks=("1", "2"))
    engine = InlineEngine(
        [Progress(2, 2, None), done(0, 3.0), Ended("lost", "its process ended")],
        [Ended("failed", "ValueError: no")],
        [done(0, 3.0), done(1, 4.0), Ended("finished")],
    )
    sweep = Sweep(store, jobs)
    engine.scripts[1], engine.scripts[2] = engine.scripts[2], engine.scripts[1]
    assert not sweep.run(engine)
    assert stored_restarts(store) == [0, 1]
    assert len(sweep.retries) == 1
    assert sweep.failures == ["qa-1k 2r task 2 small restarts 0-1: ValueError: no"]


def test_a_trial_that_keeps_dying_is_given_up(store: ResultStore, make_jobs: MakeJobs) -> None:
    deaths: list[list[Message]] = [[Ended("lost", "killed")]] * 5
    sweep = Sweep(store, make_jobs(1))
    assert not sweep.run(InlineEngine(*deaths))
    assert len(sweep.retries) == 2
    assert "given up after 3 tries" in sweep.failures[0]


def test_a_worker_with_other_code_takes_no_part() -> None:
    with pytest.raises(InputError, match="computes something different"):
        next(run_trial(Trial(small_setting(), (0,), Fingerprint((1.0, 2.0))), small_parts(), None))


def test_processes_train_store_and_report_failures(store: ResultStore, make_jobs: MakeJobs, tmp_path: Path) -> None:
    jobs = make_jobs(2, tasks=("1", "2"))
    changed = replace(small_parts(), train=small_parts().train[:-1])
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
        messages = run_trial(trial, small_parts(), *arguments)  # type: ignore[arg-type]
        ended = [message.result for message in messages if isinstance(message, Done)]
        return {one.restart: replace(one, seconds=0) for one in ended}

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
    assert sweep.retries == ["qa-1k 2r task 1 small restarts 0-1: its process ended with code -9"]
    assert stored_restarts(store) == [0, 1]


def test_a_stopped_sweep_goes_on_with_the_stacks_it_began(
    store: ResultStore, make_jobs: MakeJobs, tmp_path: Path
) -> None:
    jobs = make_jobs(3, stack=3)
    sweep = Sweep(store, jobs)
    engine = InlineEngine([done(1, 5.0), Progress(2, 2, 1.0)])
    assert not sweep.run(engine, lambda running: running.request_stop())
    assert stored_restarts(store) == [1]
    again = make_jobs(3, stack=3)
    assert [job.trial.restarts for job in again] == [(0, 1, 2)]
    assert again[0].folder == jobs[0].folder


def test_what_is_left_of_a_finished_trial_is_cleared_away(store: ResultStore, make_jobs: MakeJobs) -> None:
    job = make_jobs(1)[0]
    keep_trial(job)
    assert make_jobs(1)[0].folder == job.folder
    store.add(record(job.trial.setting, result(0, 1.0), job.origin))
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
    engine = InlineEngine([done(0, 3.25), Progress(4, 1, 20.0)], [])
    shown: list[str] = []

    def look(sweep: Sweep) -> None:
        view.update(sweep)
        with console.capture() as captured:
            console.print(view._table())
        shown.append(captured.get())
        sweep.request_stop()

    with SweepView(sweep, 1, console) as view:
        sweep.run(engine, look)
    assert "3.2 (1), 0.0; small epoch 4, dev 20.0" in shown[0]
    assert "1/2 restarts stored" in screen.getvalue()


def test_elsewhere_a_line_says_what_is_stored_and_what_is_left(store: ResultStore, make_jobs: MakeJobs) -> None:
    screen = io.StringIO()
    sweep = Sweep(store, make_jobs(2))
    with SweepView(sweep, 1, Console(file=screen, width=200)) as view:
        sweep.run(InlineEngine(), view.update)
    assert "2 restarts to train in 1 stack, 1 at once" in screen.getvalue()
    assert "2/2 restarts stored" in screen.getvalue()
    assert "about 0:00:00 left" in screen.getvalue()


def test_recipes_of_a_column_share_a_cell_of_the_live_table(store: ResultStore, tmp_path: Path) -> None:
    console = Console(file=io.StringIO(), force_terminal=True, width=100)
    settings = [replace(small_setting(), recipe_name="one"), replace(small_setting(l2=0.5), recipe_name="two")]
    jobs = [
        job
        for setting in settings
        for job in plan(store, tmp_path, setting, range(3), origin(), small_parts, stack=3, cost=1.0)
    ]
    # The first recipe is better on development questions, and worse on the test: that must not matter.
    store.add(record(settings[0], result(0, 9.0, dev_error=1.0)))
    store.add(record(settings[0], result(1, 8.0, dev_error=2.0)))
    store.add(record(settings[1], result(0, 4.0, dev_error=3.0)))
    with SweepView(Sweep(store, jobs), 1, console) as view, console.capture() as captured:
        console.print(view._table())
    assert "9.0 (3), 0.0" in captured.get()
