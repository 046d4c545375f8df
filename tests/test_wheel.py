"""The wheel, installed into an empty environment outside the repository, answers a question."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from places import ROOT

pytestmark = pytest.mark.wheel

STORY = "Mary got the milk there.\nJohn went to the office.\nMary went to the garden.\n"


def run(*command: str | Path, folder: Path, text: str = "") -> str:
    """What a command prints; it sees nothing of the repository."""
    hidden = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    done = subprocess.run(
        [str(part) for part in command],
        cwd=folder,
        input=text,
        capture_output=True,
        text=True,
        timeout=1800,
        env=hidden,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def locked(names: set[str]) -> str:
    """The entries of requirements.lock for some packages."""
    plain = {re.sub("[-_.]+", "-", name).lower() for name in names}
    entries = re.finditer(r"^(\S+?)==(?:.*\\\n)+.*\n", (ROOT / "requirements.lock").read_text(), re.MULTILINE)
    return "".join(entry[0] for entry in entries if entry[1] in plain)


@pytest.mark.parametrize(
    ("platform", "expected"),
    [
        ("linux", {"cp312-manylinux_x86_64", "cp312-manylinux_aarch64"}),
        ("macos", {"cp312-macosx_arm64"}),
    ],
)
def test_the_configuration_builds_for_these_machines(platform: str, expected: set[str]) -> None:
    command = [sys.executable, "-m", "cibuildwheel", "--print-build-identifiers", "--platform", platform]
    assert set(run(*command, ROOT, folder=ROOT).split()) == expected


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    # The tools that build it are those of the set-up, which were compared with their checksums.
    build = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation", "--wheel-dir"]
    run(*build, folder, ROOT, folder=folder)
    (made,) = folder.glob("*.whl")
    return made


def test_the_wheel_has_all_parts_and_nothing_else(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    for part in (
        "models/task2.safetensors",
        "serve/page/index.html",
        "explain/trace.css",
        "worlds/words.toml",
        "py.typed",
    ):
        assert f"query_reduction/{part}" in names
    assert any(Path(name).suffix in (".so", ".dylib", ".dll") for name in names), "the kernels were not compiled"
    assert all(name.startswith(("query_reduction/", "query_reduction-")) for name in names)
    # One wheel serves every Python from 3.11 on: the library is loaded at run time, not linked.
    assert "-py3-none-" in wheel.name


def test_an_empty_environment_answers(wheel: Path, tmp_path: Path) -> None:
    place = tmp_path / "empty"
    run(sys.executable, "-m", "venv", place, folder=tmp_path)
    python = place / "bin" / "python"
    install: list[str | Path] = [python, "-m", "pip", "install", "-q", "-c", ROOT / "constraints.txt", wheel]
    report = json.loads(run(*install, "--dry-run", "--report", "-", folder=tmp_path))
    # What it needs, and nothing else, with checksums; then the wheel itself.
    hashed = tmp_path / "needed.lock"
    hashed.write_text(locked({entry["metadata"]["name"] for entry in report["install"]}))
    run(*install[:5], "--no-deps", "--require-hashes", "-r", hashed, folder=tmp_path)
    run(*install, folder=tmp_path)
    where = run(python, "-c", "import query_reduction; print(query_reduction.__file__)", folder=tmp_path)
    assert Path(where.strip()).is_relative_to(place)
    ask = ["ask", "task2", "--story", "-", "--question", "Where is the milk?"]
    assert run(place / "bin" / "qrn", *ask, folder=tmp_path, text=STORY).startswith("garden")
    native = "from query_reduction.native.library import available; print(available())"
    assert run(python, "-c", native, folder=tmp_path).strip() == "True"
    installed = {path.name for path in place.glob("lib/*/site-packages/*")}
    assert "numpy" in installed
    assert not installed & {"torch", "jaxtyping", "fastapi", "matplotlib"}
    assert size_of(place, without=("numpy", "pip", "pkg_resources", "setuptools", "_distutils_hack")) <= 60_000_000


def size_of(place: Path, without: tuple[str, ...]) -> int:
    """Bytes of what is installed in an environment, without some packages."""
    parts = [part for part in place.glob("lib/*/site-packages/*") if not part.name.startswith(without)]
    files = [file for part in parts for file in ([part] if part.is_file() else part.rglob("*"))]
    return sum(file.stat().st_size for file in files if file.is_file())
