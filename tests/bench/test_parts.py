from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from query_reduction.bench import long_stories
from query_reduction.bench import run as bench_run
from query_reduction.bench.bars import judge
from query_reduction.bench.build import measure_build
from query_reduction.bench.contenders import Size
from query_reduction.bench.limits import measure_limits, step_products
from query_reduction.bench.long_stories import measure_long_stories
from query_reduction.bench.recurrence import measure_curve, measure_recurrence
from query_reduction.bench.scaling import measure_scaling
from query_reduction.bench.step import measure_steps, workload
from query_reduction.bench.tables import tables
from query_reduction.bench.timing import Effort
from query_reduction.cli import main
from query_reduction.networks.registry import resolve


@pytest.fixture
def tiny_parts(tiny: Effort, monkeypatch: pytest.MonkeyPatch) -> None:
    small = workload(2, 3, 4)
    monkeypatch.setattr(
        long_stories, "_measure", lambda length, variant: {"seconds": 1.0 + length, "bytes": 100.0 + length}
    )
    parts: dict[str, Any] = {
        "recurrence": lambda quick: measure_recurrence([Size(2, 8, 4)], tiny, compiled=False),
        "curve": lambda quick: measure_curve([Size(4, 16, 4), Size(1, 64, 4)], tiny),
        "step": lambda quick: measure_steps(["2r"], tiny, small),
        "limits": lambda quick: measure_limits(tiny, gemm=16, stream=64, scan_steps=8, variant="2r"),
        "memory": lambda quick: measure_long_stories([10, 200, 400], 1),
        "scaling": lambda quick: measure_scaling(tiny, ("2r",)),
        "build": lambda quick: {"seconds": None, "notes": ["not here"]},
    }
    sections = {name: (what, parts[name]) for name, (what, _) in bench_run.SECTIONS.items()}
    monkeypatch.setattr(bench_run, "SECTIONS", sections)


@pytest.mark.usefixtures("tiny_parts")
def test_a_whole_run_as_json_tables_and_picture(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    picture = tmp_path / "speed.svg"
    assert main(["bench", "--json", "--plot", str(picture), "--results", str(tmp_path)]) == 0
    found = json.loads(capsys.readouterr().out)
    assert set(found) == {"format", "provenance", "native", "quick", "sections", "bars"}
    assert set(found["provenance"]) >= {"command", "version", "commit", "machine"}
    assert list(found["sections"]) == list(bench_run.SECTIONS)
    for section in found["sections"].values():
        assert isinstance(section["notes"], list)
    for bar in found["bars"]:
        assert set(bar) == {"what", "bar", "measured", "unit", "met"} and isinstance(bar["met"], bool)
    about = " ".join(bar["what"] for bar in found["bars"])
    for word in ("per-step loop", "matrix form", "nn.GRU", "nn.LSTM", "one after another", "matrix product", "memory"):
        assert word in about
    assert "<svg" in picture.read_text() and "sentences a second" in picture.read_text()
    assert len(list(tables(found))) == len(found["sections"]) + 1

    saved = tmp_path / "bench.json"
    saved.write_text(json.dumps(found))
    assert main(["bench", "--earlier", str(saved), "--plot", str(tmp_path / "speed.png")]) == 0
    assert "A whole training step" in capsys.readouterr().out
    assert (tmp_path / "speed.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.usefixtures("tiny_parts")
def test_parts_can_be_chosen(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "--only", "build", "curve", "--json", "--results", str(tmp_path)]) == 0
    assert list(json.loads(capsys.readouterr().out)["sections"]) == ["curve", "build"]


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (["--plot", "x.gif"], "pictures end in"),
        (["--only", "build", "--plot", "x.svg"], "--plot draws the part curve"),
        (["--earlier", "absent.json"], "absent.json: not figures"),
    ],
)
def test_bad_options_are_one_line(options: list[str], problem: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", *options]) == 1
    error = capsys.readouterr().err
    assert problem in error and error.count("\n") == 1


def test_a_long_story_is_read_in_a_process_of_its_own() -> None:
    found = long_stories.measure_long_stories([20_000], 1)
    (row,) = found["rows"]
    assert row["seconds"] > 0
    # The sentence vectors alone are 50 numbers each, and their gradients as many.
    assert row["bytes"] > 20_000 * 2 * 50 * 4


def test_bars_are_met_and_missed() -> None:
    contenders = [
        {"name": "per-step loop", "ratio": {"median": 30.0}},
        {"name": "nn.LSTM", "ratio": {"median": 3.0}},
    ]
    bars = judge({"step": {"rows": [{"variant": "2r", "contenders": contenders}]}})
    assert [bar["met"] for bar in bars] == [True, False]
    scan = {"batch": 32, "time": 64, "dim": 50, "gates": "vector", "mode": "forward+backward", "base": "fused"}
    rivals = [{"name": "loop", "ratio": {"median": 29.0}}, {"name": "mambapy pscan", "ratio": {"median": 5.0}}]
    bars = judge({"recurrence": {"rows": [scan | {"contenders": rivals}]}})
    assert [bar["met"] for bar in bars] == [False, True]


def test_products_are_counted_by_the_formula() -> None:
    work = workload(batch=4, sentences=5, distinct=1)
    config = resolve("3r10")
    assert step_products(config, work) == 3 * 2 * 10**2 * (1 + 4 + 2 * 4 * 5)


def test_the_workload_is_as_large_as_asked() -> None:
    work = workload()
    batch = work.questions.batch(work.chosen)
    assert batch.stories.shape == (32, 50) and bool((batch.lengths == 50).all())
    assert 180 <= len(batch.stories.unique()) <= 200
    assert len(work.vocabulary.words) == 40 and len(work.vocabulary.answers) == 6
    assert work.vocabulary.longest_sentence == 8


def test_a_build_without_sources_is_noted(tmp_path: Path) -> None:
    assert measure_build(tmp_path) == {
        "seconds": None,
        "notes": ["the sources of the native library are not here: not a checkout"],
    }
