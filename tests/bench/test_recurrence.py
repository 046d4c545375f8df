from __future__ import annotations

import builtins
from collections.abc import Callable
from dataclasses import replace
from types import ModuleType
from typing import Any, Literal

import pytest
import torch

from query_reduction.bench import recurrence
from query_reduction.bench.contenders import Contender, Size, contenders
from query_reduction.bench.recurrence import BOTH, measure_curve, measure_recurrence
from query_reduction.bench.timing import Effort
from query_reduction.scan import scan

_FIELD = contenders(compiled=False)[0]


@pytest.mark.parametrize("contender", _FIELD, ids=lambda contender: contender.name)
@pytest.mark.parametrize("gates", ["vector", "scalar"])
@pytest.mark.parametrize("time", [2, 13])
def test_contenders_agree_with_the_loop(contender: Contender, gates: Literal["vector", "scalar"], time: int) -> None:
    torch.manual_seed(time)
    # Gates near 1 are beyond what log-space can do in single precision.
    z = (0.6 * torch.rand(3, time, 4 if gates == "vector" else 1)).requires_grad_()
    v = torch.randn(3, time, 4, requires_grad=True)
    gradient = torch.randn(3, time, 4)
    right = scan(z, v, backend="loop")
    right_z, right_v = torch.autograd.grad(right, (z, v), gradient)
    own_gates, own_v = contender.inputs(z.detach(), v.detach())
    h = contender.states(own_gates, own_v)
    of_gates, of_v = torch.autograd.grad(h, (own_gates, own_v), contender.arrange(gradient).contiguous())
    torch.testing.assert_close(contender.restore(h), right, rtol=1e-3, atol=1e-4)
    torch.testing.assert_close(contender.gate_gradient(of_gates, z), right_z, rtol=1e-3, atol=1e-4)
    torch.testing.assert_close(contender.restore(of_v), right_v, rtol=1e-3, atol=1e-4)


def test_every_contender_is_timed_or_has_a_reason(tiny: Effort) -> None:
    found = measure_recurrence([Size(2, 5, 3), Size(2, 5, 3, "scalar")], tiny, compiled=False)
    assert [(row["gates"], row["mode"]) for row in found["rows"]] == [
        ("vector", "forward"),
        ("vector", BOTH),
        ("scalar", "forward"),
        ("scalar", BOTH),
    ]
    for row in found["rows"]:
        names = {contender["name"] for contender in row["contenders"]} | set(row["skipped"])
        assert names == {contender.name for contender in _FIELD}
        assert row["contenders"][0]["name"] == row["base"]
        for contender in row["contenders"]:
            assert set(contender) == {"name", "threads", "rounds", "seconds", "ratio"}
            assert contender["seconds"]["median"] > 0


def test_a_contender_that_computes_something_else_is_left_out(tiny: Effort, monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = replace(_FIELD[0], name="wrong", states=lambda gates, v: _FIELD[0].states(gates, v) * 1.01)
    broken = replace(_FIELD[0], name="broken", states=_raise)
    hungry = replace(_FIELD[0], name="hungry", peak_bytes=lambda size: 1e18)
    monkeypatch.setattr(recurrence, "contenders", lambda compiled: ([*_FIELD, wrong, broken, hungry], []))
    (row,) = measure_curve([Size(2, 5, 3)], tiny)["rows"]
    assert "computes something else" in row["skipped"]["wrong"]
    assert row["skipped"]["broken"] == "RuntimeError: cannot"
    assert "GiB of memory" in row["skipped"]["hungry"]
    assert not {"wrong", "broken", "hungry"} & {contender["name"] for contender in row["contenders"]}


def test_a_contender_expected_to_be_too_slow_is_not_tried(tiny: Effort) -> None:
    sizes = [Size(1, 8, 2), Size(1, 4096, 2)]
    impatient = replace(tiny, slowest_call=1e-9)
    first, second = measure_curve(sizes, impatient)["rows"]
    assert first["contenders"]
    assert second["contenders"] == [] and "s a call" in second["skipped"]["loop"]


def test_absent_extras_are_noted(monkeypatch: pytest.MonkeyPatch) -> None:
    real: Callable[..., ModuleType] = builtins.__import__

    def without_extras(name: str, *arguments: Any, **options: Any) -> ModuleType:
        if name.split(".")[0] in ("mambapy", "accelerated_scan"):
            raise ImportError(name)
        return real(name, *arguments, **options)

    monkeypatch.setattr(builtins, "__import__", without_extras)
    found, notes = contenders(compiled=False)
    assert {contender.name for contender in found} >= {"loop", "matrix", "associative"}
    assert not [contender for contender in found if contender.name.startswith(("mambapy", "accelerated"))]
    for name in ("mambapy", "accelerated-scan"):
        assert any(note.startswith(name) and "query-reduction[bench]" in note for note in notes)


def _raise(gates: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    raise RuntimeError("cannot\nand more")
