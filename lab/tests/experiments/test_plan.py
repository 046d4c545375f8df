"""The plan of the tables, and what is stored for it."""

from __future__ import annotations

from dataclasses import asdict

import pytest
from places import ROOT
from query_reduction_lab.experiments.catalogue import EXPERIMENTS
from query_reduction_lab.experiments.plan import Column
from query_reduction_lab.experiments.report import to_markdown
from query_reduction_lab.experiments.report_picture import dots_of
from query_reduction_lab.experiments.settings import same_setup
from query_reduction_lab.experiments.store import ResultStore
from query_reduction_lab.experiments.table_builder import build_table
from query_reduction_lab.experiments.table_recipes import RECIPES
from query_reduction_lab.pictures import drawn_from

from query_reduction.errors import InputError
from query_reduction.rivals.registry import kinds

RESULTS = ROOT / "results"
STORE = ResultStore(RESULTS / "store")
PLANNED = [
    pytest.param(name, column, recipe, id=f"{name} {column.name} {recipe.name}")
    for name, experiment in EXPERIMENTS.items()
    for column in experiment.columns
    for recipe in column.recipes
]


@pytest.mark.parametrize(("table", "column", "recipe"), PLANNED)
def test_stored_results_are_those_of_the_plan(table: str, column: Column, recipe: object) -> None:
    """A recipe whose settings change by mistake would lose its results."""
    stored_settings = STORE.settings(column.stored or table, column.name)
    names = {
        stored.setting.recipe_name
        for stored in stored_settings
        if same_setup(stored.setting.setup, recipe.setup(column.network))  # type: ignore[attr-defined]
    }
    # Of a column that is planned but not measured, there is nothing to lose.
    assert names == ({recipe.name} if stored_settings else set())  # type: ignore[attr-defined]


@pytest.mark.parametrize("table", EXPERIMENTS)
def test_the_committed_markdown_is_what_the_store_gives(table: str) -> None:
    built, path = build_table(STORE, EXPERIMENTS[table]), RESULTS / f"{table}.md"
    if not any(column.measured for column in built.columns):
        assert not path.exists(), "a table of which nothing is measured"
        return
    again = f"write it again with  qrn reproduce {table} --report-only"
    assert path.read_text(encoding="utf-8") == to_markdown(built), again
    if dots := dots_of(built):
        assert drawn_from(path.with_suffix(".svg").read_text(encoding="utf-8")) == [asdict(dot) for dot in dots], again


def test_the_paper_s_columns_hold_questions_out_as_the_original_does_and_all_others_whole_stories() -> None:
    columns = [column for table in EXPERIMENTS.values() for column in (*table.columns, *table.controls)]
    user = {recipe.name: column.network for column in columns for recipe in column.recipes}
    for recipe in RECIPES.values():
        ours = recipe.family in ("best", "joint") or recipe.name.startswith("rival") or recipe.name.endswith("by-story")
        network = user.get(recipe.name, "2r")
        assert recipe.setup(network).recipe.split == ("story" if ours else "question"), recipe.name
    for name in ("qa-1k", "qa-10k"):
        assert "held out question by question as in the original code" in to_markdown(
            build_table(STORE, EXPERIMENTS[name])
        )


def test_every_stored_line_is_readable() -> None:
    for path in STORE.folder.glob("*/*.jsonl"):
        lines = path.read_text(encoding="utf-8").count('"record": "result"')
        table, column = path.parent.name, path.stem.replace("-joint", " joint")
        assert lines == sum(len(stored.records) for stored in STORE.settings(table, column)) > 0


def test_restarts_are_fixed_in_advance_and_the_same_for_all_of_a_table() -> None:
    restarts = {
        name: {column.name: column.restarts for column in experiment.columns}
        for name, experiment in EXPERIMENTS.items()
    }
    assert set(restarts["qa-10k"].values()) == set(restarts["dialog"].values()) == {3}
    assert restarts["qa-1k"].pop("6r200 joint") == restarts["qa-1k"].pop("best joint") == 3
    assert set(restarts["qa-1k"].values()) == {10}


def test_columns_by_name() -> None:
    experiment = EXPERIMENTS["qa-1k"]
    assert [column.name for column in experiment.chosen_columns(["6r200", "2r", "6r200 joint"])] == [
        "6r200 joint",
        "2r",
    ]
    with pytest.raises(InputError, match="has no variant '9r'; it has"):
        experiment.chosen_columns(["9r"])


def test_controls_can_be_asked_for_once_their_networks_are_there(monkeypatch: pytest.MonkeyPatch) -> None:
    experiment = EXPERIMENTS["qa-1k"]
    registered = kinds()
    monkeypatch.setattr(
        "query_reduction_lab.experiments.plan.kinds",
        lambda: {name: kind for name, kind in registered.items() if name != "majority"},
    )
    with pytest.raises(InputError, match="has no variant 'majority'"):
        experiment.chosen_columns(["majority"])
    controls = [column.network for column in experiment.controls]
    assert controls == ["majority", "question-only", "story-only", "bag-of-words"]
    monkeypatch.setattr(
        "query_reduction_lab.experiments.plan.kinds", lambda: registered | dict.fromkeys(controls, registered["gru"])
    )
    assert [column.name for column in experiment.chosen_columns(["controls"])] == controls
    assert [column.restarts for column in experiment.chosen_columns(["controls"])] == [1, 10, 10, 10]
    assert [column.name for column in experiment.chosen_columns()][-4:] == controls
