"""Couplings: exchanges that are false individually but true together (north and south, with n and s).

The search starts from a refuted exchange and adds others that remove the evidence against it. Units of one kind move
together: what holds for John holds for Daniel, so the men are exchanged with the women, all at once, and he with she.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from query_reduction.symmetry.kinds import Trial

__all__ = ["Coupling", "find_couplings"]

Coupling = tuple[tuple[int, int], ...]
"""Pairs of units, all exchanged at once; no unit twice."""

_FACTORS = 5
_BEAM = 3
_CLEARLY = 5.0
"""Deviation at which a product with one factor left out counts as clearly refuted."""


@dataclass(frozen=True, slots=True)
class _Factor:
    """Two orbits of a class that may be exchanged as wholes."""

    family: int
    """The class."""
    pairs: Coupling

    @property
    def units(self) -> frozenset[int]:
        return frozenset(unit for pair in self.pairs for unit in pair)


def find_couplings(trial: Trial, kinds: Sequence[Sequence[int]], refuted: set[tuple[int, int]]) -> list[Coupling]:
    """All couplings that are not refuted, need every one of their factors, and do not contradict each other."""
    factors = _factors(trial, kinds, refuted)
    found: dict[frozenset[_Factor], None] = {}
    for start in factors:
        if any(start in product for product in found):
            continue
        products = _completed(trial, start, factors)
        # Two ways to complete the same exchange: there is too little evidence to say which is right.
        if len(products) == 1 and _needs_all(trial, products[0]):
            found[products[0]] = None
    return [
        tuple(sorted(pair for factor in product for pair in factor.pairs))
        for product in found
    ]  # fmt: skip


def _factors(trial: Trial, kinds: Sequence[Sequence[int]], refuted: set[tuple[int, int]]) -> list[_Factor]:
    """Exchanges of two orbits of the same class and size, no two units of which may be exchanged alone."""
    in_kind = {unit for kind in kinds for unit in kind}
    orbits: dict[int, list[tuple[int, ...]]] = defaultdict(list)
    for kind in kinds:
        orbits[int(trial.candidates.classes[kind[0]])].append(tuple(kind))
    for unit in sorted(trial.candidates.in_class - in_kind):
        if trial.frequent[unit]:
            orbits[int(trial.candidates.classes[unit])].append((unit,))
    factors = []
    for family, members in sorted(orbits.items()):
        for one, other in combinations(sorted(members), 2):
            if len(one) == len(other) and all((min(a, b), max(a, b)) in refuted for a in one for b in other):
                factors.append(_Factor(family, tuple(zip(one, other, strict=True))))
    return factors


def _completed(trial: Trial, start: _Factor, factors: Sequence[_Factor]) -> list[frozenset[_Factor]]:
    """The smallest products with this factor that nothing refutes."""
    beam = [(_excess(trial, frozenset((start,))), frozenset((start,)))]
    seen = {product for _, product in beam}
    for size in range(1, _FACTORS + 1):
        passed = [product for _, product in beam if not _refuted(trial, product)]
        if passed or size == _FACTORS:
            return passed
        longer = []
        for excess, product in beam:
            taken = frozenset().union(*(factor.units for factor in product))
            for factor in factors:
                extended = product | {factor}
                if extended in seen or factor.units & taken:
                    continue
                seen.add(extended)
                less = _excess(trial, extended)
                if less < excess:
                    longer.append((less, extended))
        beam = sorted(longer, key=lambda entry: entry[0])[:_BEAM]
    return []


def _pairs(product: frozenset[_Factor]) -> list[tuple[int, int]]:
    return [pair for factor in product for pair in factor.pairs]


def _excess(trial: Trial, product: frozenset[_Factor]) -> float:
    return trial.evidence.of_exchange(trial.exchange(*_pairs(product)), quick=True).excess


def _refuted(trial: Trial, product: frozenset[_Factor]) -> bool:
    return trial.evidence.of_exchange(trial.exchange(*_pairs(product))).refuted


def _needs_all(trial: Trial, product: frozenset[_Factor]) -> bool:
    """Whether every factor is needed: without it, or without one pair of it, the rest is clearly refuted."""
    everything = _pairs(product)
    parts = [[pair for pair in everything if pair not in factor.pairs] for factor in product if len(product) > 1]
    parts += [[pair for pair in everything if pair != left_out] for left_out in everything if len(everything) > 1]
    for part in parts:
        verdict = trial.evidence.of_exchange(trial.exchange(*part))
        if not verdict.refuted or (len(product) > 1 and verdict.largest < _CLEARLY):
            return False
    return True
