from __future__ import annotations

import json
import multiprocessing
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from query_reduction.errors import InputError
from query_reduction.experiments.probe import agree, probe
from query_reduction.experiments.store import ResultStore

from .conftest import origin, result, small_probe, small_setting


def test_what_is_added_is_found_again(store: ResultStore) -> None:
    setting = small_setting()
    for number in range(3):
        store.add(setting, result(number, 10.0 * number), origin())
    found = ResultStore(store.folder).find(setting)
    assert found is not None
    assert [entry.errors["answer"]["1"] for entry in found.of_code(small_probe()).values()] == [0.0, 10.0, 20.0]
    assert len(found.origins) == 1
    assert found.path.stat().st_size < 1000 * 3 + 2000


def test_a_result_once_stored_stays(store: ResultStore) -> None:
    setting = small_setting()
    store.add(setting, result(0, 1.0), origin())
    store.add(setting, result(0, 99.0), origin(date="2027-01-01"))
    found = store.find(setting)
    assert found is not None
    assert found.of_code(small_probe())[0].errors == {"answer": {"1": 1.0}}


@pytest.mark.parametrize("change", ["data", "model", "recipe", "task"])
def test_other_data_or_settings_are_kept_apart(store: ResultStore, change: str) -> None:
    setting = small_setting()
    store.add(setting, result(0, 1.0), origin())
    other = {
        "data": replace(setting, data="0" * 64),
        "model": replace(setting, model=replace(setting.model, forget_bias=1.0)),
        "recipe": replace(setting, recipe=replace(setting.recipe, l2=0.5)),
        "task": replace(setting, task="2"),
    }[change]
    assert store.find(other) is None


def test_the_number_of_restarts_and_the_name_of_the_data_decide_nothing(store: ResultStore) -> None:
    setting = small_setting()
    store.add(setting, result(0, 1.0), origin())
    more = replace(setting, recipe=replace(setting.recipe, restarts=50), data_name="elsewhere")
    assert store.find(more) is not None


def test_an_option_added_later_counts_as_not_used(store: ResultStore) -> None:
    setting = small_setting()
    stored = setting.as_json()
    del stored["model"]["tied"]
    assert setting.same_as(stored)
    assert not replace(setting, model=replace(setting.model, tied=False)).same_as(stored)
    stored["recipe"]["an_option_that_is_gone"] = 1
    assert not setting.same_as(stored)


def test_results_of_code_that_computes_otherwise_are_kept_apart(store: ResultStore) -> None:
    setting = small_setting()
    store.add(setting, result(0, 1.0), origin())
    store.add(setting, result(0, 7.0), origin(probe=(1.5, 2.0), date="2026-02-01T00:00:00", commit="def"))
    found = store.find(setting)
    assert found is not None
    assert found.of_code(small_probe())[0].errors["answer"]["1"] == 1.0
    assert found.of_code((1.5, 2.0))[0].errors["answer"]["1"] == 7.0
    assert [entry.commit for entry, _ in found.groups()] == ["def", "abc"]


@pytest.mark.parametrize("damage", ["{", "[]", '{"format": 9}', '{"format": 1, "setting": {}, "origins": []}'])
def test_a_damaged_file_is_named(store: ResultStore, damage: str) -> None:
    setting = small_setting()
    store.add(setting, result(0, 1.0), origin())
    path = next(store.folder.rglob("*.json"))
    path.write_text(damage)
    with pytest.raises(InputError, match="task-1"):
        store.find(setting)


def _add_some(folder: str, first: int) -> None:
    for number in range(first, first + 10):
        ResultStore(Path(folder)).add(small_setting(), result(number, 1.0), origin())


def test_two_sweeps_may_write_at_once(store: ResultStore) -> None:
    context = multiprocessing.get_context("fork")
    writers = [context.Process(target=_add_some, args=(str(store.folder), first)) for first in (0, 10)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    found = store.find(small_setting())
    assert found is not None
    assert sorted(found.of_code(small_probe())) == list(range(20))


def test_every_line_is_json_and_small(store: ResultStore) -> None:
    store.add(small_setting(), result(0, 1.0), origin())
    path = next(store.folder.rglob("*.json"))
    assert json.loads(path.read_text())["results"][0]["restart"] == 0
    assert all(len(line) < 1500 for line in path.read_text().splitlines())


def test_the_probe_sees_what_changes_numbers() -> None:
    setting = small_setting()
    own = probe(setting.model, setting.recipe)
    assert own == probe(setting.model, setting.recipe)
    changes = [
        (replace(setting.model, forget_bias=2.0), setting.recipe),
        (replace(setting.model, init="paper"), setting.recipe),
        (replace(setting.model, position_length="sentence"), setting.recipe),
        (setting.model, replace(setting.recipe, accumulator=0.2)),
        (setting.model, replace(setting.recipe, halve_every=0)),
        (setting.model, replace(setting.recipe, seed=1)),
    ]
    for model, recipe in changes:
        assert not agree(own, probe(model, recipe)), (model, recipe)


@given(st.lists(st.floats(0.01, 10), min_size=1, max_size=5), st.floats(-5e-5, 5e-5))
def test_probes_agree_up_to_rounding(numbers: list[float], rounding: float) -> None:
    assert agree(numbers, [number * (1 + rounding) for number in numbers])
    assert not agree(numbers, [number + 0.5 for number in numbers])
    assert not agree(numbers, [*numbers, 1.0])
