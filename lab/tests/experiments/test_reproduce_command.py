"""The whole command on a few generated stories, in this process and killed from outside."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from query_reduction_lab.experiments.catalogue import EXPERIMENTS
from query_reduction_lab.experiments.probe import _stories
from query_reduction_lab.experiments.task_data import load_task

from query_reduction.cli import main
from query_reduction.text.formats.babi import format_stories

from .conftest import QUICK_CHANGES

QUICK = """
import sys
from query_reduction_lab.experiments.table_recipes import RECIPES
from query_reduction_lab.experiments.plan import Variation
RECIPES["quick"] = Variation("quick", changes={changes})
if __name__ == "__main__":
    from query_reduction.cli import main
    sys.exit(main())
"""


def test_train_report_and_train_no_more(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["reproduce", "qa-1k", "--recipe", "quick", "--tasks", "1-2", "--variants", "1r", "--data", "data"]
    command += ["--workers", "1"]
    assert main([*command, "--restarts", "2", "--json"]) == 0
    captured = capsys.readouterr()
    table = json.loads(captured.out)
    assert "4 restarts to train in 2 stacks" in captured.err
    cells = table["columns"][0]["measured"]
    assert {row: cell["restarts"] for row, cell in cells.items()} == {"1": 2, "2": 2}
    assert main([*command, "--restarts", "2"]) == 0
    captured = capsys.readouterr()
    assert "everything requested is already stored" in captured.err
    assert "| 1 | 0.0 |" in captured.out
    assert main([*command, "--restarts", "3", "--json"]) == 0
    captured = capsys.readouterr()
    assert "2 restarts to train in 2 stacks" in captured.err
    assert json.loads(captured.out)["columns"][0]["measured"]["1"]["errors"][:2] == cells["1"]["errors"]


def test_the_joint_network_is_not_trained_for_a_few_tasks(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reproduce", "qa-1k", "--tasks", "1", "--report-only", "--json"]) == 0
    names = [column["name"] for column in json.loads(capsys.readouterr().out)["columns"]]
    assert names[:6] == ["1r", "2", "2r", "3r", "6r", "best"]
    assert "6r200 joint" not in names
    assert main(["reproduce", "qa-1k", "--tasks", "1", "--variants", "6r200", "--report-only", "--json"]) == 0
    assert [column["name"] for column in json.loads(capsys.readouterr().out)["columns"]] == ["6r200 joint"]


def test_stored_cells_are_computed_again(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["reproduce", "qa-1k", "--recipe", "quick", "--tasks", "1-2", "--variants", "1r", "--data", "data"]
    assert main([*command, "--restarts", "3", "--workers", "1"]) == 0
    stored = {path.name: path.read_text() for path in (place / "results" / "store").rglob("*.jsonl")}
    assert main(["reproduce", "audit", "2", "--seed", "5", "--data", "data", "--workers", "1"]) == 0
    report = (place / "results" / "audit.md").read_text()
    assert "2 cells drawn at random (seed 5), one restart of each: 2 equal." in report
    assert "qa-1k 1r task 1 quick" in report
    assert report.strip() in capsys.readouterr().out
    assert stored == {path.name: path.read_text() for path in (place / "results" / "store").rglob("*.jsonl")}
    assert not list((place / "results" / ".unfinished").glob("audit/*"))


def test_a_narrowed_view_replaces_no_report(place: Path) -> None:
    command = ["reproduce", "qa-1k", "--recipe", "quick", "--tasks", "1-2", "--variants", "1r", "--data", "data"]
    assert main([*command, "--restarts", "1", "--workers", "1"]) == 0
    assert sorted(path.name for path in (place / "results").glob("*.*")) == [".unfinished"]


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["qa-2k"], "no table 'qa-2k'"),
        (["qa-1k", "7"], "only audit takes a number of cells"),
        (["audit", "0"], "cells must be a whole number from 1 to 1e+06, not 0"),
        (["audit", "3"], "nothing is stored"),
        (["qa-1k", "--variants", "9r"], "has no variant '9r'"),
        (["qa-1k", "--tasks", "21"], "tasks go from 1 to 20"),
        (["qa-1k", "--address", "here:1"], "--address needs --engine ray"),
        (["qa-1k", "--restarts", "0"], "restarts must be a whole number from 1 to 10000, not 0"),
        (["qa-1k", "--data", "nowhere"], "no such folder"),
        (["qa-1k", "--recipe", "none", "--data", "data"], "no recipe 'none'"),
        (["qa-1k", "--tasks", "5", "--variants", "2r", "--data", "data"], "no files of task 5"),
    ],
)
def test_wrong_options_are_one_line(
    place: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], complaint: str
) -> None:
    assert main(["reproduce", *arguments]) == 1
    captured = capsys.readouterr()
    assert complaint in captured.err
    assert len(captured.err.strip().splitlines()) == 1


def test_task_3_at_10k_is_filled_up_and_says_so(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QRN_DATA", str(place / "data"))
    real = _stories(0, 12)
    for folder, part in (("en-10k", "test"), ("en-10k-qa3-partial", "train")):
        path = place / "data" / "babi" / folder / f"qa3_three_{part}.txt"
        path.parent.mkdir()
        path.write_text("".join(format_stories(real)))
    parts, note = load_task(EXPERIMENTS["qa-10k"], "3")
    known = sum(len(story.questions) for story in real)
    assert sum(len(story.questions) for story in parts.train) == 10000
    assert parts.train[: len(real)] == [replace(story, task="3") for story in real]
    assert note == f"task 3: trained on {known} published and {10000 - known} generated questions"


def start(place: Path, epochs: int) -> subprocess.Popen[str]:
    script = place / "quick.py"
    script.write_text(QUICK.format(changes={**QUICK_CHANGES, "max_epochs": epochs}))
    command = ["reproduce", "qa-1k", "--recipe", "quick", "--tasks", "1-2", "--variants", "1r", "--restarts", "2"]
    return subprocess.Popen(
        [sys.executable, str(script), *command, "--data", "data", "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def wait_for_states(place: Path, sweep: subprocess.Popen[str]) -> None:
    until = time.monotonic() + 600
    while time.monotonic() < until:
        if list(place.glob("results/.unfinished/*/state.safetensors")):
            return
        if sweep.poll() is not None:
            break
        time.sleep(0.05)
    sweep.kill()
    raise AssertionError(f"no state was saved: {sweep.communicate()[1]}")


def processes_of_session(leader: int) -> list[int]:
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal():
            try:
                fields = (folder / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[3]) == leader and fields[0] != "Z":
                found.append(int(folder.name))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_killed_anywhere_it_goes_on(place: Path, how: signal.Signals) -> None:
    """The driver is killed; its workers leave by themselves; the next start ends as one start would have."""
    epochs = 1500  # long enough for a state to be saved on the way
    sweep = start(place, epochs)
    wait_for_states(place, sweep)
    os.kill(sweep.pid, how)
    sweep.communicate(timeout=300)
    assert sweep.returncode == (-how if how == signal.SIGKILL else 128 + how)
    until = time.monotonic() + 30
    while processes_of_session(sweep.pid) and time.monotonic() < until:
        time.sleep(0.1)
    assert processes_of_session(sweep.pid) == []
    again = start(place, epochs)
    out, err = again.communicate(timeout=1800)
    assert again.returncode == 0, err
    interrupted = json.loads(out)["columns"][0]["measured"]
    assert not list(place.glob("results/.unfinished/*/state.safetensors"))
    (place / "results").rename(place / "interrupted")
    whole, err = start(place, epochs).communicate(timeout=1800)
    assert json.loads(whole)["columns"][0]["measured"] == interrupted, err
