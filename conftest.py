"""What all tests share: small stories, the place of the real data, shape checks on the network."""

from __future__ import annotations

import builtins
import os
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).parent / "tests"))  # the checker of shapes is loaded before pytest sets its path

# As the command line does, and before PyTorch is loaded.
os.environ.setdefault("GOMP_SPINCOUNT", "10000")

import jaxtyping
import pytest
import torch
from hypothesis import settings
from jaxtyping import install_import_hook

from query_reduction.native import threads

# On a busy machine waiting for each other costs threads more than all the tests.
threads.use_threads(1)
torch.set_num_threads(1)

# How long an example takes says more about what else the machine does than about the code.
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")

if TYPE_CHECKING:
    from playwright.sync_api import Browser

CHROMIUM = os.environ.get("QRN_CHROMIUM", "/usr/bin/chromium")

# Shapes are types: every call into the networks is checked in tests and costs nothing elsewhere. Models in use do not
# even import jaxtyping, which takes as long as NumPy: what their annotations mean is said here.
for name in ("Bool", "Float", "Int"):
    setattr(builtins, name, getattr(jaxtyping, name))
_CHECKED = [
    *(f"query_reduction.{name}" for name in ("encoders", "heads", "network", "qrn", "rivals", "stacked", "text.batch")),
    "query_reduction_lab.rivals",
]
with install_import_hook(_CHECKED, "shape_checks.check"):
    from query_reduction.rivals.registry import kinds

    kinds()
    import_module("query_reduction.qrn.fused")  # loaded when a network is built

from places import REAL_DATA

from query_reduction.model_file import save_model
from query_reduction.sources.dialogs import generated_dialogs
from query_reduction.training.run import Run, best_restart, train_to_end, trained_model
from query_reduction.training.setup import setup
from query_reduction.worlds.dialogs import knowledge_rows


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """A real browser: Debian's chromium, or the one that QRN_CHROMIUM names. There can be one only in a process."""
    from playwright.sync_api import expect, sync_playwright

    if not Path(CHROMIUM).exists():
        pytest.skip(f"no chromium at {CHROMIUM}")
    expect.set_options(timeout=60_000)
    arguments = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking"]
    with sync_playwright() as running:
        browser = running.chromium.launch(executable_path=CHROMIUM, args=arguments)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def real_babi() -> Path:
    folder = REAL_DATA / "babi"
    if not folder.is_dir():
        pytest.skip(f"the published bAbI files are not at {folder}")
    return folder


@pytest.fixture
def story_file(tmp_path: Path) -> Path:
    path = tmp_path / "qa2_two_train.txt"
    path.write_text(
        "1 Mary got the milk.\n"
        "2 Mary went to the garden.\n"
        "3 Where is the milk?\tgarden\t1 2\n"
        "4 John went to the office.\n"
        "5 Where is John?\toffice\t4\n"
        "1 John took the apple.\n"
        "2 Where is the apple? \tnowhere,yet\n",
        encoding="utf-8",
    )
    return path


@pytest.fixture(scope="session")
def booking_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that has learned to book a table from generated dialogs; places of the other continents are new to it."""
    changes = {"restarts": 2, "max_epochs": 14, "evaluate_every": 2, "seed": 1}
    run = Run(generated_dialogs([5], 120, 0), setup("2rc", kind="dialogs", changes=changes))
    train_to_end(run)
    path = tmp_path_factory.mktemp("models") / "booking.safetensors"
    save_model(path, trained_model(run, best_restart(run)))
    return path


@pytest.fixture(scope="session")
def knowledge_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("knowledge") / "kb.txt"
    path.write_text("".join(f"1 {subject} {relation}\t{value}\n" for subject, relation, value in knowledge_rows()))
    return path


@pytest.fixture
def any_threads() -> Iterator[None]:
    """For tests that change the number of threads: what it was before is restored."""
    before, chosen = torch.get_num_threads(), threads._chosen
    yield
    torch.set_num_threads(before)
    threads._chosen = chosen
