"""Every implementation of reading gives what reading.json says: Python, and the scripts of an exported page."""

from __future__ import annotations

import json
import shutil
import subprocess
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from vectors import CASES, FILE, MODELS, READING, TRAINED, expected

from query_reduction.export.page import SCRIPTS, model_values

NEAR = 1e-4
VECTORS: list[dict[str, Any]] = json.loads(FILE.read_text(encoding="utf-8"))


def _agree(found: dict[str, Any], vector: dict[str, Any]) -> None:
    wanted = vector["expected"]
    about = f"{vector['model']}: {vector['story']} {vector['question']}"
    for name in READING:
        assert found[name] == wanted[name], (name, about)
    if vector["model"] not in TRAINED:
        return
    assert found["answer"] == wanted["answer"], about
    assert found["doubts"] == wanted["doubts"], about
    assert [one["probability"] for one in found["ranked"]] == pytest.approx(
        [one["probability"] for one in wanted["ranked"]], abs=NEAR
    ), about
    assert found["shares"] == pytest.approx(wanted["shares"], abs=NEAR), about
    for layer, gates in zip(found["gates"], wanted["gates"], strict=True):
        for name, values in gates.items():
            assert layer[name] == pytest.approx(values, abs=NEAR), (name, about)


def test_the_file_has_every_case() -> None:
    assert [(one["model"], one["story"], one["question"]) for one in VECTORS] == CASES


@pytest.mark.parametrize("name", MODELS)
def test_python(name: str) -> None:
    model = MODELS[name]()
    for vector in VECTORS:
        if vector["model"] == name:
            found = expected(model, vector["story"], vector["question"], numbers=name in TRAINED)
            _agree(found, vector)


@pytest.mark.skipif(shutil.which("node") is None, reason="the page's scripts run in node, which is not installed")
def test_the_scripts_of_a_page() -> None:
    runs = [
        {
            "model": model_values(make()),
            "questions": [[one["story"], one["question"]] for one in VECTORS if one["model"] == name],
        }
        for name, make in MODELS.items()
    ]
    folder = files("query_reduction.export").joinpath("web")
    scripts = [folder.joinpath(f"{name}.js").read_text(encoding="utf-8") for name in SCRIPTS if name != "view"]
    command = ["node", str(Path(__file__).with_name("run_scripts.js"))]
    done = subprocess.run(command, input=json.dumps([scripts, runs]), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    for (name, _), answers in zip(MODELS.items(), json.loads(done.stdout), strict=True):
        for found, vector in zip(answers, (one for one in VECTORS if one["model"] == name), strict=True):
            _agree({**found, "gates": [layer["gates"] for layer in found["layers"]]}, vector)
