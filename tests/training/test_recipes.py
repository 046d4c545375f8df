"""Names and presets."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from query_reduction.config import PRESETS, ModelConfig, Recipe, parse_variant, preset, variant_name
from query_reduction.errors import InputError


@pytest.mark.parametrize("name", ["1r", "2", "2r", "3r", "6r", "2rv", "6r200", "2r100"])
def test_variants_of_the_paper(name: str) -> None:
    config = parse_variant(name)
    assert variant_name(config) == name
    assert config.layers == int(name[0])
    assert config.reset_gate == ("r" in name)
    assert config.vector_gates == ("v" in name)


@given(st.integers(1, 99), st.booleans(), st.booleans(), st.integers(1, 9999))
def test_variant_names_round_trip(layers: int, reset: bool, vector: bool, dimension: int) -> None:
    config = ModelConfig(layers=layers, reset_gate=reset, vector_gates=vector, dimension=dimension)
    assert parse_variant(variant_name(config)) == config


@pytest.mark.parametrize("name", ["", "r", "0r", "2x", "2vr", "r2", "-1", "2r99999"])
def test_wrong_variants(name: str) -> None:
    with pytest.raises(InputError, match="no variant"):
        parse_variant(name)


def test_presets_differ_where_paper_and_code_differ() -> None:
    original, paper = PRESETS["original"], PRESETS["paper"]
    assert (original[0].init, original[0].position_length, original[0].memory) == ("original", "task", 50)
    assert (paper[0].init, paper[0].position_length, paper[0].memory) == ("paper", "sentence", 0)
    assert (original[1].l2_counting, original[1].halve_every) == ("per-use", 100)
    assert (paper[1].l2_counting, paper[1].halve_every) == ("once", 0)
    for name in ("original-10k", "brief-10k", "paper-10k"):
        recipe = PRESETS[name][1]
        assert (recipe.batch, recipe.learning_rate, recipe.l2) == (128, 0.1, 0.0005)


def test_wrong_settings() -> None:
    with pytest.raises(InputError, match="no preset"):
        preset("orignal")
    with pytest.raises(InputError, match="--batch"):
        Recipe(batch=0)
    with pytest.raises(InputError, match="--solved-epochs"):
        Recipe(solved_epochs=-1)
    with pytest.raises(InputError, match="layers"):
        ModelConfig(layers=0)
