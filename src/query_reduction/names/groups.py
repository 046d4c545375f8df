"""Groups of renamings: everything that can be reached by composing exchanges."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

__all__ = ["Mapped", "blocks", "elements", "product"]

Mapped = dict[str, str]
"""What each unit becomes; a unit that is not in it stays."""

_LARGEST = 1024
"""Groups with more elements are not listed."""


def product(first: Mapping[str, str], second: Mapping[str, str]) -> Mapped:
    """One renaming after another; units mapped to themselves are omitted."""
    names = {*first, *second}
    made = {name: second.get(first.get(name, name), first.get(name, name)) for name in sorted(names)}
    return {name: other for name, other in made.items() if name != other}


def blocks(couplings: Iterable[tuple[tuple[str, str], ...]]) -> list[list[tuple[tuple[str, str], ...]]]:
    """Couplings that touch the same units, directly or indirectly: blocks are independent of each other."""
    found: list[tuple[set[str], list[tuple[tuple[str, str], ...]]]] = []
    for coupling in couplings:
        units = {unit for pair in coupling for unit in pair}
        members = [coupling]
        apart = []
        for other_units, others in found:
            if units & other_units:
                units |= other_units
                members = others + members
            else:
                apart.append((other_units, others))
        found = [*apart, (units, members)]
    return [members for _, members in found]


def elements(couplings: Sequence[tuple[tuple[str, str], ...]]) -> list[Mapped] | None:
    """All renamings the couplings generate, the one that changes nothing first; None if there are too many."""
    generators = [{unit: other for pair in coupling for unit, other in (pair, pair[::-1])} for coupling in couplings]
    known: dict[frozenset[tuple[str, str]], Mapped] = {frozenset(): {}}
    new: list[Mapped] = [{}]
    while new:
        reached = [product(element, generator) for element in new for generator in generators]
        new = []
        for element in reached:
            key = frozenset(element.items())
            if key not in known:
                known[key] = element
                new.append(element)
        if len(known) > _LARGEST:
            return None
    return list(known.values())
