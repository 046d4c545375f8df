"""What others import: names exist, lists are sorted, and the package says it is typed."""

from __future__ import annotations

import importlib
import pkgutil
from pathlib import Path

import pytest

import query_reduction
from query_reduction.errors import InputError
from query_reduction.model import Reader

MODULES = [name for _, name, _ in pkgutil.walk_packages(query_reduction.__path__, "query_reduction.")]


@pytest.mark.parametrize("name", [name for name in MODULES if not name.endswith(("__main__", "._native"))])
def test_all_is_sorted_and_true(name: str) -> None:
    try:
        module = importlib.import_module(name)
    except ImportError as error:
        pytest.skip(f"{name} needs an extra: {error}")
    listed = getattr(module, "__all__", [])
    assert list(listed) == sorted(listed, key=lambda n: (not n.isupper(), not n[:1].isupper(), n))
    for exported in listed:
        assert hasattr(module, exported)


def test_top_level_names() -> None:
    for name in query_reduction.__all__:
        assert getattr(query_reduction, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'lod'"):
        _ = query_reduction.lod
    assert (Path(query_reduction.__file__).parent / "py.typed").exists()


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Reader:
    from query_reduction.cli import main

    folder = tmp_path_factory.mktemp("runs") / "model"
    quick = ["--restarts", "2", "--max-epochs", "40", "--variant", "2r20"]
    assert main(["train", "--task", "1", "--questions", "300", "--out", str(folder), *quick]) == 0
    return query_reduction.load(folder)


def test_answer(reader: Reader) -> None:
    answer = reader.answer(["Mary went to the garden.", "John moved to the office."], "Where is Mary?")
    assert answer.text == "garden"
    assert answer.confidence > 0.5
    assert answer.confidence + sum(p for _, p in answer.runners_up) <= 1 + 1e-6
    assert answer.unknown_words == ()


def test_many_answers_are_the_single_ones(reader: Reader) -> None:
    asked = [
        (["Mary went to the garden."], "Where is Mary?"),
        (["Mary went to the garden.", "Mary moved to the office.", "xyzzy plugh"], "Where is Mary?"),
    ]
    together = reader.answer_many(asked)
    for pair, answer in zip(asked, together, strict=True):
        alone = reader.answer(*pair)
        assert alone.text == answer.text
        assert alone.confidence == pytest.approx(answer.confidence, abs=1e-5)
    assert together[1].unknown_words == ("xyzzy", "plugh")
    assert reader.answer_many([]) == []


def test_wrong_calls(reader: Reader) -> None:
    with pytest.raises(InputError, match="list of sentences"):
        reader.answer("Mary went to the garden.", "Where is Mary?")
    with pytest.raises(InputError, match="no sentences"):
        reader.answer([], "Where is Mary?")
    with pytest.raises(InputError, match="empty"):
        reader.answer(["Mary left."], " ")
