from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from query_reduction.config import preset
from query_reduction.data.dialog_sources import generated_dialogs
from query_reduction.training.checkpoint import save_model
from query_reduction.training.run import Run, RunSettings
from query_reduction.worlds.dialogs import knowledge_rows


@pytest.fixture(scope="session")
def booking_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that has learned to book a table from generated dialogs; places of the other continents are new to it."""
    model, recipe = preset("dialog", "2rc")
    recipe = replace(recipe, restarts=2, max_epochs=14, evaluate_every=2, seed=1)
    run = Run(generated_dialogs([5], 120, 0), RunSettings(model, recipe, None))
    assert run.train()
    path = tmp_path_factory.mktemp("models") / "booking.safetensors"
    save_model(path, run.model(run.best()))
    return path


@pytest.fixture(scope="session")
def knowledge_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("knowledge") / "kb.txt"
    path.write_text("".join(f"1 {subject} {relation}\t{value}\n" for subject, relation, value in knowledge_rows()))
    return path
