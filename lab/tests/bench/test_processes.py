"""The protocol between the benchmark and the processes of its contenders."""

from __future__ import annotations

import io
import json
import time
from typing import Any

import pytest
from query_reduction_lab.bench.contenders import OURS
from query_reduction_lab.bench.processes import Entrant, Field, Worker, WorkerError
from query_reduction_lab.bench.timing import Effort
from query_reduction_lab.bench.worker import Calls, LeftOutError, core_set, serve

_SMALL = {"batch": 2, "time": 5, "dim": 4}


def _talk(prepare: Any, *requests: dict[str, Any]) -> list[dict[str, Any]]:
    answers = io.StringIO()
    serve(prepare, io.StringIO("".join(json.dumps(request) + "\n" for request in requests)), answers)
    return [json.loads(line) for line in answers.getvalue().splitlines()]


def test_a_worker_runs_what_it_is_told() -> None:
    heard: list[Any] = []

    def prepare(request: Any) -> Calls:
        heard.append(request)
        return {"both": lambda: heard.append("both"), "forward": lambda: heard.append("forward")}

    ready, timed = _talk(prepare, {"prepare": {"n": 1}}, {"call": "both", "calls": 3, "warm_up": 2})
    assert ready == {"ready": True}
    assert len(timed["seconds"]) == 3 and min(timed["seconds"]) >= 0
    assert heard == [{"n": 1}] + ["both"] * 5


@pytest.mark.parametrize(
    ("error", "why"),
    [(LeftOutError("too long"), "too long"), (RuntimeError("cannot\nand more"), "RuntimeError: cannot")],
)
def test_a_contender_that_cannot_get_ready_says_why(error: Exception, why: str) -> None:
    def prepare(request: Any) -> Calls:
        raise error

    assert _talk(prepare, {"prepare": {}}) == [{"left_out": why}]


def test_threads_get_the_same_cores_every_time() -> None:
    assert len(core_set(1)) == 1 and core_set(1) <= core_set(2)


def test_an_idle_process_sleeps_and_its_answers_are_counted() -> None:
    with Worker("recurrence", Entrant(OURS, 1)) as worker:
        assert worker.prepare(_SMALL, 120) is None
        assert len(worker.run("both", 4, 1, 60)) == 4
        before = worker.idle_cpu
        time.sleep(0.3)
        worker.run("forward", 1, 0, 60)
        assert worker.idle_cpu - before < 0.1


def test_a_process_that_ends_is_noticed() -> None:
    with Worker("no such kind", Entrant(OURS, 1)) as worker, pytest.raises(WorkerError, match="no kind of contender"):
        worker.prepare({}, 60)


def test_everyone_is_timed_or_has_a_reason(tiny: Effort) -> None:
    entrants = [Entrant(OURS, 1), Entrant("PyTorch loop", 1, units=2), Entrant("nobody", 1)]
    with Field("recurrence", entrants, OURS) as field:
        field.prepare(_SMALL, tiny, lambda name: "is nobody" if name == "nobody" else None)
        race = field.race("both", tiny)
    assert [samples.contender for samples in race.samples] == [OURS, "PyTorch loop"]
    assert all(samples.seconds for samples in race.samples)
    assert [(absent.contender, absent.why) for absent in race.left_out] == [("nobody", "is nobody")]
    assert race.own(1) is race.samples[0] and race.peers(1) == [race.samples[1]]
