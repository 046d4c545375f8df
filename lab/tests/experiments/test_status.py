"""Results are tied to what the code computes: what status names, what is trained again, and what is left alone."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from query_reduction_lab.experiments import sweeps, task_data
from query_reduction_lab.experiments.catalogue import EXPERIMENTS
from query_reduction_lab.experiments.probe import fingerprint, native_probe, probe
from query_reduction_lab.experiments.settings import Setting
from query_reduction_lab.experiments.status import _shown, status_of
from query_reduction_lab.experiments.store import ResultStore
from query_reduction_lab.studies.publish import publish

from query_reduction.cli import main
from query_reduction.qrn.fused import FusedNetwork
from query_reduction.training.setup import setup

from .conftest import origin, record, result, small_setting


@pytest.fixture
def other_arithmetic(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A Query-Reduction Network whose result is a little larger than it should be."""
    read = FusedNetwork.read
    monkeypatch.setattr(FusedNetwork, "read", lambda self, *given: read(self, *given) * 1.01)
    for cached in (probe, native_probe):
        cached.cache_clear()
    yield
    for cached in (probe, native_probe):
        cached.cache_clear()


@pytest.fixture
def stored(tmp_path: Path) -> Path:
    """Two cells of 2r and one of gru, computed by today's code."""
    store = ResultStore(tmp_path / "store")
    gru = setup("gru", changes={"dimension": 10, "batch": 8, "max_epochs": 4})
    for setting in (
        small_setting("1"),
        small_setting("2"),
        Setting("compare", "gru", "3", gru, "rival", "0" * 64, "small"),
    ):
        store.add(record(setting, result(0, 1.0), origin(fingerprint(setting.setup))))
    return tmp_path


def test_nothing_has_drifted(stored: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reproduce", "status", "--out", str(stored)]) == 0
    assert "computes 3 the same and 0 differently" in capsys.readouterr().out


def test_titles_and_docstrings_decide_nothing(stored: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(EXPERIMENTS, "qa-1k", replace(EXPERIMENTS["qa-1k"], title="another title"))
    monkeypatch.setattr(FusedNetwork, "__doc__", "Another docstring.")
    assert not status_of(stored).drifted


def test_other_arithmetic_names_the_results_it_touches(
    stored: Path, request: pytest.FixtureRequest, capsys: pytest.CaptureFixture[str]
) -> None:
    request.getfixturevalue("other_arithmetic")
    assert main(["reproduce", "status", "--out", str(stored), "--json"]) == 1
    columns = json.loads(capsys.readouterr().out)["columns"]
    drifted = [column for column in columns if column["drift"]]
    assert [(each["table"], each["column"], each["tasks"]) for each in drifted] == [("qa-1k", "2r", ["1", "2"])]
    assert "plain probe" in drifted[0]["drift"]
    assert main(["reproduce", "status", "--out", str(stored)]) == 1
    assert "| qa-1k | 2r | small | 1-2 | 0.1, abc |" in capsys.readouterr().out
    assert main(["reproduce", "status", "--out", str(stored), "--variants", "gru"]) == 0


def test_a_study_that_trains_is_named_too(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    publish(tmp_path / "study.json", {"what": "a study"}, "studies/study.py", [small_setting().setup])
    assert not status_of(tmp_path).drifted
    request.getfixturevalue("other_arithmetic")
    (drifted,) = status_of(tmp_path).drifted
    assert (drifted.table, drifted.column) == ("study.json", "2r10")


def test_neighbouring_tasks_are_shown_as_a_range() -> None:
    assert _shown(["1", "2", "3", "5", "19", "20", "all"]) == "1-3, 5, 19-20, all"


def test_timings_are_listed_by_release(tmp_path: Path) -> None:
    for name, content in (("a", {"version": "0.1"}), ("b", {"origin": {"version": "0.2"}}), ("c", [1])):
        (tmp_path / f"{name}.json").write_text(json.dumps(content))
    assert status_of(tmp_path).releases == {"0.1": ("a.json",), "0.2": ("b.json",)}


def test_what_is_stored_is_found_without_probes_and_without_stories(
    place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["reproduce", "qa-1k", "--recipe", "quick", "--tasks", "1", "--variants", "1r", "--data", "data"]
    command += ["--workers", "1", "--restarts", "1"]
    assert main(command) == 0
    with monkeypatch.context() as patched:
        for module, name in ((sweeps, "fingerprint"), (sweeps, "provenance"), (task_data, "load_task")):
            patched.delattr(module, name)
        assert main(command) == 0
        assert "everything requested is already stored" in capsys.readouterr().err
    file = place / "data" / "babi" / "en" / "qa1_small_train.txt"
    file.write_text(file.read_text() + "1 Ann went to the hall.\n2 Where is Ann?\thall\t1\n")
    assert main(command) == 0
    assert "1 restart to train" in capsys.readouterr().err


def test_drifted_results_are_kept_until_they_are_renewed(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["reproduce", "qa-1k", "--recipe", "quick", "--tasks", "1", "--variants", "1r", "--data", "data"]
    store = ResultStore(place / "results" / "store")
    assert main([*command, "--workers", "1", "--restarts", "1"]) == 0
    (entry,) = [one for stored in store.all_settings() for one in stored.records]
    setting = entry.setting
    path = store.path(setting.table, setting.column)
    drifted = entry.origin.fingerprint.plain
    path.write_text(path.read_text().replace(f'"probe": [{drifted[0]}', '"probe": [9.0'))
    assert main([*command, "--workers", "1", "--restarts", "1"]) == 0
    assert "everything requested is already stored" in capsys.readouterr().err
    assert main([*command, "--workers", "1", "--restarts", "1", "--renew"]) == 0
    assert "1 restart to train" in capsys.readouterr().err
    assert len([one for stored in store.all_settings() for one in stored.records]) == 2
