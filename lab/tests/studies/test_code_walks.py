"""Counting what a command passes, and the lines of a package."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from types import ModuleType

import pytest
from places import ROOT
from query_reduction_lab.studies import lines, walks

RESULTS = ROOT / "results"
ONE = "from two import twice, steps\ndef begin():\n    return [twice(each) for each in steps()]\n"
TWO = "def twice(number):\n    return 2 * number\ndef steps():\n    yield 1\n    yield 2\n"


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    (tmp_path / "one.py").write_text(ONE)
    (tmp_path / "two.py").write_text(TWO)
    monkeypatch.syspath_prepend(tmp_path)
    spec = importlib.util.spec_from_file_location("one", tmp_path / "one.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_walk_counts_files_functions_calls_and_changes(package: ModuleType, tmp_path: Path) -> None:
    with walks.Tracer(tmp_path) as tracer:
        assert package.begin() == [2, 4]
    # Called: begin; steps three times, as it ends as well; twice two times. The comprehension does not count.
    assert tracer.figures() == {"files": 2, "functions": 3, "calls": 6, "changes": 2}
    with walks.Tracer(tmp_path / "elsewhere") as tracer:
        package.begin()
    assert set(tracer.figures().values()) == {0}


def test_lines_are_counted_by_house_and_package(tmp_path: Path) -> None:
    for name, count in (
        ("src/query_reduction/model.py", 3),
        ("src/query_reduction/serve/page/page.js", 4),
        ("src/query_reduction/experiments/store.py", 5),
        ("lab/query_reduction_lab/bench/run.py", 6),
        ("studies/lock.py", 7),
        ("tests/test_model.py", 8),
    ):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n" * count)
    assert lines.count(tmp_path) == {
        "library": {"root": 3, "serve": 4},
        "laboratory": {"bench": 6, "experiments": 5, "studies": 7},
    }


@pytest.mark.parametrize("study", [walks, lines])
def test_what_is_published_is_what_was_counted(study: ModuleType) -> None:
    name = study.__name__.rpartition(".")[2]
    content = json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))
    assert (RESULTS / f"{name}.md").read_text(encoding="utf-8") == study.table(content[name])
