"""Who takes part in the recurrence: this package, and everything a critic would name instead of it."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from query_reduction_lab.bench.problem import Problem, Result, Size

__all__ = ["CONTENDERS", "OURS", "WITHOUT_AUTOGRAD", "Contender", "Solver", "contender"]

OURS = "ours"
WITHOUT_AUTOGRAD = "ours, without autograd"
"""Forward and gradient as two calls, which is how the loops of Numba and JAX are called, too."""


class Solver(Protocol):
    """One contender at work on one problem."""

    def forward(self) -> object:
        """All states."""
        ...

    def both(self) -> object:
        """All states and both gradients."""
        ...

    def result(self) -> Result:
        """What ``both`` computes, to be checked."""
        ...


@dataclass(frozen=True, slots=True)
class Contender:
    """An implementation of the recurrence; its module is loaded only in the process that runs it."""

    name: str
    function: str
    """Where it is: a module of this package and the function that makes its ``Solver``."""
    needs: str | None = None
    """The package it requires."""
    longest: int | None = None
    """The maximum number of steps it can handle."""
    because: str = ""
    """The reason for the maximum."""

    def why_not(self, size: Size) -> str | None:
        """Why it cannot take part here, if so."""
        if self.needs is not None and importlib.util.find_spec(self.needs) is None:
            return f"{self.needs} is not installed (pip install './lab[bench]')"
        if self.longest is not None and size.time > self.longest:
            return self.because
        return None

    def solver(self, problem: Problem) -> Solver:
        """Prepare to solve a problem."""
        module, _, function = self.function.partition(":")
        make: Callable[[Problem], Solver] = getattr(
            importlib.import_module(f"query_reduction_lab.bench.{module}"), function
        )
        return make(problem)


CONTENDERS = (
    Contender(OURS, "peers_torch:ours"),
    Contender(WITHOUT_AUTOGRAD, "peers_torch:OursByHand"),
    Contender("Numba loop", "peers_numba:NumbaScan", "numba"),
    Contender("JAX lax.scan", "peers_jax:jax_scan", "jax"),
    Contender("JAX associative_scan", "peers_jax:jax_associative_scan", "jax"),
    Contender(
        "torch.compile(loop)",
        "peers_torch:compiled_loop",
        longest=256,
        because="compiling that many unrolled steps takes longer than everything else together",
    ),
    Contender("torch.compile(associative)", "peers_torch:compiled_associative"),
    Contender("mambapy pscan", "peers_torch:mambapy_pscan", "mambapy"),
    Contender("torchlpc", "peers_torch:torchlpc_scan", "torchlpc"),
    Contender("accelerated-scan ref", "peers_torch:accelerated_scan_reference", "accelerated_scan"),
    Contender("PyTorch loop", "peers_torch:unbound_loop"),
    Contender("PyTorch doubling", "peers_torch:hillis_steele"),
    Contender("torch associative_scan", "peers_torch:generic_associative"),
    Contender("log-space (Heinsen)", "peers_torch:log_space"),
    Contender(
        "matrix form", "peers_torch:matrix_form", longest=64, because="T × T matrices for every unit take gigabytes"
    ),
)
"""Ours first; the others in about the order of their speed."""


def contender(name: str) -> Contender:
    """The one of this name."""
    return next(known for known in CONTENDERS if known.name == name)
