"""Evidence against an exchange of units: do the renamed stories differ from the stories?

Under an exchange that keeps the stories as likely as they are, a feature's excess over its image in one story is as
likely as the opposite excess, story by story. So the sum of the excesses is compared with sums under random signs: that
needs no assumption about how features depend on each other, or how often a story repeats one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from query_reduction.names.discovery.table import Differences, Table, differences, renamed_differences

__all__ = ["Evidence", "Verdict"]

_REFUTED = 0.002
"""The p-value below which an exchange is refuted; up to ten statistics are tested."""
_DRAWS = 2000
_FEW_DRAWS = 250
_CERTAIN = 1e-4
_UNSUSPICIOUS = 3.0
_CLEARLY = 5.0
_CLEARLY_TOGETHER = 20.0
"""Largest deviation, or excess of all, of what is refuted clearly."""
_BLOCK = 4096
_ROUNDING = 1 - 1e-5


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the features say about an exchange."""

    refuted: bool
    largest: float
    """The largest deviation of a feature, in standard deviations."""
    excess: float
    """Sum of the squares by which deviations exceed three: what a further exchange would have to remove."""
    features: int
    """The number of features considered."""

    @property
    def clearly_refuted(self) -> bool:
        """Refuted by much more than the least that refutes."""
        return self.refuted and (self.largest >= _CLEARLY or self.excess >= _CLEARLY_TOGETHER)


class Evidence:
    """The randomisation test over one table of features."""

    def __init__(self, table: Table, seed: int) -> None:
        self._table = table
        signs = np.random.default_rng(seed).integers(0, 2, (_DRAWS, table.stories), dtype=np.int8)
        self._signs: NDArray[np.float32] = (signs * 2 - 1).astype(np.float32)

    def of_exchange(self, renaming: NDArray[np.int64], *, quick: bool = False) -> Verdict:
        """The verdict on a renaming that is its own inverse; ``quick`` skips the random draws."""
        return self._judge(renamed_differences(self._table, renaming), quick)

    def of_change(self, changed: Table, original: Table) -> Verdict:
        """The verdict on stories changed in any way, given the features of both."""
        return self._judge(differences(original, changed), quick=False)

    def _judge(self, found: Differences, quick: bool) -> Verdict:
        squares = np.einsum("fs,fs->f", found.excess, found.excess)
        group = found.group[squares > 0]
        if not len(group):
            return Verdict(False, 0.0, 0.0, 0)
        excess = found.excess[squares > 0] / np.sqrt(squares[squares > 0])[:, None]
        z = np.abs(excess.sum(axis=1))
        largest = float(z.max())
        suspicious = float((np.maximum(z - _UNSUSPICIOUS, 0.0) ** 2).sum())
        # Hoeffding's bound on a sum of random signs, for all features at once: no draw can change this verdict.
        refuted = 2 * len(z) * np.exp(-(largest**2) / 2) < _CERTAIN
        if not refuted and not quick:
            refuted = self._unlikely(excess, group, z)
        return Verdict(bool(refuted), largest, suspicious, len(z))

    def _unlikely(self, excess: NDArray[np.float32], group: NDArray[np.int64], z: NDArray[np.float32]) -> bool:
        """Whether random signs hardly ever give as large a deviation, or as large ones in a whole group."""
        _, group = np.unique(group, return_inverse=True)
        member = np.eye(int(group.max()) + 1, dtype=np.float32)[group]
        total = z**2 @ member
        chance = 1.0
        for draws in (_FEW_DRAWS, _DRAWS):
            most = np.zeros(draws, np.float32)
            totals = np.zeros((draws, member.shape[1]), np.float32)
            for start in range(0, len(z), _BLOCK):
                drawn = self._signs[:draws] @ excess[start : start + _BLOCK].T
                np.square(drawn, out=drawn)
                most = np.maximum(most, drawn.max(axis=1))
                totals += drawn @ member[start : start + _BLOCK]
            as_large = [int((most >= z.max() ** 2 * _ROUNDING).sum())]
            as_large += (totals >= total * _ROUNDING).sum(axis=0).tolist()
            chance = (1 + min(as_large)) / (draws + 1)
            if chance > 10 * _REFUTED:
                break
        return chance < _REFUTED
