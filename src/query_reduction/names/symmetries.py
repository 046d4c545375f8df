"""What was found: which units are interchangeable, to be stored, described and sampled from."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from query_reduction.names.forms import Forms
from query_reduction.names.groups import Mapped, blocks, elements, product
from query_reduction.names.renaming import Renaming, Sentences
from query_reduction.names.units import Units, plain
from query_reduction.text.stories import Story

__all__ = ["Coupled", "Kind", "Renamer", "Symmetries", "Table"]

Kind = tuple[str, ...]
"""Units that may be permuted freely."""
Table = tuple[tuple[str, ...], ...]
"""Rows of units that may be permuted freely: the units of a row move together (mouse, mice)."""
Coupled = tuple[tuple[str, str], ...]
"""Pairs of units that are exchanged all together or not at all."""


@dataclass(frozen=True)
class Symmetries:
    """The renamings of stories that keep answers true."""

    kinds: tuple[Kind, ...] = ()
    tables: tuple[Table, ...] = ()
    couplings: tuple[Coupled, ...] = ()
    units: Units = field(default_factory=Units)
    contexts: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """Sentences with a gap, and the numbers of the kinds that fill it, as ``fillers`` counts them."""

    written: Mapping[str, str] = field(default_factory=dict)
    """How the stories write the units that are not written in lower case."""
    lending: tuple[Kind, ...] = ()
    """Units that stand in the same places, whether or not they are interchangeable: an unknown name may be read as any
    of them. Empty: those of ``kinds``."""
    forms: Forms = field(default_factory=Forms)
    """How names are written where they stand."""
    told_of: tuple[int, ...] = ()
    """The numbers of the kinds, as ``fillers`` counts them, about whose units questions were only asked if a sentence
    had told of them: a question about any other can only be guessed."""
    left_out: tuple[str, ...] = field(default=(), compare=False)
    """What was not looked at, for want of time or because there was too much of it; not stored."""

    def __bool__(self) -> bool:
        """Whether anything may be renamed at all."""
        return bool(self.kinds or self.tables or self.couplings)

    def kind_of(self, unit: str) -> Kind | None:
        """The units this one may be exchanged with freely, itself included; for a table, those of its column."""
        for kind in self.columns:
            if unit in kind:
                return kind
        return None

    @cached_property
    def columns(self) -> tuple[Kind, ...]:
        """All kinds, then all columns of all tables."""
        return (*self.kinds, *self._table_columns)

    @property
    def lending_kinds(self) -> tuple[Kind, ...]:
        """What an unknown name may be read as."""
        return self.lending or self.kinds

    @cached_property
    def fillers(self) -> tuple[Kind, ...]:
        """All kinds that lend names, then all columns of all tables: what ``contexts`` counts."""
        return (*self.lending_kinds, *self._table_columns)

    @property
    def _table_columns(self) -> list[Kind]:
        return [column for table in self.tables for column in zip(*table, strict=True)]

    @property
    def all_units(self) -> frozenset[str]:
        """Every unit that some renaming moves."""
        coupled = {unit for coupling in self.couplings for pair in coupling for unit in pair}
        return frozenset(coupled.union(*self.columns))

    @cached_property
    def _blocks(self) -> list[list[Coupled]]:
        return blocks(self.couplings)

    @cached_property
    def _elements(self) -> list[list[Mapped] | None]:
        return [elements(block) for block in self._blocks]

    def sample_mapping(self, rng: random.Random) -> dict[str, str]:
        """What each unit becomes in a renaming drawn at random; all renamings are equally likely."""
        mapping: dict[str, str] = {}
        for kind in self.kinds:
            mapping.update(zip(kind, rng.sample(kind, len(kind)), strict=True))
        for table in self.tables:
            for row, other in zip(table, rng.sample(table, len(table)), strict=True):
                mapping.update(zip(row, other, strict=True))
        for block, known in zip(self._blocks, self._elements, strict=True):
            if known is not None:
                drawn = known[rng.randrange(len(known))]
            else:
                # The group is too large to list: a long product of its generators comes close enough.
                drawn = {}
                for _ in range(8 * len(block)):
                    if rng.random() < 0.5:
                        drawn = product(drawn, _exchange(rng.choice(block)))
            mapping = product(mapping, drawn)
        return {unit: other for unit, other in mapping.items() if unit != other}

    def sample(self, rng: random.Random, sentences: Sentences | None = None) -> Renaming:
        """A renaming drawn at random; ``sentences`` are texts already split, as a ``Renamer`` keeps them."""
        return Renaming(
            self.sample_mapping(rng), sentences or Sentences(self.units, written=self.written, forms=self.forms)
        )

    def as_json(self) -> dict[str, object]:
        """As lists, texts and numbers, for a model file."""
        from query_reduction.names.storage import to_json  # which itself needs this class

        return to_json(self)

    @staticmethod
    def from_json(data: object) -> Symmetries:
        """The inverse of ``as_json``; an ``InputError`` says what is wrong with anything else."""
        from query_reduction.names.storage import from_json  # which itself needs this class

        return from_json(data)

    def describe(self) -> list[str]:
        """What was found, as lines of text."""
        lines = []
        for kind in self.kinds:
            forms = ", in all their forms" if self.forms.several.intersection(kind) else ""
            lines.append(f"interchangeable{forms}: {', '.join(map(self._write, kind))}")
        for table in self.tables:
            rows = ", ".join("/".join(dict.fromkeys(map(self._write, row))) for row in table)
            lines.append(f"interchangeable, in all their forms: {rows}")
        for coupling in self.couplings:
            first, *rest = [f"{self._write(one)} and {self._write(other)}" for one, other in coupling]
            together = f", together with {', '.join(rest)}" if rest else ""
            lines.append(f"may be exchanged: {first}{together}")
        return lines

    def not_examined(self) -> list[str]:
        """One line that says what was not looked at, or none."""
        return [f"not examined: {', '.join(self.left_out)}"] if self.left_out else []

    def _write(self, unit: str) -> str:
        return self.written.get(plain(unit), plain(unit))


def _exchange(coupling: Coupled) -> Mapped:
    return {unit: other for pair in coupling for unit, other in (pair, pair[::-1])}


class Renamer:
    """Retells stories in other words, drawn anew each time."""

    def __init__(self, symmetries: Symmetries, stories: Iterable[Story] = ()) -> None:
        self.symmetries = symmetries
        self.sentences = Sentences(symmetries.units, stories, symmetries.written, symmetries.forms)

    def draw(self, rng: random.Random) -> Renaming:
        """One renaming at random."""
        return self.symmetries.sample(rng, self.sentences)

    def stories(self, stories: Sequence[Story], rng: random.Random) -> list[Story]:
        """Every story with its own renaming."""
        return [self.draw(rng).story(story) for story in stories]
