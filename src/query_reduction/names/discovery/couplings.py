"""Couplings: exchanges that are false individually but true together (north and south, with n and s).

The search starts from a refuted exchange and adds others that remove the evidence against it. Units of one kind move
together: what holds for John holds for Daniel, so the men are exchanged with the women, all at once, and he with she.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from query_reduction.names.discovery.kinds import Trial

__all__ = ["Coupling", "find_couplings"]

Coupling = tuple[tuple[int, int], ...]
"""Pairs of units, all exchanged at once; no unit twice."""

_FACTORS = 5
_FOR_COUPLINGS = 0.95
"""The part of the time after which no couplings are looked for."""
_BEAM = 3


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
    if not factors:
        return []
    judge = _Judge(trial, kinds)
    found: dict[frozenset[_Factor], None] = {}
    for number, start in enumerate(factors):
        if trial.budget.spent(_FOR_COUPLINGS):
            trial.budget.leave_out("exchanges that are true only together with others (out of time)")
            return []  # what is left could show that one found so far is not unique
        trial.budget.say("looking for exchanges that are true together", 0.7 + 0.2 * number / len(factors))
        if any(start in product for product in found):
            continue
        products = _completed(judge, start, factors)
        # Two ways to complete the same exchange: there is too little evidence to say which is right.
        if len(products) == 1 and _needs_all(judge, products[0]) and _needs_no_more(judge, products[0], factors):
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


def _completed(judge: _Judge, start: _Factor, factors: Sequence[_Factor]) -> list[frozenset[_Factor]]:
    """The smallest products with this factor that nothing refutes."""
    beam = [(judge.excess(frozenset((start,))), frozenset((start,)))]
    seen = {product for _, product in beam}
    for size in range(1, _FACTORS + 1):
        passed = [product for _, product in beam if not judge.refuted(product)]
        if passed or size == _FACTORS:
            return passed
        longer = []
        for excess, product in beam:
            taken = _units(product)
            for factor in factors:
                extended = product | {factor}
                if extended in seen or factor.units & taken:
                    continue
                seen.add(extended)
                less = judge.excess(extended)
                if less < excess:
                    longer.append((less, extended))
        beam = sorted(longer, key=lambda entry: entry[0])[:_BEAM]
    return []


def _units(product: frozenset[_Factor]) -> frozenset[int]:
    return frozenset().union(*(factor.units for factor in product))


def _pairs(product: frozenset[_Factor]) -> list[tuple[int, int]]:
    return [pair for factor in product for pair in factor.pairs]


class _Judge:
    """What the evidence says of products, unit by unit, and with the units of each kind counted as one.

    The second sees more in few stories; it applies to what moves whole kinds.
    """

    def __init__(self, trial: Trial, kinds: Sequence[Sequence[int]]) -> None:
        self._trial = trial
        self._evidence = (trial.evidence, trial.pooled_evidence(kinds)) if kinds else (trial.evidence,)

    def excess(self, product: frozenset[_Factor]) -> float:
        renaming = self._trial.exchange(*_pairs(product))
        return self._trial.evidence.of_exchange(renaming, quick=True).excess

    def refuted(self, product: frozenset[_Factor]) -> bool:
        renaming = self._trial.exchange(*_pairs(product))
        return any(evidence.of_exchange(renaming).refuted for evidence in self._evidence)

    def clearly_refuted(self, product: frozenset[_Factor]) -> bool:
        renaming = self._trial.exchange(*_pairs(product))
        return any(evidence.of_exchange(renaming).clearly_refuted for evidence in self._evidence)

    def refuted_without(self, pair: tuple[int, int], product: frozenset[_Factor]) -> bool:
        pairs = [other for other in _pairs(product) if other != pair]
        verdict = self._trial.evidence.of_exchange(self._trial.exchange(*pairs))
        return verdict.refuted if len(product) == 1 else verdict.clearly_refuted


def _needs_all(judge: _Judge, product: frozenset[_Factor]) -> bool:
    """Whether every factor is needed: without it, or without one pair of it, the rest is clearly refuted."""
    if len(product) > 1 and not all(judge.clearly_refuted(product - {factor}) for factor in product):
        return False
    several = [pair for factor in product if len(factor.pairs) > 1 for pair in factor.pairs]
    return all(judge.refuted_without(pair, product) for pair in several)


def _needs_no_more(judge: _Judge, product: frozenset[_Factor], factors: Sequence[_Factor]) -> bool:
    """Whether any further factor is refuted: if not, too little evidence is left to say where the exchange ends."""
    taken = _units(product)
    return all(judge.refuted(product | {factor}) for factor in factors if not factor.units & taken)
