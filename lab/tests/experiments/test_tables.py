from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from query_reduction_lab.experiments.catalogue import EXPERIMENTS
from query_reduction_lab.experiments.cells import Cell, ResultTable
from query_reduction_lab.experiments.plan import Column, Experiment, Variation
from query_reduction_lab.experiments.published import published
from query_reduction_lab.experiments.report import to_markdown, write_report
from query_reduction_lab.experiments.report_picture import Dot, dots_of
from query_reduction_lab.experiments.settings import Origin, Setting
from query_reduction_lab.experiments.store import ResultStore
from query_reduction_lab.experiments.table_builder import build_table
from query_reduction_lab.experiments.table_recipes import RECIPES
from query_reduction_lab.pictures import drawn_from

from query_reduction.training.results import RestartResult

from .conftest import origin, record, result

QA_1K = EXPERIMENTS["qa-1k"]
COLUMN = QA_1K.chosen_columns(["2r"])[0]


def setting_of(experiment: Experiment, column: Column, task: str, recipe: Variation | None = None) -> Setting:
    recipe = recipe or column.recipes[0]
    return Setting(experiment.name, column.name, task, recipe.setup(column.network), recipe.name, "d" * 64)


def add(store: ResultStore, task: str, entry: RestartResult, where: Origin | None = None, **options: Any) -> None:
    setting = replace(setting_of(QA_1K, COLUMN, task), **options)
    errors = {"answer": {task: entry.errors["answer"]["1"]}}
    store.add(record(setting, replace(entry, errors=errors), where))


def table_of(store: ResultStore, **options: Any) -> ResultTable:
    return build_table(store, QA_1K, columns=[COLUMN], **options)


def cells_of(store: ResultStore, **options: Any) -> dict[str, Cell]:
    return dict(table_of(store, **options).columns[0].measured)


def test_the_published_numbers_are_those_of_the_paper() -> None:
    values = published()
    assert values.parallel_speedup == 6.2
    assert values.tables["qa-1k"]["2r"]["average"] == 9.9
    assert values.tables["qa-10k"]["6r200"]["17"] == 4.1
    assert values.tables["dialog"]["2r+"]["5-OOV"] == 4.0
    for name in ("qa-1k", "qa-10k", "dialog"):
        ours = {"2rc", "2rc half", "2rvc", "best", "best joint"}
        for column in EXPERIMENTS[name].columns:
            assert bool(values.column(name, column.name)) == (column.name not in ours)


def test_published_columns_have_all_rows_and_the_printed_average_nearly_follows() -> None:
    values = published()
    assert values.tables["compare"]["ut"]["average"] == 4.55
    for experiment in EXPERIMENTS.values():
        for column in experiment.columns:
            table, _, name = (column.published or f"{experiment.name}/{column.name}").partition("/")
            rows = values.column(table, name)
            assert rows or not column.published
            if rows:
                wanted = experiment.rows_of(experiment.tasks)
                assert rows.keys() >= set(wanted)
                if experiment.name in ("compare", "compare-10k"):
                    assert sum(rows[row] for row in wanted) / len(wanted) == pytest.approx(rows["average"], abs=0.1)
                    assert sum(rows[row] > 5 for row in wanted) == rows["failed"]


def test_a_diverged_restart_is_counted_and_never_chosen(store: ResultStore) -> None:
    add(store, "1", result(0, 80.0, None, None))
    add(store, "1", result(1, 2.0, 5.0, 0.5))
    cell = cells_of(store)["1"]
    assert (cell.error, cell.chosen, cell.diverged, cell.restarts) == (2.0, 1, 1, 2)
    assert "1 diverged" in to_markdown(table_of(store))


def test_cells_averages_and_failed(store: ResultStore) -> None:
    for number, (test, dev) in enumerate([(1.0, 3.0), (3.0, 1.0), (5.0, 2.0)]):
        add(store, "1", result(number, test, dev))
    add(store, "2", result(0, 7.0))
    column = table_of(store).columns[0]
    assert column.measured["1"] == Cell(
        error=3.0,
        mean=3.0,
        std=1.633,
        restarts=3,
        chosen=1,
        diverged=0,
        errors=(1.0, 3.0, 5.0),
        recipe="original",
        tried=3,
        planned=10,
    )
    assert (column.tried, column.planned, column.unused) == (4, 200, 0)
    summary = column.summaries["average"]
    assert (summary.average, summary.failed, summary.measured) == (None, None, 2)
    narrowed = table_of(store, tasks=["1", "2"]).columns[0].summaries["average (2 tasks)"]
    assert (narrowed.average, narrowed.failed, narrowed.measured) == (5.0, 1, 2)
    assert narrowed.published_average == pytest.approx((0.0 + 0.7) / 2)
    assert narrowed.std is None, "a cell with one restart has no spread"


def test_columns_are_compared_over_the_same_tasks(store: ResultStore) -> None:
    other = QA_1K.chosen_columns(["6r"])[0]
    for task, error in (("1", 2.0), ("2", 4.0), ("4", 90.0)):
        add(store, task, result(0, error))
        if task != "4":
            entry = replace(result(0, 0.0), errors={"answer": {task: 2 * error}})
            store.add(record(setting_of(QA_1K, other, task), entry))
    table = build_table(store, QA_1K, columns=[COLUMN, other], tasks=["1", "2", "4"])
    assert table.averages == ("average (3 tasks)", "average (2 tasks that all have)")
    (one, two) = ([column.summaries[label].average for label in table.averages] for column in table.columns)
    assert one == [32.0, 3.0]
    assert two == [None, 6.0]
    paper = [column.summaries[table.averages[1]].published_average for column in table.columns]
    assert paper == [pytest.approx(np.mean([column.published[row] for row in "12"])) for column in table.columns]
    assert "| average (3 tasks) |" in to_markdown(table)
    assert "– [2 of 3 tasks]" in to_markdown(table)


def test_a_column_planned_for_some_tasks_lacks_nothing_on_the_others(store: ResultStore) -> None:
    other = replace(QA_1K.chosen_columns(["6r"])[0], tasks=("1", "4"))
    for task in ("1", "2", "4"):
        add(store, task, result(0, 8.0))
    for number in range(10):
        store.add(record(setting_of(QA_1K, other, "1"), result(number, 2.0)))
    table = build_table(store, QA_1K, columns=[COLUMN, other], tasks=["1", "2", "4"])
    assert [(column.tried, column.planned) for column in table.columns] == [(3, 30), (10, 20)]
    assert table.averages == ("average (3 tasks)",), "it does not narrow what the others are compared on"
    assert "6r: `deep`, 10 (tasks 1, 4 alone)" in to_markdown(table)


def test_only_the_planned_restarts_are_used_however_many_there_are(store: ResultStore) -> None:
    for number in range(12):
        # The best on development comes after the planned ones.
        add(store, "1", result(number, 8.0, dev_error=20.0 - number))
    cell = cells_of(store)["1"]
    assert (cell.restarts, cell.chosen, cell.tried, cell.planned) == (10, 9, 10, 10)
    assert table_of(store).columns[0].unused == 2
    assert "not used here, because there are more than planned" in to_markdown(table_of(store))
    assert cells_of(store, restarts=12)["1"].chosen == 11
    add(store, "2", result(11, 1.0))
    assert "2" not in cells_of(store), "a restart beyond the plan does not stand in for a missing one"


def test_a_cell_says_how_many_restarts_are_missing(store: ResultStore) -> None:
    add(store, "1", result(0, 8.0))
    add(store, "2", result(0, 8.0))
    add(store, "2", result(1, 8.0))
    text = to_markdown(table_of(store))
    assert "| 1 | 0.0 | 8.0 (1 of 10) |" in text
    assert "| 2 | 0.7 | 8.0 (8.0 ± 0.0, 2 of 10) |" in text
    assert "“1 of 3”: one so far, three are planned" in text
    assert "2r 3 of 200; together 3" in text


def test_other_recipes_do_not_get_into_the_table(store: ResultStore) -> None:
    other = Variation("other", changes={"split": "question", "l2": 0.9})
    add(store, "1", result(0, 1.0), setup=other.setup("2r"))
    assert cells_of(store) == {}
    assert table_of(store).columns[0].unused == 1


def test_other_code_is_marked_and_mixed_only_if_asked(store: ResultStore) -> None:
    later = origin((5.0,), commit="later", date="2026-03-01T00:00:00")
    add(store, "1", result(0, 1.0, 0.0))
    add(store, "1", result(1, 2.0, 9.0), later)
    add(store, "2", result(0, 3.0))
    cells = cells_of(store)
    assert (cells["1"].error, cells["1"].restarts) == (2.0, 1)
    assert cells["2"].marks == ("†",)
    assert table_of(store).notes[0].startswith("† computed by code that gives other numbers")
    mixed = cells_of(store, mix=True)["1"]
    assert (mixed.error, mixed.restarts, mixed.marks) == (1.0, 2, ("†",))


def test_data_that_is_not_the_published_one_is_marked_everywhere(store: ResultStore) -> None:
    note = "task 3: trained on 1925 published and 8075 generated questions"
    add(store, "3", result(0, 0.4), note=note)
    table = table_of(store)
    assert table.columns[0].measured["3"].marks == ("†",)
    assert note in to_markdown(table)


def test_averages_with_and_without_task_3_at_10k(store: ResultStore) -> None:
    experiment = EXPERIMENTS["qa-10k"]
    column = experiment.chosen_columns(["2r"])[0]
    for task in experiment.tasks:
        entry = replace(result(0, 1.0), errors={"answer": {task: 39.0 if task == "3" else 1.0}})
        store.add(record(setting_of(experiment, column, task), entry))
    summaries = build_table(store, experiment, columns=[column]).columns[0].summaries
    assert summaries["average"].average == pytest.approx(2.9)
    assert summaries["average"].published_average == 4.6
    assert summaries["average without task 3"].average == pytest.approx(1.0)
    assert summaries["average without task 3"].published_average == pytest.approx(4.8158, abs=1e-3)


def test_dialogs_are_counted_in_three_ways_and_only_one_is_the_paper_s(store: ResultStore) -> None:
    experiment = EXPERIMENTS["dialog"]
    column = experiment.chosen_columns(["2r"])[0]
    errors = {
        measure: {"3": 10.0 + number, "3-OOV": 20.0 + number} for number, measure in enumerate(experiment.measures)
    }
    store.add(record(setting_of(experiment, column, "3"), replace(result(0, 1.0), errors=errors)))
    table = build_table(store, experiment, columns=[column])
    assert [shown.measured["3-OOV"].error for shown in table.columns] == [20.0, 21.0, 22.0]
    assert [shown.published.get("3-OOV") for shown in table.columns] == [12.4, None, None]
    text = to_markdown(table)
    assert text.count("| 3-OOV |") == 3
    assert text.count("2r paper") == 1
    assert "errors counted exact match" in text
    assert "failed" not in text
    assert "chosen on the published development dialogs" in text


def test_of_several_recipes_a_cell_takes_the_best_on_development(store: ResultStore) -> None:
    recipes = RECIPES["adam-10k"], RECIPES["wide-10k"]
    column = Column("6r200", recipes, restarts=3)
    experiment = replace(EXPERIMENTS["qa-10k"], columns=(column,))
    dev_errors = {("1", "adam-10k"): 3.0, ("1", "wide-10k"): 2.0, ("2", "adam-10k"): 1.0, ("2", "wide-10k"): 4.0}
    for (task, name), dev_error in dev_errors.items():
        # The one that is worse on development is better on the test: that must not matter.
        entry = replace(result(0, 0.0), dev_error=dev_error, errors={"answer": {task: 50.0 - dev_error}})
        where = origin((float(ord(name[0])), 1.0))
        store.add(record(setting_of(experiment, column, task, RECIPES[name]), entry, where))
    table = build_table(store, experiment)
    measured = table.columns[0].measured
    assert {row: (cell.recipe, cell.error) for row, cell in measured.items()} == {
        "1": ("wide-10k", 48.0),
        "2": ("adam-10k", 49.0),
    }
    assert all(not cell.marks and (cell.tried, cell.planned) == (2, 6) for cell in measured.values())
    text = to_markdown(table)
    assert "6r200: `adam-10k` or `wide-10k`, 3 (of several, each cell takes the one that does best" in text
    assert "48.0 (1; 2 of 6 tried)" in text
    assert "Restarts tried in all recipes and tasks: 6r200 4 of 120; together 4." in text
    only = build_table(store, experiment, recipe=RECIPES["adam-10k"]).columns[0].measured
    assert (only["1"].error, only["1"].planned) == (47.0, 3)


def test_a_joint_network_fills_a_column(store: ResultStore) -> None:
    column = QA_1K.chosen_columns(["6r200"])[0]
    assert column.name == "6r200 joint"
    entry = replace(result(0, 1.0), errors={"answer": {task: float(task) for task in QA_1K.tasks}})
    store.add(record(setting_of(QA_1K, column, "all"), entry))
    shown = build_table(store, QA_1K, columns=[column]).columns[0]
    assert {row: cell.error for row, cell in shown.measured.items()} == {task: float(task) for task in QA_1K.tasks}
    assert (shown.tried, shown.planned) == (1, 3)


def test_controls_stand_in_the_table_once_they_are_measured(
    store: ResultStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    control = Column("gru", (RECIPES["original"],), 1, control=True)
    experiment = replace(QA_1K, controls=(control,))
    assert "gru" not in [column.name for column in build_table(store, experiment).columns]
    store.add(record(setting_of(experiment, control, "1"), result(0, 60.0)))
    table = build_table(store, experiment)
    assert table.columns[-1].control
    text = to_markdown(table)
    assert "| gru |" in text
    assert "gru paper" not in text
    assert "| 60.0 (1) |" in text


def test_the_time_of_all_trials_is_added_up(store: ResultStore) -> None:
    for task in ("1", "2"):
        add(store, task, replace(result(0, 1.0), seconds=100.0))
        add(store, task, replace(result(1, 1.0), seconds=300.0))
    assert "summed over tasks: 2r 10 min." in to_markdown(table_of(store))


def test_a_system_of_some_tasks_is_pictured_by_the_average_and_the_time_of_those(
    store: ResultStore, tmp_path: Path
) -> None:
    experiment = replace(
        QA_1K,
        systems=True,
        averaged={"average": QA_1K.tasks, "average of tasks 1-2": ("1", "2")},
        pictured="average of tasks 1-2",
    )
    for task in ("1", "2", "3"):
        for number in (0, 1):
            add(store, task, replace(result(number, 1.0), seconds=100.0))
    table = build_table(store, experiment, columns=experiment.chosen_columns(["2r"]), restarts=2)
    (column,) = table.columns
    assert column.minutes_of_one() == 2.5
    assert column.minutes_of_one(("1", "2")) == pytest.approx(100 / 60)
    assert column.summaries["average"].average is None
    assert dots_of(table) == [Dot("2r", 1.6667, 1.0, 1.0)]
    picture = next(path for path in write_report(table, tmp_path) if path.suffix == ".svg").read_text(encoding="utf-8")
    assert drawn_from(picture) == [asdict(dot) for dot in dots_of(table)]
    assert "average error of tasks 1-2, percent" in picture
    assert not dots_of(replace(table, pictured="average"))
    assert not dots_of(replace(table, systems=False))


def test_other_models_are_named_as_the_paper_has_them(store: ResultStore) -> None:
    text = to_markdown(build_table(store, QA_1K))
    assert "N2N 15.2 (10 failed)" in text
    assert "LSTM 51.3 (20 failed)" in text
    dialog = to_markdown(build_table(store, EXPERIMENTS["dialog"]))
    assert "by exact match" in dialog
    assert "GMemN2N+ 5.4, 10.3 with names never seen" in dialog


def test_a_misprint_of_the_paper_is_pointed_out(store: ResultStore) -> None:
    assert build_table(store, QA_1K).notes == ()
    store.add(record(setting_of(QA_1K, QA_1K.columns[0], "1"), result(0, 0.0)))
    assert build_table(store, QA_1K).notes == ("The paper prints 20.1 as average of 1r; its rows give 20.9.",)
