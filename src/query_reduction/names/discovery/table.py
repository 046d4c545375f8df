"""How often each feature occurs in each story, stored sparsely, and what a renaming does to the features."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["PLACES", "Differences", "Table", "differences", "make_table", "renamed_differences"]

PLACES = 4
"""Maximum number of units in a feature."""
_SEEN = 16
"""Occurrences a feature and its image must have together; requiring it of one of them alone would introduce bias."""

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Differences:
    """How much more often features occur in stories than their images."""

    excess: NDArray[np.float32]
    """Feature by story."""
    group: Ints
    """Of each feature."""


@dataclass(frozen=True)
class Table:
    """Counts in order of features: those of feature f are entries ``starts[f]`` to ``starts[f + 1]``."""

    keys: Ints
    """Of each feature, ascending."""
    units: Ints
    """Feature by place: the units in it, -1 if there is none."""
    totals: Ints
    starts: Ints
    story: Ints
    count: NDArray[np.float32]
    stories: int
    group: Ints
    """Of each feature."""
    base: int
    """Two more than the number of units: keys are numbers to this base, for no unit, for each, and for any other."""
    numbered: Ints
    """The number in the corpus of each unit of the table."""


def make_table(
    counted: Sequence[tuple[int, Ints, Ints]], stories: int, numbered: Sequence[int], groups: Sequence[int]
) -> Table:
    """From each story's number, its features' keys and their counts; ``groups`` are those of the structures."""
    base = len(numbered) + 2
    all_keys = np.concatenate([keys for _, keys, _ in counted]) if counted else np.zeros(0, np.int64)
    counts = np.concatenate([counts for _, _, counts in counted]) if counted else np.zeros(0, np.int64)
    story = np.repeat(
        np.array([number for number, _, _ in counted], dtype=np.int64),
        np.array([len(keys) for _, keys, _ in counted], dtype=np.int64),
    )
    order = np.argsort(all_keys, kind="stable")
    keys, starts = np.unique(all_keys[order], return_index=True)
    starts = np.append(starts, len(all_keys)).astype(np.int64)
    cumulated = np.concatenate(([0], np.cumsum(counts[order])))
    units = np.stack([keys // base**place % base for place in reversed(range(PLACES))], axis=1) - 1
    totals = cumulated[starts[1:]] - cumulated[starts[:-1]]
    group = np.array(groups, dtype=np.int64)[keys // base**PLACES]
    return Table(
        keys, units, totals, starts, story[order], counts[order].astype(np.float32), stories, group, base,
        np.array(numbered, dtype=np.int64),
    )  # fmt: skip


def renamed_differences(table: Table, renaming: Ints) -> Differences:
    """For every feature that an exchange of units moves: its counts minus those of its image, story by story."""
    number_of = np.zeros(len(renaming), np.int64)
    number_of[table.numbered] = np.arange(len(table.numbered))
    renaming = np.append(number_of[renaming[table.numbered]], len(table.numbered))
    moves = renaming != np.arange(len(renaming))
    extended = np.append(moves, False)  # for "no unit", which is -1
    affected = np.flatnonzero((table.totals * 2 >= _SEEN) & extended[table.units].any(axis=1))
    image_of = np.append(renaming, -1)
    units = image_of[table.units[affected]] + 1
    base = table.base
    keys = table.keys[affected]
    image_keys = keys // base**PLACES
    for place in range(PLACES):
        image_keys = image_keys * base + units[:, place]
    images = _positions(table, image_keys)
    image_totals = np.where(images >= 0, table.totals[images], 0)
    # Of a feature and its image, both frequent, one is enough; an exchange maps the image back.
    keep = (keys != image_keys) & ((keys < image_keys) | (image_totals * 2 < _SEEN))
    keep &= table.totals[affected] + image_totals >= _SEEN
    excess = _dense(table, affected[keep]) - _dense(table, images[keep])
    return Differences(excess, table.group[affected[keep]])


def differences(one: Table, other: Table) -> Differences:
    """The same features counted in two tables of the same stories: the first's counts minus the second's."""
    keys = np.union1d(one.keys, other.keys)
    left, right = _positions(one, keys), _positions(other, keys)
    totals = np.where(left >= 0, one.totals[left], 0) + np.where(right >= 0, other.totals[right], 0)
    keep = totals >= _SEEN
    left, right = left[keep], right[keep]
    group = np.where(left >= 0, one.group[left], other.group[right])
    return Differences(_dense(one, left) - _dense(other, right), group)


def _positions(table: Table, keys: Ints) -> Ints:
    """The positions of the keys in the table, -1 for those not in it."""
    if not len(table.keys):
        return np.full(len(keys), -1, np.int64)
    places = np.minimum(np.searchsorted(table.keys, keys), len(table.keys) - 1)
    return np.where(table.keys[places] == keys, places, -1)


def _dense(table: Table, features: Ints) -> NDArray[np.float32]:
    """Feature by story; a row of zeros for -1."""
    starts = table.starts[:-1][features]
    lengths = np.where(features >= 0, table.starts[1:][features] - starts, 0)
    rows = np.repeat(np.arange(len(features)), lengths)
    ends = np.cumsum(lengths)
    entries = np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - lengths, lengths) + np.repeat(starts, lengths)
    dense = np.zeros((len(features), table.stories), np.float32)
    # Every story has one entry for a feature, so nothing is written twice.
    dense[rows, table.story[entries]] = table.count[entries]
    return dense
