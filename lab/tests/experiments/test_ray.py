"""A real cluster of two nodes on this machine; one is killed in the middle of its trial."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from query_reduction_lab.experiments.ray_engine import RayEngine
from query_reduction_lab.experiments.store import ResultStore
from query_reduction_lab.experiments.sweep import Job, Sweep
from query_reduction_lab.experiments.trials import Done, Ended, run_trial

from query_reduction.cli import main

from .conftest import small_parts, small_setting

pytestmark = [pytest.mark.cluster, pytest.mark.filterwarnings("default")]

EPOCHS = 1000


@pytest.fixture
def cluster() -> Iterator[Any]:
    pytest.importorskip("ray", reason="Ray is not installed: pip install './lab[cluster]'")
    from ray.cluster_utils import Cluster

    made = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "object_store_memory": 100 * 2**20})
    try:
        yield made
    finally:
        made.shutdown()


def test_a_node_dies_and_nothing_is_lost(
    cluster: Any, store: ResultStore, make_jobs: Callable[..., list[Job]], tmp_path: Path
) -> None:
    node = cluster.add_node(num_cpus=1, object_store_memory=100 * 2**20)
    jobs = make_jobs(2, tasks=("1", "2"), epochs=EPOCHS)
    sweep = Sweep(store, jobs)
    killed: list[int] = []

    def kill_when_states_are_kept(sweep: Sweep) -> None:
        states = list((tmp_path / "unfinished").glob("*/state.safetensors"))
        if len(states) == 2 and len(sweep.running) == 2 and not killed:
            killed.append(sweep.stored)
            cluster.remove_node(node, allow_graceful=False)

    engine = RayEngine(cluster.address, message_every=0.2, state_every=0.0)
    try:
        assert engine.workers == 2
        assert sweep.run(engine, kill_when_states_are_kept)
    finally:
        engine.close()
    assert killed
    assert killed[0] < 4
    assert len(sweep.retries) == 1
    for job in jobs:
        expected = [one.result for one in run_trial(job.trial, small_parts(), None) if isinstance(one, Done)]
        found = store.find(small_setting(job.trial.setting.task, epochs=EPOCHS))
        assert found is not None
        got = found.of_code(job.origin.fingerprint)
        assert [got[entry.restart].dev_loss for entry in expected] == pytest.approx([e.dev_loss for e in expected])
    assert not list((tmp_path / "unfinished").glob("*/state.safetensors"))


def test_stopped_politely_states_stay(store: ResultStore, make_jobs: Callable[..., list[Job]], tmp_path: Path) -> None:
    sweep = Sweep(store, make_jobs(1, tasks=("1", "2"), epochs=100 * EPOCHS))

    def stop_when_a_state_is_kept(sweep: Sweep) -> None:
        if list((tmp_path / "unfinished").glob("*/state.safetensors")):
            sweep.request_stop()

    engine = RayEngine(None, 1, message_every=0.2, state_every=0.0)
    try:
        assert not sweep.run(engine, stop_when_a_state_is_kept)
    finally:
        engine.close()
    assert sweep.failures == sweep.retries == []
    assert len(list((tmp_path / "unfinished").glob("*/state.safetensors"))) == 1


def test_a_stream_that_simply_ends_is_lost_unless_it_was_to_stop() -> None:
    pytest.importorskip("ray", reason="Ray is not installed: pip install './lab[cluster]'")
    engine = RayEngine(None, 1)
    try:
        assert engine._next(iter(())) == Ended("lost", "its task ended without a message")
        engine.stop()
        assert engine._next(iter(())) == Ended("stopped")
    finally:
        engine.close()


def test_the_command_on_a_cluster_of_its_own(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("ray", reason="Ray is not installed: pip install './lab[cluster]'")
    command = ["reproduce", "qa-1k", "--recipe", "quick", "--tasks", "1-2", "--variants", "1r", "--restarts", "2"]
    assert main([*command, "--data", "data", "--engine", "ray", "--workers", "2", "--json"]) == 0
    cells = json.loads(capsys.readouterr().out)["columns"][0]["measured"]
    assert {row: cell["restarts"] for row, cell in cells.items()} == {"1": 2, "2": 2}


def test_no_cluster_there(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("ray", reason="Ray is not installed: pip install './lab[cluster]'")
    command = ["reproduce", "qa-1k", "--recipe", "quick", "--tasks", "1", "--variants", "1r", "--data", "data"]
    assert main([*command, "--engine", "ray", "--address", "127.0.0.1:1"]) == 1
    assert "no Ray cluster at 127.0.0.1:1" in capsys.readouterr().err
