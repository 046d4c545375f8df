"""Every contender computes what the reference does, in value and gradient, or its time would mean nothing."""

from __future__ import annotations

import importlib.util
from dataclasses import replace

import numpy as np
import pytest
import torch
from query_reduction_lab.bench import peers_torch
from query_reduction_lab.bench.contenders import CONTENDERS, OURS, Contender
from query_reduction_lab.bench.crowd import measure_crowd
from query_reduction_lab.bench.problem import (
    FULL_SIZES,
    TOLERANCE,
    Problem,
    Result,
    Size,
    difference,
    make_problem,
    solve,
)
from query_reduction_lab.bench.recurrence import prepare_solver
from query_reduction_lab.bench.worker import LeftOutError

from query_reduction.recurrence.scan import scan


@pytest.mark.parametrize("size", [Size(3, 13, 4), Size(2, 1, 5), Size(1, 32, 3)], ids=str)
def test_the_judge_agrees_with_the_reference_loop(size: Size) -> None:
    problem = make_problem(size)
    z, v = (torch.from_numpy(array).double().requires_grad_() for array in (problem.z, problem.v))
    h = scan(z, v, backend="loop")
    dz, dv = torch.autograd.grad(h, (z, v), torch.from_numpy(problem.gradient).double())
    expected = Result(h.detach().numpy(), dz.numpy(), dv.numpy())
    found = solve(problem)
    torch.testing.assert_close(found.h, expected.h)
    torch.testing.assert_close(found.dz, expected.dz)
    torch.testing.assert_close(found.dv, expected.dv)


@pytest.mark.filterwarnings("ignore")  # of other packages, which are as they are
@pytest.mark.parametrize(
    "contender",
    [
        # Compiling takes minutes on a busy machine; the functions it compiles are contenders, too.
        pytest.param(known, marks=[pytest.mark.slow] if known.name.startswith("torch.compile") else [])
        for known in CONTENDERS
    ],
    ids=lambda contender: contender.name,
)
@pytest.mark.parametrize("size", [Size(3, 13, 4), Size(2, 32, 5)], ids=str)
def test_contenders_agree(contender: Contender, size: Size) -> None:
    why = contender.why_not(size)
    if why is not None:
        pytest.skip(f"{contender.name}: {why}")
    problem = make_problem(size)
    solver = contender.solver(problem)
    right = solve(problem)
    assert difference(solver.result(), right) < TOLERANCE
    solver.forward()
    solver.both()
    # Timing must not have changed what it computes.
    assert difference(solver.result(), right) < TOLERANCE


def test_every_contender_takes_part_at_the_first_size_if_it_is_installed() -> None:
    for contender in CONTENDERS:
        installed = contender.needs is None or importlib.util.find_spec(contender.needs) is not None
        assert (contender.why_not(FULL_SIZES[0]) is None) == installed


def test_what_is_missing_says_how_to_get_it() -> None:
    why = Contender("x", "nowhere:nothing", needs="no_such_package").why_not(Size(1, 1, 1))
    assert why is not None and "./lab[bench]" in why
    assert Contender("x", "nowhere:nothing", longest=9, because="too long").why_not(Size(1, 10, 1)) == "too long"


def test_a_contender_that_computes_something_else_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = peers_torch.ours

    def wrong(problem: Problem) -> peers_torch.TorchScan:
        return honest(replace(problem, v=problem.v * np.float32(1.01)))

    monkeypatch.setattr(peers_torch, "ours", wrong)
    with pytest.raises(LeftOutError, match="computes something else: off by"):
        prepare_solver(OURS, 1, {"batch": 2, "time": 5, "dim": 4})


def test_all_contenders_take_turns_in_one_process() -> None:
    forward, both = measure_crowd([Size(2, 5, 3)], 0.0)
    assert (forward.mode, both.mode) == ("forward", "forward+backward")
    for row in (forward, both):
        absent = {left.contender for left in row.race.left_out}
        assert {samples.contender for samples in row.race.samples} | absent == {known.name for known in CONTENDERS}
        assert "ours" not in absent and len({len(samples.seconds) for samples in row.race.samples}) == 1
