"""Stored results computed again."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from query_reduction_lab.experiments import audit
from query_reduction_lab.experiments.audit import AuditedCell, audit_markdown, compare, draw, plan_audit
from query_reduction_lab.experiments.probe import fingerprint
from query_reduction_lab.experiments.settings import Origin, Processor, Setting
from query_reduction_lab.experiments.store import ResultStore, StoredResult
from query_reduction_lab.experiments.sweep import Sweep
from query_reduction_lab.experiments.sweeps import Origins

from query_reduction.errors import InputError

from .conftest import origin, record, result, small_fingerprint, small_parts, small_setting
from .test_sweep import InlineEngine

AVX2, AVX512 = Processor("avx2", True), Processor("avx512", True)


@pytest.fixture
def again(tmp_path: Path) -> ResultStore:
    return ResultStore(tmp_path / "again")


def stored_cell(store: ResultStore, errors: list[float], where: Origin) -> AuditedCell:
    for number, error in enumerate(errors):
        store.add(record(small_setting(), result(number, error), where))
    stored = store.find(small_setting())
    assert stored is not None
    return AuditedCell(stored.records[0], stored)


def test_cells_are_drawn_at_random_and_the_same_for_the_same_seed(store: ResultStore) -> None:
    for task in map(str, range(1, 21)):
        for number in range(3):
            store.add(record(replace(small_setting(), task=task), result(number, 1.0)))
    drawn = draw(store, 5, seed=3)
    assert [cell.record for cell in drawn] == [cell.record for cell in draw(ResultStore(store.folder), 5, seed=3)]
    assert [cell.record for cell in drawn] != [cell.record for cell in draw(store, 5, seed=4)]
    assert len({cell.record.setting.task for cell in drawn}) == 5
    assert len(draw(store, 99, seed=0)) == 20
    with pytest.raises(InputError, match="nothing is stored"):
        draw(ResultStore(store.folder / "none"), 1, 0)


def test_restarts_are_trained_with_those_they_were_trained_with(store: ResultStore) -> None:
    cell = stored_cell(store, [1.0] * 25, origin())
    assert replace(cell, record=replace(cell.record, stack=(0, 4))).stack == (0, 4)
    assert cell.stack == tuple(range(10))
    assert AuditedCell(cell.stored.records[23], cell.stored).stack == (20, 21, 22, 23, 24)
    alone = replace(origin(), command="qrn reproduce qa-1k --stack 1 --data d")
    one = StoredResult(cell.record.setting, result(30, 1.0), alone)
    assert AuditedCell(one, replace(cell.stored, records=(*cell.stored.records, one))).stack == (30,)


@pytest.mark.parametrize(
    ("stored_on", "ran_on", "new", "verdict", "passed"),
    [
        (AVX2, AVX2, 10.0, "equal", True),
        (AVX2, AVX2, 10.1, "NOT EQUAL on the same instruction set", False),
        (AVX2, AVX512, 14.0, "within the spread of the restarts", True),
        (AVX2, AVX512, 60.0, "OUTSIDE the spread of the restarts", False),
        (Processor(), AVX512, 14.0, "within the spread of the restarts", True),
    ],
)
def test_verdicts(
    store: ResultStore,
    again: ResultStore,
    stored_on: Processor,
    ran_on: Processor,
    new: float,
    verdict: str,
    passed: bool,
) -> None:
    cell = stored_cell(store, [10.0, 12.0, 14.0], origin(ran_on=stored_on))
    again.add(record(small_setting(), result(0, new), origin(ran_on=ran_on)))
    (found,) = compare([cell], again, {})
    assert (found.verdict, found.passed) == (verdict, passed)


@pytest.mark.parametrize(
    ("processor", "verdict"),
    [("a processor", "NOT EQUAL on the same instruction set"), ("another", "within the spread of the restarts")],
)
def test_without_native_code_the_kind_of_processor_decides(
    store: ResultStore, again: ResultStore, processor: str, verdict: str
) -> None:
    plain = origin(ran_on=Processor(None, False))
    cell = stored_cell(store, [10.0, 12.0, 14.0], plain)
    elsewhere = replace(plain, machine=replace(plain.machine, processor=processor))
    again.add(record(small_setting(), result(0, 11.0), elsewhere))
    assert compare([cell], again, {})[0].verdict == verdict


def test_other_code_one_restart_and_no_result_are_said(store: ResultStore, again: ResultStore) -> None:
    cell = stored_cell(store, [10.0], origin(ran_on=AVX2))
    assert compare([cell], again, {cell.name: "no files"})[0].verdict == "not compared: no files"
    again.add(record(small_setting(), result(0, 11.0), origin(ran_on=AVX512)))
    assert compare([cell], again, {})[0].verdict.startswith("differs; the cell has one restart")
    other = replace(cell, record=replace(cell.record, origin=origin((1.0, 2.0))))
    assert not compare([other], again, {})[0].passed


def test_a_trained_cell_is_computed_again_to_the_last_digit(
    store: ResultStore, again: ResultStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from query_reduction_lab.experiments.sweep import plan

    setting: Setting = small_setting()
    where = origin(fingerprint(setting.setup))
    Sweep(store, plan(store, tmp_path / "u", setting, range(3), where, small_parts, stack=3, cost=1.0)).run(
        InlineEngine()
    )
    monkeypatch.setattr(audit, "load_parts_of", lambda experiment, task: small_parts())
    cells = draw(store, 1, seed=0)
    jobs, problems = plan_audit(cells, again, tmp_path / "unfinished")
    assert problems == {}
    assert [job.trial.restarts for job in jobs] == [(0, 1, 2)]
    assert Sweep(again, jobs).run(InlineEngine())
    (found,) = compare(cells, again, problems)
    assert (found.verdict, found.passed) == ("equal", True)
    text = audit_markdown([found], Origins(), seed=0)
    assert "1 cells drawn at random (seed 0), one restart of each: 1 equal." in text
    assert "| qa-1k 2r task 1 small |" in text
    assert "commit" in text


def test_data_that_has_changed_is_a_reason(
    store: ResultStore, again: ResultStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cell = stored_cell(store, [1.0], origin(small_fingerprint()))
    shorter = replace(small_parts(), train=small_parts().train[1:])
    monkeypatch.setattr(audit, "load_parts_of", lambda experiment, task: shorter)
    jobs, problems = plan_audit([cell], again, tmp_path / "unfinished")
    assert jobs == []
    assert (
        compare([cell], again, problems)[0].verdict == "not compared: the data here is not the data it was trained on"
    )
