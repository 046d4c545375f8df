"""Names of networks and presets."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from query_reduction.errors import InputError
from query_reduction.qrn.network import QRNConfig, parse_variant, variant_name
from query_reduction.rivals.registry import name_of, resolve
from query_reduction.training.presets import PRESETS, NetworkChanges, ReadingChanges, preset
from query_reduction.training.recipes import Recipe


@pytest.mark.parametrize("name", ["1r", "2", "2r", "3r", "6r", "2rv", "6r200", "2r100"])
def test_variants_of_the_paper(name: str) -> None:
    config = resolve(name)
    assert name_of(config) == name
    assert config.layers == int(name[0])
    assert config.reset_gate == ("r" in name)
    assert config.vector_gates == ("v" in name)


@given(st.integers(1, 64), st.booleans(), st.booleans(), st.integers(1, 4096))
def test_variant_names_round_trip(layers: int, reset: bool, vector: bool, dimension: int) -> None:
    config = QRNConfig(layers=layers, reset_gate=reset, vector_gates=vector, dimension=dimension)
    assert parse_variant(variant_name(config)) == config


@pytest.mark.parametrize("name", ["", "r", "0r", "2x", "2vr", "r2", "-1", "2r99999", "qrn", "2r+", "2rc"])
def test_wrong_names(name: str) -> None:
    with pytest.raises(InputError, match=r"no network .* one of .*gru, lstm"):
        resolve(name)


def test_presets_differ_where_paper_and_code_differ() -> None:
    original, paper = PRESETS["original"], PRESETS["paper"]
    assert (original.network, original.reading) == (NetworkChanges(), ReadingChanges())
    assert (QRNConfig().init, QRNConfig().position_length) == ("original", "task")
    assert paper.network == NetworkChanges(init="paper", position_length="sentence")
    assert paper.reading == ReadingChanges(memory=0)
    few = original.recipe(1000, "stories")
    assert (few.l2_counting, few.halve_every, few.keep) == ("per-use", 100, "accuracy")
    few = paper.recipe(1000, "stories")
    assert (few.l2_counting, few.halve_every, few.keep) == ("once", 0, "loss")


@pytest.mark.parametrize("name", ["original", "paper"])
def test_many_questions_have_the_published_settings(name: str) -> None:
    recipe = PRESETS[name].recipe(10_000, "stories")
    assert (recipe.batch, recipe.learning_rate, recipe.l2) == (128, 0.1, 0.0005)
    assert recipe.restarts == (50 if name == "paper" else 10)
    assert PRESETS[name].recipe(4999, "stories").batch == PRESETS[name].recipe(900, "stories").batch == 32


def test_dialogs_have_settings_of_their_own_for_any_number_of_questions() -> None:
    for questions in (1000, 10_000):
        recipe = PRESETS["original"].recipe(questions, "dialogs")
        assert (recipe.batch, recipe.l2, recipe.max_epochs, recipe.restarts) == (32, 0.0003, 50, 10)


def test_adam_depends_on_size_alone() -> None:
    adam = PRESETS["adam"]
    few, many = adam.recipe(1000, "stories"), adam.recipe(10_000, "stories")
    assert (few.optimiser, few.batch, few.l2, few.max_epochs) == ("adam", 32, 0.001, 100)
    assert (many.optimiser, many.batch, many.l2, many.max_epochs) == ("adam", 128, 0.0001, 100)
    assert adam.recipe(1000, "dialogs") == few


def test_wrong_settings() -> None:
    with pytest.raises(InputError, match="no recipe 'orignal'; choose from original, paper, adam"):
        preset("orignal")
    with pytest.raises(InputError, match=r"^batch must be a whole number from 1 to 100000, not 0$"):
        Recipe(batch=0)
    with pytest.raises(InputError, match="solved_epochs"):
        Recipe(solved_epochs=-1)
    with pytest.raises(InputError, match="layers"):
        QRNConfig(layers=0)
