"""Symmetries as JSON, as model files keep them: small, and checked when read, since files may come from anywhere."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from query_reduction.errors import InputError
from query_reduction.symmetry.symmetries import Symmetries
from query_reduction.symmetry.units import Place, TextKind, Units, plain

__all__ = ["from_json", "to_json"]

_MOST = 20_000
"""Maximum number of entries in any list."""
_LONGEST = 2_000
"""Maximum number of letters in any text."""
_KINDS: dict[str, TextKind] = {"sentence": "sentence", "question": "question", "answer": "answer"}

T = TypeVar("T")


def to_json(symmetries: Symmetries) -> dict[str, object]:
    """What ``from_json`` reads: lists, texts and numbers only."""
    units = symmetries.units
    return {
        "kinds": [list(kind) for kind in symmetries.kinds],
        "tables": [[list(row) for row in table] for table in symmetries.tables],
        "couplings": [[list(pair) for pair in coupling] for coupling in symmetries.couplings],
        "phrases": sorted(" ".join(phrase) for phrase in units.phrases),
        "columns": {
            unit: [[*place, column] for place, column in sorted(places.items())]
            for unit, places in sorted(units.columns.items())
        },
        "contexts": {context: list(kinds) for context, kinds in sorted(symmetries.contexts.items())},
        "written": dict(sorted(symmetries.written.items())),
        "lending": [list(kind) for kind in symmetries.lending],
    }


def from_json(data: object) -> Symmetries:
    """Read what ``to_json`` wrote; anything else is rejected with a line that says what is wrong."""
    fields = _mapping(data, "symmetries")
    expected = {"kinds", "tables", "couplings", "phrases", "columns", "contexts", "written", "lending"}
    if set(fields) | {"lending"} != expected:  # which files of version 0.2.0 do not have
        raise _wrong("symmetries", f"must have {', '.join(sorted(expected))}")
    kinds = tuple(_texts(kind, "kind") for kind in _list(fields["kinds"], "kinds"))
    tables = tuple(
        tuple(_texts(row, "row") for row in _list(table, "table")) for table in _list(fields["tables"], "tables")
    )
    couplings = tuple(
        tuple(_pair(pair) for pair in _list(coupling, "coupling"))
        for coupling in _list(fields["couplings"], "couplings")
    )
    phrases = frozenset(tuple(phrase.split(" ")) for phrase in _texts(fields["phrases"], "phrases"))
    columns = {
        unit: dict(_column(entry) for entry in _list(places, "columns"))
        for unit, places in _mapping(fields["columns"], "columns").items()
    }
    contexts = {
        context: tuple(_number(kind, "contexts") for kind in _list(of_kinds, "contexts"))
        for context, of_kinds in _mapping(fields["contexts"], "contexts").items()
    }
    written = {unit: _text(form, "written") for unit, form in _mapping(fields["written"], "written").items()}
    if not all(written.values()):
        raise _wrong("written", "has a unit without words")
    lending = tuple(_texts(kind, "kind") for kind in _list(fields.get("lending", []), "lending"))
    symmetries = Symmetries(kinds, tables, couplings, Units(phrases, columns), contexts, written, lending)
    _check(symmetries)
    return symmetries


def _check(symmetries: Symmetries) -> None:
    """Check that every renaming drawn is valid: each unit once in each part, all rows of a table equally long."""
    free = [unit for kind in symmetries.kinds for unit in kind]
    free += [unit for table in symmetries.tables for row in table for unit in row]
    if len(set(free)) < len(free):
        raise _wrong("kinds", "have a unit in two places")
    if any(len({len(row) for row in table}) != 1 for table in symmetries.tables):
        raise _wrong("tables", "have rows of different lengths")
    for coupling in symmetries.couplings:
        units = [unit for pair in coupling for unit in pair]
        if not units or len(set(units)) < len(units):
            raise _wrong("couplings", "exchange nothing, or a unit twice")
    if any(len(phrase) < 2 or not all(phrase) for phrase in symmetries.units.phrases):
        raise _wrong("phrases", "must have several words")
    lent = [unit for kind in symmetries.lending for unit in kind]
    if len(set(lent)) < len(lent):
        raise _wrong("lending", "has a unit in two places")
    if not all(plain(unit) for unit in (*free, *lent)):
        raise _wrong("kinds", "have a unit without words")
    count = len(symmetries.fillers)
    if any(not 0 <= kind < count for kinds in symmetries.contexts.values() for kind in kinds):
        raise _wrong("contexts", "name a kind that is not there")


def _pair(value: object) -> tuple[str, str]:
    pair = _texts(value, "coupling")
    if len(pair) != 2:
        raise _wrong("couplings", "must exchange two units")
    return pair[0], pair[1]


def _column(value: object) -> tuple[Place, int]:
    entry = _list(value, "columns")
    if len(entry) != 4 or entry[0] not in _KINDS:
        raise _wrong("columns", "must have a kind of text, two neighbours and a number")
    kind, left, right = _texts(entry[:3], "columns")
    return (_KINDS[kind], left, right), _number(entry[3], "columns")


def _list(value: object, name: str) -> list[object]:
    if not isinstance(value, list) or len(value) > _MOST:
        raise _wrong(name, f"must be a list of at most {_MOST} entries")
    return value


def _texts(value: object, name: str) -> tuple[str, ...]:
    return tuple(_text(entry, name) for entry in _list(value, name))


def _text(value: object, name: str) -> str:
    if not isinstance(value, str) or len(value) > _LONGEST:
        raise _wrong(name, f"must be text of at most {_LONGEST} letters")
    return value


def _number(value: object, name: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= _MOST:
        raise _wrong(name, f"must be a number from 0 to {_MOST}")
    return value


def _mapping(value: object, name: str) -> Mapping[str, object]:
    if not isinstance(value, dict) or len(value) > _MOST:
        raise _wrong(name, f"must be an object of at most {_MOST} entries")
    for key in value:
        _text(key, name)
    return value


def _wrong(name: str, problem: str) -> InputError:
    return InputError(f"symmetries cannot be read: {name} {problem}")
