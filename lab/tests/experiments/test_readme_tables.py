"""The README's tables are what the store gives; speed is measured by the same command."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from places import ROOT
from query_reduction_lab.experiments.catalogue import EXPERIMENTS
from query_reduction_lab.experiments.readme import fill_readme
from query_reduction_lab.experiments.store import ResultStore

from query_reduction.cli import main
from query_reduction.errors import InputError

from .conftest import record, result
from .test_tables import setting_of

MARKED = "before\n<!-- table:{0} -->\nold\n<!-- /table:{0} -->\nafter\n"


def test_the_readme_is_as_results_say() -> None:
    text = (ROOT / "results" / "README.md").read_text(encoding="utf-8")
    assert fill_readme(text, ResultStore(ROOT / "results" / "store")) == text, (
        "fill it again with  qrn reproduce qa-1k --report-only --readme results/README.md"
    )


def test_a_table_is_put_between_the_marks(store: ResultStore) -> None:
    experiment = EXPERIMENTS["qa-10k"]
    for task in experiment.tasks:
        note = "task 3: trained on other questions, too" if task == "3" else ""
        for number in range(2):
            error = (8.0 if task == "3" else 4.0) + number
            entry = replace(result(number, 0.0, float(number)), errors={"answer": {task: error}})
            setting = replace(setting_of(experiment, experiment.columns[0], task), note=note)
            store.add(record(setting, entry))
    lines = fill_readme(MARKED.format("qa-10k"), store).splitlines()
    assert lines[:2] == ["before", "<!-- table:qa-10k -->"]
    assert lines[-2:] == ["<!-- /table:qa-10k -->", "after"]
    assert "| 2r | 4.6 | **4.2**† | 4.7 ± 0.5 | 2 | 1 | 40 of 120 |" in lines
    assert "| 2r, without task 3 | 4.8 | **4.0** | 4.5 ± 0.5 | 2 | 0 | 40 of 120 |" in lines
    assert "† task 3: trained on other questions, too" in lines


def test_a_column_that_is_not_finished_has_no_average(store: ResultStore) -> None:
    experiment = EXPERIMENTS["qa-1k"]
    store.add(record(setting_of(experiment, experiment.columns[2], "1"), result(0, 3.0)))
    lines = fill_readme(MARKED.format("qa-1k"), store).splitlines()
    assert "| 2r | 9.9 | – (1 of 20 tasks so far) | – | 7 | – | 1 of 200 |" in lines
    assert "| 2r (1 task that all have) | 0.0 | **3.0** | 3.0 | 0 | 0 | 1 of 200 |" in lines


def test_dialogs_have_a_line_per_network_and_both_measures(store: ResultStore) -> None:
    experiment = EXPERIMENTS["dialog"]
    for task in ("1", "2", "3", "4", "5"):
        errors = {
            measure: {task: 1.0 + number, f"{task}-OOV": 3.0 + number}
            for number, measure in enumerate(experiment.measures)
        }
        entry = replace(result(0, 0.0), errors=errors)
        store.add(record(setting_of(experiment, experiment.chosen_columns(["2r"])[0], task), entry))
    text = fill_readme(MARKED.format("dialog"), store)
    head = "| network | per slot: paper | ours | per slot, OOV: paper | ours | exact match | exact match, OOV |"
    head += " restarts tried |"
    assert head in text.splitlines()
    assert "| 2r | 5.5 | **1.0** | 11.1 | **3.0** | **2.0** | **4.0** | 5 of 18 |" in text.splitlines()


def test_filling_twice_changes_nothing_and_other_text_stays(store: ResultStore) -> None:
    once = fill_readme(MARKED.format("qa-1k"), store)
    assert once == "before\n<!-- table:qa-1k -->\nNot measured yet.\n<!-- /table:qa-1k -->\nafter\n"
    assert fill_readme(once, store) == once
    assert fill_readme("no marks", store) == "no marks"
    with pytest.raises(InputError, match="qa-9k"):
        fill_readme(MARKED.format("qa-9k"), store)


def test_the_command_fills_a_readme(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("R.md").write_text(MARKED.format("qa-1k"))
    assert main(["reproduce", "qa-1k", "--report-only", "--readme", "R.md"]) == 0
    assert "Not measured yet." in Path("R.md").read_text()
    assert main(["reproduce", "qa-1k", "--report-only", "--readme", "nowhere.md"]) == 1


def test_a_network_meant_for_some_tasks_has_no_average(store: ResultStore) -> None:
    experiment = EXPERIMENTS["compare"]
    column = next(column for column in experiment.columns if column.tasks)
    for task in column.tasks:
        entry = replace(result(0, 0.0, 0.0), errors={"answer": {task: 4.0}})
        store.add(record(setting_of(experiment, column, task), entry))
    assert column.name not in fill_readme(MARKED.format("compare"), store)
