"""The fingerprint changes when numbers do, and only then."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from query_reduction_lab.experiments.catalogue import EXPERIMENTS
from query_reduction_lab.experiments.plan import Column
from query_reduction_lab.experiments.probe import Fingerprint, agree, fingerprint, native_probe, probe, uses_native

from query_reduction.native import library
from query_reduction.qrn.fused import FusedNetwork
from query_reduction.training.setup import setup

from .conftest import small_setup


def test_it_sees_what_changes_numbers() -> None:
    own = probe(small_setup())
    assert own == probe(small_setup())
    for change in (
        {"forget_bias": 2.0},
        {"init": "paper"},
        {"position_length": "sentence"},
        {"accumulator": 0.2},
        {"halve_every": 0},
        {"seed": 1},
    ):
        assert not agree(own, probe(small_setup(**change))), change


@given(st.lists(st.floats(0.01, 10), min_size=1, max_size=5), st.floats(-5e-5, 5e-5))
def test_probes_agree_up_to_rounding(numbers: list[float], rounding: float) -> None:
    assert agree(numbers, [number * (1 + rounding) for number in numbers])
    assert not agree(numbers, [number + 0.5 for number in numbers])
    assert not agree(numbers, [*numbers, 1.0])


@pytest.mark.skipif(not library.available(), reason="the native library was not built")
def test_all_instruction_sets_agree_and_equal_the_plain_code() -> None:
    own = small_setup()
    before = library.variant()
    try:
        for name in ("avx512", "avx2", "baseline"):
            if library.choose_variant(name):
                native_probe.cache_clear()
                found = native_probe(own)
                assert fingerprint(own).agrees(Fingerprint(probe(own), found))
                assert agree(found[: len(probe(own))], probe(own), 1e-6)
                assert len(found) > len(probe(own)), "single precision is covered, too"
    finally:
        library.choose_variant(before)
        native_probe.cache_clear()


@pytest.mark.skipif(not library.available(), reason="the native library was not built")
def test_a_changed_kernel_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """As one that computes its gates a little less exactly would be."""
    own = small_setup()
    right = fingerprint(own)
    native_probe.cache_clear()
    read = FusedNetwork.read

    def coarse(self, *arguments):  # type: ignore[no-untyped-def]
        return read(self, *arguments) * (1.0003 if self.native else 1.0)

    monkeypatch.setattr(FusedNetwork, "read", coarse)
    try:
        assert not right.agrees(Fingerprint(right.plain, native_probe(own)))
    finally:
        native_probe.cache_clear()


def test_native_numbers_count_only_where_both_have_them() -> None:
    old, new, other = Fingerprint((1.0,)), Fingerprint((1.0,), (2.0,)), Fingerprint((1.0,), (2.1,))
    assert old.agrees(new)
    assert new.agrees(old)
    assert not new.agrees(other)
    assert not Fingerprint((1.5,), (2.0,)).agrees(new)


def test_a_network_without_native_code_has_no_native_numbers() -> None:
    assert native_probe(setup("gru")) == ()
    assert len(probe(setup("gru"))) > 0


def test_uses_native_follows_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(library, "available", lambda: False)
    native_probe.cache_clear()
    assert native_probe(small_setup()) == ()
    native_probe.cache_clear()
    assert not uses_native(object.__new__(FusedNetwork))


def test_a_recipe_whose_restarts_train_alone_has_a_fingerprint() -> None:
    together = setup("1r8", "best", changes={"copies": 1})
    alone = setup("1r8", "best", changes={"copies": 1, "focus": 0.5})
    assert probe(alone) and len(probe(alone)) < len(probe(together))


SYSTEMS = {column.network: column for name in ("compare", "compare-10k") for column in EXPERIMENTS[name].columns}


@pytest.mark.parametrize("column", SYSTEMS.values(), ids=SYSTEMS)
def test_every_compared_system_has_a_fingerprint(column: Column) -> None:
    assert probe(column.recipes[0].setup(column.network))
