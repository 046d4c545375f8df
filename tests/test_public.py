"""What others import: names exist, lists are sorted, and the package says it is typed."""

from __future__ import annotations

import importlib
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch

import query_reduction
from query_reduction.errors import InputError
from query_reduction.model import StoryModel
from query_reduction.recurrence.scan import scan

EXTRAS = {
    *("accelerated_scan", "jax", "mambapy", "numba", "torchlpc"),
    *("fastapi", "starlette", "uvicorn"),
    *("matplotlib", "ray"),
}
"""What the optional extras install; nothing else may be missing."""
MODULES = [name for _, name, _ in pkgutil.walk_packages(query_reduction.__path__, "query_reduction.")]


@pytest.mark.parametrize("name", [name for name in MODULES if not name.endswith(("__main__", "._native"))])
def test_all_is_sorted_and_true(name: str) -> None:
    try:
        module = importlib.import_module(name)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in EXTRAS:
            raise
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
    assert set(query_reduction.__all__) <= set(dir(query_reduction))
    assert (Path(query_reduction.__file__).parent / "py.typed").exists()


def test_the_recurrence_alone() -> None:
    """The function has the name of its package: it must stay callable however often and however it is imported."""
    z, v = torch.rand(2, 5, 1), torch.rand(2, 5, 3)
    expected = scan(z, v, backend="loop")
    for _ in range(2):
        torch.testing.assert_close(query_reduction.scan(z, v, reverse=False), expected)
    code = (
        "import torch, query_reduction as qr; z = torch.rand(1, 2, 1); print(qr.scan(z, z).shape, qr.scan(z, z).shape)"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert said == "torch.Size([1, 2, 1]) torch.Size([1, 2, 1])\n"


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> StoryModel:
    from query_reduction.cli import main

    folder = tmp_path_factory.mktemp("runs") / "model"
    quick = ["--restarts", "2", "--max-epochs", "40", "--network", "2r20"]
    assert main(["train", "--task", "1", "--questions", "300", "--out", str(folder), *quick]) == 0
    model = query_reduction.load(folder)
    assert isinstance(model, StoryModel)
    return model


def test_answer(model: StoryModel) -> None:
    answer = model.answer(["Mary went to the garden.", "John moved to the office."], "Where is Mary?")
    assert answer.text == "garden"
    assert answer.confidence > 0.5
    assert answer.confidence + sum(p for _, p in answer.runners_up) <= 1 + 1e-6
    assert answer.unknown_words == ()


def test_many_answers_are_the_single_ones(model: StoryModel) -> None:
    asked = [
        (["Mary went to the garden."], "Where is Mary?"),
        (["Mary went to the garden.", "Mary moved to the office.", "xyzzy plugh"], "Where is Mary?"),
    ]
    together = model.answer_many(asked)
    for pair, answer in zip(asked, together, strict=True):
        alone = model.answer(*pair)
        assert alone.text == answer.text
        assert alone.confidence == pytest.approx(answer.confidence, abs=1e-5)
    assert together[1].unknown_words == ("xyzzy", "plugh")
    assert model.answer_many([]) == []


def test_wrong_calls(model: StoryModel) -> None:
    with pytest.raises(InputError, match=r"^story: it has no sentences"):
        model.answer("", "Where is Mary?")
    with pytest.raises(InputError, match=r"^story: it has no sentences"):
        model.answer([], "Where is Mary?")
    with pytest.raises(InputError, match=r"^question: it is empty"):
        model.answer(["Mary left."], " ")
