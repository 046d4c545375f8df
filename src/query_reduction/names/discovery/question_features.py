"""Features of questions: with their answers, with sentences that share a unit with them, and with the others."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from query_reduction.names.discovery.corpus import Encoded
from query_reduction.names.discovery.roles import Group, Keys, Text

__all__ = ["LEVELS", "PREVIOUS", "asked", "beside", "bridge", "hops", "told"]

LEVELS = (0, 1)
PREVIOUS = 1
"""Of the sentences that share a unit with a question the last and the one before it are examined closely."""
_NOWHERE = -1


def asked(names: Keys, question: Text, answer: Encoded) -> list[int]:
    """A question and its answer."""
    keys = []
    for level in LEVELS:
        placed = list(zip(question.roles[level], question.units, strict=True))
        given = [(("answer", place, len(answer)), unit) for place, unit in enumerate(answer)]
        together = [*placed, *given]
        for size in (1, 2, 3):
            for chosen in combinations(together, size):
                keys.append(
                    names.key(Group.ASKED, ("asked", *[role for role, _ in chosen]), *[unit for _, unit in chosen])
                )
    return keys


def told(names: Keys, text: Text, question: Text, answer: Encoded, shared: int, age: int) -> list[int]:
    """A sentence before a question that shares a unit with it."""
    keys = []
    answered = tuple([text.position.get(unit, _NOWHERE) for unit in answer])
    for level in LEVELS if age <= PREVIOUS else (1,):
        roles = text.roles[level]
        link = (level, roles[text.position[shared]], question.roles[level][question.position[shared]], age)
        known = ("told", link, answered)
        keys.append(names.key(Group.TOLD, known, shared))
        others = [(role, unit) for role, unit in zip(roles, text.units, strict=True) if unit != shared]
        rest = [
            (role, unit) for role, unit in zip(question.roles[level], question.units, strict=True) if unit != shared
        ]
        for role, unit in others:
            keys.append(names.key(Group.TOLD, (known, role), unit))
            keys += [names.key(Group.TOLD, (link, role, place), unit, given) for place, given in enumerate(answer)]
            if age > PREVIOUS:
                continue
            for asked_role, asked in rest:
                alike = unit == asked
                keys.append(names.key(Group.TOLD, (known, role, asked_role, alike), unit, asked))
                keys += [
                    names.key(Group.TOLD, (link, role, asked_role, place, alike), unit, asked, given)
                    for place, given in enumerate(answer)
                ]
        if age <= PREVIOUS:
            for (role, unit), (other_role, other) in combinations(others, 2):
                keys.append(names.key(Group.TOLD, (known, role, other_role), unit, other))
                keys += [
                    names.key(Group.TOLD, (link, role, other_role, place), unit, other, given)
                    for place, given in enumerate(answer)
                ]
    return keys


def beside(names: Keys, text: Text, question: Text, answer: Encoded, last: Sequence[int]) -> list[int]:
    """Any sentence and a question after it, whether they share a unit or not.

    The last sentence about a unit is examined most closely: words may be written differently in questions.
    """
    keys = []
    level = 1
    answered = tuple([text.position.get(unit, _NOWHERE) for unit in answer])
    placed = list(zip(text.roles[level], text.units, strict=True))
    rest = list(zip(question.roles[level], question.units, strict=True))
    for role, unit in placed:
        age = unit in last
        keys += [names.key(Group.BESIDE, (role, place, age), unit, given) for place, given in enumerate(answer)]
        for asked_role, asked in rest:
            structure = (role, asked_role, unit == asked, age)
            keys.append(names.key(Group.BESIDE, (structure, answered), unit, asked))
            keys += [
                names.key(Group.BESIDE, (structure, place), unit, asked, given) for place, given in enumerate(answer)
            ]
            if not age or unit == asked:
                continue
            for other_role, other in placed:
                if other not in (unit, asked):
                    keys += [
                        names.key(Group.APART, (structure, other_role, place), unit, other, asked, given)
                        for place, given in enumerate(answer)
                    ]
    return keys


def bridge(names: Keys, question: Text, answer: Encoded, shared: int, near: Text, far: Text) -> list[int]:
    """The last sentence that shares a unit with a question, and another that shares none with it."""
    keys = []
    level = 1
    link = (
        "bridge", question.roles[level][question.position[shared]], near.roles[level][near.position[shared]],
    )  # fmt: skip
    across = list(zip(far.roles[level], far.units, strict=True))
    for role, unit in zip(near.roles[level], near.units, strict=True):
        if unit == shared:
            continue
        for (far_role, one), (other_role, other) in combinations(across, 2):
            structure = (link, role, far_role, other_role)
            keys += [
                names.key(Group.BRIDGE, (structure, place), unit, one, other, given)
                for place, given in enumerate(answer)
            ]
    return keys


def hops(
    names: Keys, question: Text, answer: Encoded, shared: int, first: Text, link: int, second: Text, earlier: bool
) -> list[int]:
    """From a question to the last sentence of its unit, and by another unit of that to one more."""
    level = 1
    path = (
        "hops", question.roles[level][question.position[shared]], first.roles[level][first.position[shared]],
        first.roles[level][first.position[link]], second.roles[level][second.position[link]], earlier,
    )  # fmt: skip
    known = (path, tuple([second.position.get(unit, _NOWHERE) for unit in answer]))
    keys = [names.key(Group.HOPS, known, shared, link)]
    near = [pair for pair in zip(first.roles[level], first.units, strict=True) if pair[1] not in (shared, link)]
    far = [pair for pair in zip(second.roles[level], second.units, strict=True) if pair[1] != link]
    rest = [pair for pair in zip(question.roles[level], question.units, strict=True) if pair[1] != shared]
    for role, unit in near:
        keys.append(names.key(Group.HOPS, (known, "near", role), unit))
    for role, unit in far:
        keys.append(names.key(Group.HOPS, (known, "far", role), unit))
        keys += [names.key(Group.HOPS, (path, role, place), unit, given) for place, given in enumerate(answer)]
        for near_role, near_unit in near:
            keys.append(names.key(Group.HOPS, (known, role, near_role), unit, near_unit))
            keys += [
                names.key(Group.HOPS, (path, role, near_role, place), unit, near_unit, given)
                for place, given in enumerate(answer)
            ]
        for asked_role, asked in rest:
            alike = unit == asked
            keys.append(names.key(Group.HOPS, (known, role, asked_role, alike), unit, asked))
            keys += [
                names.key(Group.HOPS, (path, role, asked_role, place, alike), unit, asked, given)
                for place, given in enumerate(answer)
            ]
    return keys
