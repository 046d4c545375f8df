from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from query_reduction.config import Recipe
from query_reduction.experiments.plan import EXPERIMENTS, Column
from query_reduction.experiments.published import published
from query_reduction.experiments.report import to_csv, to_latex, to_markdown, write_reports
from query_reduction.experiments.report_html import to_html
from query_reduction.experiments.store import Origin, ResultStore
from query_reduction.experiments.tables import build_table, choose
from query_reduction.experiments.trials import RestartResult, Setting
from query_reduction.training.restarts import better

from .conftest import origin, result

QA_1K = EXPERIMENTS["qa-1k"]
COLUMN = QA_1K.chosen_columns(["2r"])[0]


def add(store: ResultStore, task: str, entry: RestartResult, where: Origin | None = None, **options: Any) -> None:
    model, recipe = QA_1K.settings(COLUMN)
    setting = Setting("qa-1k", "2r", task, model, recipe, "d" * 64)
    errors = {"answer": {task: entry.errors["answer"]["1"]}}
    store.add(replace(setting, **options), replace(entry, errors=errors), where or origin())


def table_of(store: ResultStore, **options: Any) -> dict[str, Any]:
    return build_table(store, QA_1K, columns=[COLUMN], **options)


def test_the_published_numbers_are_those_of_the_paper() -> None:
    values = published()
    assert values.parallel_speedup == 6.2
    assert values.tables["qa-1k"]["2r"]["average"] == 9.9
    assert values.tables["qa-10k"]["6r200"]["17"] == 4.1
    assert values.tables["dialog"]["2r+"]["5-OOV"] == 4.0
    for experiment in EXPERIMENTS.values():
        for column in experiment.columns:
            rows = values.column(experiment.name, column.name)
            if experiment.name == "transfer" or column.name == "2rc":
                assert not rows
                continue
            assert rows.keys() >= {row for task in experiment.tasks for row in experiment.rows.get(task, (task,))}


@given(
    st.lists(st.tuples(st.floats(0, 9), st.floats(0, 100), st.floats(0, 100)), min_size=1, max_size=6),
    st.sampled_from(["accuracy", "loss"]),
)
def test_the_choice_is_training_s_own_and_never_looks_at_the_test(
    runs: list[tuple[float, float, float]], keep: Any
) -> None:
    results = [result(n, test, error, loss) for n, (loss, error, test) in enumerate(runs)]
    best = results[0]
    for other in results[1:]:
        if better(
            Recipe(keep=keep), other.dev_loss or 0, other.dev_error or 0, best.dev_loss or 0, best.dev_error or 0
        ):
            best = other
    assert choose(results, keep) == best
    other_tests = [replace(entry, errors={"answer": {"1": 100 - entry.errors["answer"]["1"]}}) for entry in results]
    assert choose(other_tests, keep).restart == best.restart


def test_a_diverged_restart_is_counted_and_never_chosen(store: ResultStore) -> None:
    add(store, "1", result(0, 80.0, None, None))
    add(store, "1", result(1, 2.0, 5.0, 0.5))
    cell = table_of(store)["columns"][0]["measured"]["1"]
    assert (cell["error"], cell["chosen"], cell["diverged"], cell["restarts"]) == (2.0, 1, 1, 2)
    assert "1 diverged" in to_markdown(table_of(store))


def test_cells_averages_and_failed(store: ResultStore) -> None:
    for number, (test, dev) in enumerate([(1.0, 3.0), (3.0, 1.0), (5.0, 2.0)]):
        add(store, "1", result(number, test, dev))
    add(store, "2", result(0, 7.0))
    column = table_of(store)["columns"][0]
    assert column["measured"]["1"] | {"marks": []} == {
        "preset": "original",
        "error": 3.0,
        "mean": 3.0,
        "std": pytest.approx(1.633, abs=1e-3),
        "restarts": 3,
        "chosen": 1,
        "diverged": 0,
        "errors": [1.0, 3.0, 5.0],
        "marks": [],
    }
    summary = column["summaries"]["average"]
    assert (summary["average"], summary["failed"], summary["complete"]) == (5.0, 1, False)
    assert summary["published_average"] == pytest.approx((0.0 + 0.7) / 2)


def test_only_the_first_restarts_are_looked_at_if_told(store: ResultStore) -> None:
    add(store, "1", result(0, 8.0, 9.0))
    add(store, "1", result(5, 1.0, 0.0))
    assert table_of(store)["columns"][0]["measured"]["1"]["error"] == 1.0
    assert table_of(store, restarts=5)["columns"][0]["measured"]["1"]["error"] == 8.0


def test_other_recipes_do_not_get_into_the_table(store: ResultStore) -> None:
    _, recipe = QA_1K.settings(COLUMN)
    add(store, "1", result(0, 1.0), recipe=replace(recipe, l2=0.9))
    assert table_of(store)["columns"][0]["measured"] == {}


def test_other_code_is_marked_and_mixed_only_if_told(store: ResultStore) -> None:
    later = origin(probe=(5.0,), commit="later", date="2026-03-01T00:00:00")
    add(store, "1", result(0, 1.0, 0.0))
    add(store, "1", result(1, 2.0, 9.0), later)
    add(store, "2", result(0, 3.0))
    table = table_of(store)
    cells = table["columns"][0]["measured"]
    assert cells["1"]["error"] == 2.0
    assert cells["1"]["restarts"] == 1
    assert cells["2"]["marks"] == ["†"]
    assert table["notes"][0].startswith("† computed by code that gives other numbers")
    mixed = table_of(store, mix=True)["columns"][0]["measured"]["1"]
    assert (mixed["error"], mixed["restarts"], mixed["marks"]) == (1.0, 2, ["†"])


def test_data_that_is_not_the_published_one_is_marked_everywhere(store: ResultStore) -> None:
    note = "task 3: trained on 1925 published and 8075 generated questions"
    add(store, "3", result(0, 0.4), data_note=note)
    table = table_of(store)
    assert table["columns"][0]["measured"]["3"]["marks"] == ["†"]
    for text in (to_markdown(table), to_latex(table), to_html(table)):
        assert note in text
    assert "†" in to_csv(table)


def test_averages_with_and_without_task_3_at_10k(store: ResultStore) -> None:
    experiment = EXPERIMENTS["qa-10k"]
    column = experiment.chosen_columns(["2r"])[0]
    model, recipe = experiment.settings(column)
    for task in experiment.tasks:
        entry = replace(result(0, 1.0), errors={"answer": {task: 39.0 if task == "3" else 1.0}})
        store.add(Setting("qa-10k", "2r", task, model, recipe, "d"), entry, origin())
    summaries = build_table(store, experiment, columns=[column])["columns"][0]["summaries"]
    assert summaries["average"]["average"] == pytest.approx(2.9)
    assert summaries["average"]["published_average"] == 4.6
    assert summaries["average without task 3"]["average"] == pytest.approx(1.0)
    assert summaries["average without task 3"]["published_average"] == pytest.approx(4.8158, abs=1e-3)


def test_dialogs_are_counted_in_three_ways_and_only_one_is_the_paper_s(store: ResultStore) -> None:
    experiment = EXPERIMENTS["dialog"]
    column = experiment.chosen_columns(["2r"])[0]
    model, recipe = experiment.settings(column)
    errors = {
        measure: {"3": 10.0 + number, "3-OOV": 20.0 + number} for number, measure in enumerate(experiment.measures)
    }
    entry = replace(result(0, 1.0), errors=errors)
    store.add(Setting("dialog", "2r", "3", model, recipe, "d"), entry, origin())
    table = build_table(store, experiment, columns=[column])
    assert [shown["measured"]["3-OOV"]["error"] for shown in table["columns"]] == [20.0, 21.0, 22.0]
    assert [shown["published"].get("3-OOV") for shown in table["columns"]] == [12.4, None, None]
    text = to_markdown(table)
    assert text.count("| 3-OOV |") == 3
    assert text.count("2r paper") == 1
    assert "errors counted exact match" in text
    assert "failed" not in text


def test_of_several_recipes_a_cell_takes_the_best_on_development(store: ResultStore) -> None:
    column = Column("6r200", presets=("adam-10k", "wide-10k"))
    experiment = replace(EXPERIMENTS["qa-10k"], columns=(column,))
    dev_errors = {("1", "adam-10k"): 3.0, ("1", "wide-10k"): 2.0, ("2", "adam-10k"): 1.0, ("2", "wide-10k"): 4.0}
    for (task, name), dev_error in dev_errors.items():
        model, recipe = experiment.settings(column, name)
        # The one that is worse on development is better on the test: that must not matter.
        entry = replace(result(0, 0.0), dev_error=dev_error, errors={"answer": {task: 50.0 - dev_error}})
        where = replace(origin(), probe=(float(ord(name[0])), 1.0))
        store.add(Setting("qa-10k", "6r200", task, model, recipe, "d"), entry, where)
    table = build_table(store, experiment)
    measured = table["columns"][0]["measured"]
    assert {row: (cell["preset"], cell["error"]) for row, cell in measured.items()} == {
        "1": ("wide-10k", 48.0),
        "2": ("adam-10k", 49.0),
    }
    assert all(cell["marks"] == [] for cell in measured.values())
    assert "6r200 `adam-10k` or `wide-10k` (of several, the one that does best" in to_markdown(table)
    only = build_table(store, experiment, preset="adam-10k")["columns"][0]["measured"]
    assert only["1"]["error"] == 47.0


def test_a_joint_network_fills_a_column(store: ResultStore) -> None:
    column = QA_1K.chosen_columns(["6r200"])[0]
    assert column.name == "6r200 joint"
    model, recipe = QA_1K.settings(column)
    entry = replace(result(0, 1.0), errors={"answer": {task: float(task) for task in QA_1K.tasks}})
    store.add(Setting("qa-1k", "6r200", "all", model, recipe, "d"), entry, origin())
    measured = build_table(store, QA_1K, columns=[column])["columns"][0]["measured"]
    assert {row: cell["error"] for row, cell in measured.items()} == {task: float(task) for task in QA_1K.tasks}


def test_the_time_of_all_trials_is_added_up(store: ResultStore) -> None:
    for task in ("1", "2"):
        add(store, task, replace(result(0, 1.0), seconds=100.0))
        add(store, task, replace(result(1, 1.0), seconds=300.0))
    assert "each on one core: 2r 10 min." in to_markdown(table_of(store))


def test_other_models_are_named_as_the_paper_has_them(store: ResultStore) -> None:
    text = to_markdown(build_table(store, QA_1K))
    assert "N2N 15.2 (10 failed)" in text
    assert "LSTM 51.3 (20 failed)" in text
    dialog = to_markdown(build_table(store, EXPERIMENTS["dialog"]))
    assert "by exact match" in dialog
    assert "GMemN2N+ 5.4, 10.3 with names never seen" in dialog


def test_a_misprint_of_the_paper_is_pointed_out(store: ResultStore) -> None:
    assert build_table(store, QA_1K)["notes"] == []
    model, recipe = QA_1K.settings(QA_1K.columns[0])
    store.add(Setting("qa-1k", "1r", "1", model, recipe, "d"), result(0, 0.0), origin())
    assert build_table(store, QA_1K)["notes"] == ["The paper prints 20.1 as average of 1r; its rows give 20.9."]


def test_all_forms_hold_the_same_numbers(store: ResultStore, tmp_path: Path) -> None:
    add(store, "1", result(0, 12.3))
    add(store, "7", result(0, 45.6))
    table = table_of(store)
    paths = {path.suffix: path for path in write_reports(table, tmp_path)}
    assert json.loads(paths[".json"].read_text()) == table
    rows = list(csv.DictReader(io.StringIO(paths[".csv"].read_text())))
    assert [row["error"] for row in rows if row["error"]] == ["12.3", "45.6"]
    for suffix in (".md", ".tex", ".html"):
        text = paths[suffix].read_text()
        assert "12.3" in text
        assert "45.6" in text
    latex = paths[".tex"].read_text()
    body = [line for line in latex.splitlines() if line.endswith("\\\\")]
    assert len({line.count("&") for line in body if "multicolumn" not in line}) == 1
    assert not re.search(r"(?<!\\)[%&_#]", "\n".join(line.replace(" & ", " ") for line in body))


def test_the_page_stands_alone(store: ResultStore) -> None:
    for number in range(4):
        add(store, "1", result(number, 3.0 * number))
    page = to_html(table_of(store))
    assert not re.search(r"(src|href)\s*=|@import|url\(|<script|https?://", page)
    picture = page[page.index("<svg") : page.index("</svg>") + 6]
    drawn = ElementTree.fromstring(picture)
    assert len(drawn.findall("circle")) == 4
