from __future__ import annotations

import json
import multiprocessing
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from query_reduction_lab.experiments.probe import Fingerprint
from query_reduction_lab.experiments.settings import (
    Origin,
    Processor,
    Setting,
    same_setup,
    setup_from_json,
    setup_to_json,
)
from query_reduction_lab.experiments.store import ResultStore

from query_reduction.errors import InputError

from .conftest import origin, record, result, small_fingerprint, small_setting, small_setup


def only_file(store: ResultStore) -> Path:
    (path,) = store.folder.rglob("*.jsonl")
    return path


def test_what_is_added_is_found_again(store: ResultStore) -> None:
    setting = small_setting()
    for number in range(3):
        store.add(record(setting, result(number, 10.0 * number)))
    found = ResultStore(store.folder).find(setting)
    assert found is not None
    assert found.setting == setting
    assert [entry.errors["answer"]["1"] for entry in found.of_code(small_fingerprint()).values()] == [0.0, 10.0, 20.0]
    assert len({entry.origin for entry in found.records}) == 1


def test_a_result_once_stored_stays(store: ResultStore) -> None:
    setting = small_setting()
    store.add(record(setting, result(0, 1.0)))
    store.add(record(setting, result(0, 99.0), origin(date="2027-01-01")))
    found = store.find(setting)
    assert found is not None
    assert found.of_code(small_fingerprint())[0].errors == {"answer": {"1": 1.0}}


@pytest.mark.parametrize("change", ["data", "network", "recipe", "task options", "task", "column"])
def test_other_data_or_settings_are_kept_apart(store: ResultStore, change: str) -> None:
    setting = small_setting()
    store.add(record(setting, result(0, 1.0)))
    other = {
        "data": replace(setting, data="0" * 64),
        "network": small_setting(forget_bias=1.0),
        "recipe": small_setting(l2=0.5),
        "task options": small_setting(memory=7),
        "task": replace(setting, task="2"),
        "column": replace(setting, column="3r"),
    }[change]
    assert store.find(other) is None


def test_the_number_of_restarts_and_names_decide_nothing(store: ResultStore) -> None:
    setting = small_setting()
    store.add(record(setting, result(0, 1.0)))
    more = replace(small_setting(restarts=50), data_name="elsewhere", recipe_name="other")
    assert store.find(more) is not None
    store.add(record(more, result(1, 2.0)))
    found = store.find(setting)
    assert found is not None
    assert len(found.records) == 2


def test_an_option_added_later_counts_as_not_used() -> None:
    own = small_setup()
    values = setup_to_json(own)
    del values["network"]["tied"], values["recipe"]["clip"], values["recipe"]["split"]
    assert same_setup(own, setup_from_json(values))
    assert not same_setup(small_setup(clip=1.0), setup_from_json(values))
    # Questions were held out one by one before there was a choice, whatever the default is now.
    assert not same_setup(small_setup(split="story"), setup_from_json(values))


def test_lines_with_an_option_that_is_gone_are_kept_and_belong_to_nobody(store: ResultStore) -> None:
    setting = small_setting()
    store.add(record(setting, result(0, 1.0)))
    path = only_file(store)
    path.write_text(path.read_text().replace('"clip": 0.0', '"an_option_that_is_gone": 1'))
    assert store.find(setting) is None
    store.add(record(setting, result(1, 2.0)))
    found = store.find(setting)
    assert found is not None
    assert [entry.result.restart for entry in found.records] == [1]
    assert path.read_text().count('"record": "setup"') == 2
    assert "an_option_that_is_gone" in path.read_text()
    assert path.read_text().count('"record": "result"') == 2


def test_results_of_code_that_computes_otherwise_are_kept_apart(store: ResultStore) -> None:
    setting = small_setting()
    store.add(record(setting, result(0, 1.0)))
    store.add(record(setting, result(0, 7.0), origin((1.5, 2.0), "def", "2026-02-01T00:00:00")))
    found = store.find(setting)
    assert found is not None
    assert found.of_code(small_fingerprint())[0].errors["answer"]["1"] == 1.0
    assert found.of_code(Fingerprint((1.5, 2.0)))[0].errors["answer"]["1"] == 7.0
    assert [entry.commit for entry, _ in found.groups()] == ["def", "abc"]


def test_origins_say_instruction_set_and_kernels(store: ResultStore) -> None:
    where = origin(Fingerprint((1.0,), (2.0, 3.0)), ran_on=Processor("avx2", True))
    assert Origin.from_json(json.loads(json.dumps(where.as_json()))) == where
    older = origin((1.0,))
    assert "native" not in older.as_json()
    assert Origin.from_json(older.as_json()).ran_on == Processor(None, None)
    store.add(replace(record(small_setting(), result(0, 1.0), where), stack=(0, 1, 2)))
    found = store.find(small_setting())
    assert found is not None
    assert (found.records[0].origin, found.records[0].stack) == (where, (0, 1, 2))


def test_settings_survive_json() -> None:
    setting = replace(small_setting(), note="something")
    assert Setting.from_json(json.loads(json.dumps(setting.as_json()))).same_as(setting)


def test_every_line_is_json_small_and_in_its_place(store: ResultStore) -> None:
    for task in ("10", "2"):
        for number in (1, 0):
            store.add(record(replace(small_setting(), task=task), result(number, 1.0)))
    lines = [json.loads(line) for line in only_file(store).read_text().splitlines()]
    assert [line["record"] for line in lines] == ["file", "setup", "data", "data", "origin", *["result"] * 4]
    assert [(line["data"].split(".")[0], line["restart"]) for line in lines[5:]] == [
        ("2", 0),
        ("2", 1),
        ("10", 0),
        ("10", 1),
    ]
    assert all(len(json.dumps(line)) < 1500 for line in lines)
    assert lines[-1]["errors"] == asdict(result(0, 1.0))["errors"]


def test_a_new_result_is_one_new_line(store: ResultStore) -> None:
    store.add(record(small_setting(), result(0, 1.0)))
    before = only_file(store).read_text().splitlines()
    store.add(record(small_setting(), result(1, 1.0)))
    after = only_file(store).read_text().splitlines()
    assert [line for line in after if line not in before] == after[-1:]
    assert len(after) == len(before) + 1


def test_a_last_line_that_was_cut_off_is_left_out(store: ResultStore) -> None:
    for number in range(2):
        store.add(record(small_setting(), result(number, 1.0)))
    path = only_file(store)
    path.write_text(path.read_text()[:-20])
    found = store.find(small_setting())
    assert found is not None
    assert sorted(found.of_code(small_fingerprint())) == [0]
    store.add(record(small_setting(), result(1, 5.0)))
    found = store.find(small_setting())
    assert found is not None
    assert sorted(found.of_code(small_fingerprint())) == [0, 1]


def test_the_lines_of_two_branches_can_be_put_together(store: ResultStore) -> None:
    store.add(record(small_setting(), result(0, 1.0)))
    one = only_file(store).read_text()
    store.add(record(small_setting(), result(1, 1.0)))
    only_file(store).write_text(one + only_file(store).read_text())
    found = store.find(small_setting())
    assert found is not None
    assert sorted(entry.result.restart for entry in found.records) == [0, 1]


@pytest.mark.parametrize(
    "damage",
    [
        "{\n",
        "[]\n",
        '{"record": "file", "format": 9}\n',
        '{"record": "what"}\n',
        '{"record": "file", "format": 2, "table": "t", "column": "c"}\n{"record": "result", "restart": 0}\n',
        "",
    ],
)
def test_a_damaged_file_is_named(store: ResultStore, damage: str) -> None:
    store.add(record(small_setting(), result(0, 1.0)))
    only_file(store).write_text(damage)
    with pytest.raises(InputError, match=r"2r\.jsonl, line \d"):
        store.find(small_setting())


def test_a_result_without_its_origin_is_noticed(store: ResultStore) -> None:
    store.add(record(small_setting(), result(0, 1.0)))
    path = only_file(store)
    lines = path.read_text().splitlines()
    path.write_text("\n".join(line for line in lines if '"record": "origin"' not in line) + "\n")
    with pytest.raises(InputError, match="names origin"):
        store.find(small_setting())


def _add_some(folder: str, first: int) -> None:
    for number in range(first, first + 10):
        ResultStore(Path(folder)).add(record(small_setting(), result(number, 1.0)))


def test_two_sweeps_may_write_at_once(store: ResultStore) -> None:
    small_fingerprint()  # before the fork, so that each process has it
    context = multiprocessing.get_context("fork")
    writers = [context.Process(target=_add_some, args=(str(store.folder), first)) for first in (0, 10)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    found = store.find(small_setting())
    assert found is not None
    assert sorted(found.of_code(small_fingerprint())) == list(range(20))


@settings(max_examples=20)
@given(st.lists(st.text(max_size=8), min_size=4, max_size=4), st.text(alphabet="123456789", min_size=1, max_size=2))
def test_any_text_is_read_as_it_was_written(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str], task: str
) -> None:
    store = ResultStore(tmp_path_factory.mktemp("store"))
    name, data, data_name, note = texts
    setting = Setting("qa-1k", "2r", task, small_setup(), name, data, data_name, note)
    store.add(record(setting, result(0, 1.0)))
    found = store.find(setting)
    assert found is not None
    assert found.setting == setting
