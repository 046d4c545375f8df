"""Symmetries as JSON, as model files keep them: small, and checked when read, since files may come from anywhere."""

from __future__ import annotations

from dataclasses import replace

from query_reduction.errors import InputError
from query_reduction.names.forms import Forms, Rule
from query_reduction.names.symmetries import Symmetries
from query_reduction.names.units import COLUMN_MARK, Place, TextKind, Units
from query_reduction.text.formats.stored import Bounds

__all__ = ["from_json", "to_json"]

_READ = Bounds(entries=20_000, letters=2_000)
_SINCE_0_2 = {"lending", "names", "rules", "told_of"}
"""What files of version 0.2.0 do not have."""
_KINDS: dict[str, TextKind] = {"sentence": "sentence", "question": "question", "answer": "answer"}


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
        "told_of": list(symmetries.told_of),
        "names": dict(sorted(units.names.items())),
        "rules": [
            [place, rule.beside + 1, dict(sorted(rule.forms.items()))]
            for place, rule in sorted(symmetries.forms.rules.items())
        ],
    }


def from_json(data: object) -> Symmetries:
    """Read what ``to_json`` wrote; anything else is rejected with a line that says what is wrong."""
    try:
        return _read(data)
    except InputError as error:
        raise InputError(f"symmetries cannot be read: {error}") from error


def _read(data: object) -> Symmetries:
    fields = _READ.mapping(data, "symmetries")
    expected = {"kinds", "tables", "couplings", "phrases", "columns", "contexts", "written", *_SINCE_0_2}
    if set(fields) | _SINCE_0_2 != expected:
        raise InputError(f"they must have {', '.join(sorted(expected))}")
    kinds = tuple(_READ.texts(kind, "kind") for kind in _READ.list(fields["kinds"], "kinds"))
    tables = tuple(
        tuple(_READ.texts(row, "row") for row in _READ.list(table, "table"))
        for table in _READ.list(fields["tables"], "tables")
    )
    couplings = tuple(
        tuple(_READ.pair(pair, "coupling") for pair in _READ.list(coupling, "coupling"))
        for coupling in _READ.list(fields["couplings"], "couplings")
    )
    phrases = frozenset(tuple(phrase.split(" ")) for phrase in _READ.texts(fields["phrases"], "phrases"))
    columns = {
        unit: dict(_column(entry) for entry in _READ.list(places, "columns"))
        for unit, places in _READ.mapping(fields["columns"], "columns").items()
    }
    contexts = {
        context: tuple(_READ.count(kind, "contexts") for kind in _READ.list(of_kinds, "contexts"))
        for context, of_kinds in _READ.mapping(fields["contexts"], "contexts").items()
    }
    written = _READ.table(fields["written"], "written")
    if not all(written.values()):
        raise InputError("written has a unit without words")
    lending = tuple(_READ.texts(kind, "kind") for kind in _READ.list(fields.get("lending", []), "lending"))
    names = _READ.table(fields.get("names", {}), "names")
    found = Symmetries(kinds, tables, couplings, Units(phrases, columns, names), contexts, written, lending)
    rules = dict(_rule(entry) for entry in _READ.list(fields.get("rules", []), "rules"))
    told_of = tuple(_READ.count(kind, "told_of") for kind in _READ.list(fields.get("told_of", []), "told_of"))
    found = replace(found, told_of=told_of)
    _check(found)  # before the columns of its tables are needed
    return replace(found, forms=Forms.of(rules, names, found.columns))


def _rule(value: object) -> tuple[str, Rule]:
    entry = _READ.list(value, "rules")
    if len(entry) != 3:
        raise InputError("rules must have a place, the position of the deciding word, and forms")
    place, beside = _READ.text(entry[0], "rules"), _READ.count(entry[1], "rules")
    units = place.split("\t")
    # After the kind of text come the units, and the position of the one whose forms these are.
    if len(units) < 3 or units[-1] not in map(str, range(len(units) - 2)) or beside > len(units) - 2:
        raise InputError("rules name a position that is not there")
    return place, Rule(beside - 1, _READ.table(entry[2], "rules"))


def _check(symmetries: Symmetries) -> None:
    """Check that every renaming drawn is valid: each unit once in each part, all rows of a table equally long."""
    free = [unit for kind in symmetries.kinds for unit in kind]
    free += [unit for table in symmetries.tables for row in table for unit in row]
    if len(set(free)) < len(free):
        raise InputError("kinds have a unit in two places")
    if any(len({len(row) for row in table}) != 1 for table in symmetries.tables):
        raise InputError("tables have rows of different lengths")
    for coupling in symmetries.couplings:
        units = [unit for pair in coupling for unit in pair]
        if not units or len(set(units)) < len(units):
            raise InputError("couplings exchange nothing, or a unit twice")
    if any(len(phrase) < 2 or not all(phrase) for phrase in symmetries.units.phrases):
        raise InputError("phrases must have several words")
    lent = [unit for kind in symmetries.lending for unit in kind]
    if len(set(lent)) < len(lent):
        raise InputError("lending has a unit in two places")
    if any(unit[:1] in ("", COLUMN_MARK) for unit in (*free, *lent)):
        raise InputError("kinds have a unit without words")
    if not all(form and name for form, name in symmetries.units.names.items()):
        raise InputError("names have a form without words")
    count = len(symmetries.fillers)
    if any(not 0 <= kind < count for kinds in (*symmetries.contexts.values(), symmetries.told_of) for kind in kinds):
        raise InputError("contexts name a kind that is not there")


def _column(value: object) -> tuple[Place, int]:
    entry = _READ.list(value, "columns")
    if len(entry) != 4 or entry[0] not in _KINDS:
        raise InputError("columns must have a kind of text, two neighbours and a number")
    kind, left, right = _READ.texts(entry[:3], "columns")
    return (_KINDS[kind], left, right), _READ.count(entry[3], "columns")
