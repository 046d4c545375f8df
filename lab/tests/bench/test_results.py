"""Arithmetic of ratios, and that every part can be shown, stored and read again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from query_reduction_lab.bench import run as bench_run
from query_reduction_lab.bench.bars import Bar, judge
from query_reduction_lab.bench.long_stories import linear_fit, measure_long_stories
from query_reduction_lab.bench.parallel import parallel_rows
from query_reduction_lab.bench.part_files import MeasuredPart, load_part, origin_now, write_part
from query_reduction_lab.bench.problem import FULL_SIZES
from query_reduction_lab.bench.results import (
    BandwidthRow,
    LeftOut,
    Limits,
    LongStories,
    LongStory,
    OverheadRow,
    Race,
    Recurrence,
    RecurrenceRow,
    RestartsRow,
    Samples,
    Scaling,
    ShareRow,
    Spread,
    Step,
    StepRow,
    ThreadsRow,
    ratios,
    spread,
)
from query_reduction_lab.bench.run import SECTIONS, all_tables, page, run_bench
from query_reduction_lab.bench.text_tables import to_rich

from query_reduction.cli import main
from query_reduction.errors import InputError

_HALF = Spread(0.5, 0.4, 0.6)
_RACE = Race(
    "ours",
    (
        Samples("ours", 1, (2.0, 2.0)),
        Samples("ours", 2, (1.0, 1.0)),
        Samples("Numba loop", 1, (3.0, 3.0)),
        Samples("Numba loop", 2, (4.0, 4.0)),
        Samples("JAX lax.scan", 1, (6.0, 6.0)),
        Samples("JAX lax.scan", 2, (5.0, 5.0)),
        Samples("QRN, loop over time", 2, (12.0, 12.0)),
        Samples("QRN, matrix form", 2, (6.0, 6.0)),
    ),
    (LeftOut("torchlpc", "is not installed"),),
    0.001,
)
_PARTS: dict[str, Any] = {
    "recurrence": Recurrence(
        tuple(RecurrenceRow(size, mode, _RACE) for size in FULL_SIZES for mode in ("forward", "forward+backward")),
        (RecurrenceRow(FULL_SIZES[0], "forward", _RACE),),
    ),
    "step": Step((StepRow("2r", 32, 50, 1, _RACE), StepRow("2r", 32, 50, 10, _RACE))),
    "scaling": Scaling(
        (ThreadsRow("2r", 10, 2, _HALF, Spread(1.8, 1.7, 1.9)),),
        (RestartsRow("2r", 10, _HALF, _HALF),),
        (OverheadRow("2r", 1, _HALF),),
        ("a note",),
    ),
    "limits": Limits(
        16,
        2,
        Spread(1e9, 1e9, 1e9),
        "all",
        (ShareRow("2r", 10, 32, 2, 1000, 1e9, _HALF),),
        (BandwidthRow("copy", _HALF, 2.0), BandwidthRow("scan", _HALF, 1.0)),
        0.5,
    ),
    "memory": LongStories("2r", 2, 3, 1e-6, 400.0, tuple(LongStory(10**n, 1.0, 0.1, 100.0, 0.2) for n in (3, 4, 5))),
}


def _records() -> list[MeasuredPart]:
    origin = origin_now()
    return [MeasuredPart(name, False, origin, part) for name, part in _PARTS.items()]


def test_ratios_are_taken_round_by_round() -> None:
    base, slow = Samples("base", 1, (1.0, 10.0, 100.0)), Samples("slow", 1, (2.0, 20.0))
    assert ratios(slow, base).median == 2.0


def test_the_fastest_peer_may_choose_its_threads() -> None:
    assert [(peer.contender, peer.threads) for peer in _RACE.peers(1)] == [("Numba loop", 1), ("JAX lax.scan", 1)]
    best = _RACE.peers(2)[0]
    assert (best.contender, best.threads) == ("Numba loop", 1)
    own = _RACE.own(2)
    assert own is not None and ratios(best, own).median == 3.0
    assert _RACE.thread_counts == (1, 2) and _RACE.own(3) is None


def test_ours_in_another_form_is_no_peer_but_has_its_bars() -> None:
    hand = Samples("ours, without autograd", 1, (0.5, 0.5))
    race = Race("ours", (*_RACE.samples, hand), (), 0.0)
    assert [peer.contender for peer in race.peers(1)] == ["Numba loop", "JAX lax.scan"]
    rows = tuple(RecurrenceRow(FULL_SIZES[0], mode, race) for mode in ("forward", "forward+backward"))
    bars = {bar.what: bar for bar in judge([Recurrence(rows, ())])}
    own = "scan (32, 64, 50), forward+backward, threads: 1, against Numba loop"
    assert bars[own].measured == 1.5
    assert bars[own.replace("backward,", "backward without autograd,")].measured == 6.0
    assert len([what for what in bars if "without autograd" in what]) == 2  # with one thread, against each of the two


def test_one_measurement_has_no_spread() -> None:
    assert spread([3.0]) == Spread(3.0, 3.0, 3.0)
    with pytest.raises(Exception, match="data point"):
        spread([])


def test_parallel_and_fused_are_told_apart() -> None:
    one, two = list(parallel_rows(_PARTS["step"]))[:2]
    assert one.matrix is None  # the loop was not timed with one thread
    assert two.matrix is not None and two.matrix.median == 2.0
    assert two.fused is not None and two.fused.median == 12.0


def test_bars_are_met_and_missed() -> None:
    bars = {bar.what: bar for bar in judge(list(_PARTS.values()))}
    assert bars["scan (32, 64, 50), forward+backward, threads: 2, against Numba loop"].met
    assert not bars["scan (32, 64, 50), forward, threads: 1, against Numba loop"].met
    assert bars["scan (32, 64, 50), forward, among other thread pools, against Numba loop"].met
    assert not bars["2r step, 10 stacked, threads: 2, against QRN, loop over time"].met
    assert bars["2r, 10 together: 2 threads against 1"].met
    assert not Bar("x", 1.0, 2.0, "s", at_least=False).met


def test_tables_name_the_fastest_peer_at_every_size() -> None:
    text = page(_records())
    for size in FULL_SIZES:
        assert f"| {size}, forward+backward | 1 | 2 s | Numba loop | 3 s | 1.5 (1.5–1.5) |" in text
        assert f"| {size}, forward+backward | 2 | 1 s | Numba loop (one thread) | 3 s | 3 (3–3) |" in text
    assert "### The recurrence in one process with the thread pools of all others" in text
    assert "Left out (is not installed): torchlpc at (32, 64, 50), (32, 256, 64)" in text
    assert "matrix form (parallel)" in text and "What is to be reached" in text
    for _, tables in all_tables(_records()):
        for table in tables:
            assert to_rich(table).row_count == len(table.rows)
            assert all(len(row) == len(table.columns) for row in table.rows)


def test_records_are_read_as_they_were_written(tmp_path: Path) -> None:
    for record in _records():
        assert load_part(write_part(record, tmp_path)) == record
    broken = tmp_path / "step.json"
    for content in ("{", "{}", broken.read_text().replace('"variant"', '"variants"')):
        broken.write_text(content)
        with pytest.raises(InputError, match="not figures of 'qrn bench'"):
            load_part(broken)


def test_parts_are_written_as_they_finish(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def measure(name: str) -> Any:
        def part(quick: bool, progress: Any) -> Any:
            assert (tmp_path / "recurrence.json").exists() == (name != "recurrence")
            return _PARTS[name]

        return part

    monkeypatch.setattr(bench_run, "SECTIONS", {name: (what, measure(name)) for name, (what, _) in SECTIONS.items()})
    assert [record.name for record in run_bench((), quick=True, folder=tmp_path)] == list(SECTIONS)
    assert [record.name for record in run_bench(("memory", "step"), quick=True)] == ["step", "memory"]


def test_the_command_renders_stored_parts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for record in _records():
        write_part(record, tmp_path / "bench")
    picture = tmp_path / "speed.svg"
    assert main(["bench", "--render", "--out", str(tmp_path), "--plot", str(picture), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert list(found) == list(SECTIONS)
    assert "Numba loop" in picture.read_text()
    assert "# Speed" in (tmp_path / "bench.md").read_text()


@pytest.mark.parametrize(
    ("options", "problem"),
    [(["--plot", "x.gif"], "pictures end in"), (["--render", "--out", "absent"], "no figures of 'qrn bench'")],
)
def test_bad_options_are_one_line(options: list[str], problem: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", *options]) == 1
    error = capsys.readouterr().err
    assert problem in error and error.count("\n") == 1


@given(st.floats(0, 10), st.floats(0.01, 10), st.lists(st.integers(1, 10**6), min_size=2, max_size=8, unique=True))
def test_a_straight_line_fits_exactly(fixed: float, each: float, lengths: list[int]) -> None:
    _, _, deviations = linear_fit(lengths, [fixed + each * length for length in lengths])
    assert max(map(abs, deviations)) < 1e-6


def test_a_bent_line_does_not_fit() -> None:
    lengths = [1_000, 10_000, 100_000]
    _, _, deviations = linear_fit(lengths, [length**1.3 for length in lengths])
    assert max(map(abs, deviations)) > 0.15


def test_a_long_story_is_read_in_a_process_of_its_own() -> None:
    (row,) = measure_long_stories([20_000], 1, lambda share: None).rows
    # The sentence vectors alone are 50 numbers each, and their gradients as many.
    assert row.seconds > 0 and row.bytes > 20_000 * 2 * 50 * 4
