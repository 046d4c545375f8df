"""A knowledge base: rows (subject, relation, value), read from a file and queried by an api call.

As text, a row is ``1 the_place R_cuisine thai`` (number, then words between spaces or tabs); as JSON lines, a subject
is ``{"name": "the_place", "R_cuisine": "thai", "R_rating": 8}``.
"""

from __future__ import annotations

from collections.abc import Container, Iterable
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2s
from pathlib import Path

from query_reduction.errors import InputError
from query_reduction.heads.slots import API_CALL
from query_reduction.text.formats.fields import BadRecordError, label_of, parse_json
from query_reduction.text.formats.lines import Problem, text_lines

__all__ = ["NO_RESULT", "KnowledgeBase", "partly_known"]

NO_RESULT = f"{API_CALL} no result"
"""The row given when a call finds nothing."""

Row = tuple[str, str, str]


@dataclass(frozen=True)
class KnowledgeBase:
    """All rows, in their original order."""

    rows: tuple[Row, ...] = ()

    @staticmethod
    def read(path: Path) -> KnowledgeBase:
        """Read a file; ``.jsonl`` means JSON lines, anything else text."""
        problems: list[Problem] = []
        rows: list[Row] = []
        for number, line in enumerate(text_lines(path, problems), start=1):
            if not line.strip():
                continue
            found = _json_rows(line) if path.suffix == ".jsonl" else _text_row(line)
            if not found:
                problems.append(Problem(path, number, f"expected {_EXPECTED[path.suffix == '.jsonl']}"))
                break
            rows += found
        if problems:
            raise InputError(str(problems[0]))
        if not rows:
            raise InputError(f"{path}: no knowledge-base rows in this file")
        return KnowledgeBase(tuple(rows))

    @cached_property
    def _subjects(self) -> dict[str, dict[str, str]]:
        subjects: dict[str, dict[str, str]] = {}
        for subject, relation, value in self.rows:
            subjects.setdefault(subject, {})[relation] = value
        return subjects

    @cached_property
    def _relations(self) -> frozenset[str]:
        return frozenset(relation.lower() for _, relation, _ in self.rows)

    def query(self, call: str) -> list[str]:
        """The rows of all subjects that have every argument of an api call as a value, or the row for no result.

        A relation's own name as an argument (``R_cuisine``) means any value.
        """
        arguments = self._arguments(call)
        found: list[str] = []
        for subject, about in self._subjects.items():
            told = {value.lower() for value in about.values()}
            if all(argument in told for argument in arguments):
                found += (f"{subject} {relation} {value}" for relation, value in about.items())
        return found or [NO_RESULT]

    def other_values(self, call: str) -> dict[str, list[str]]:
        """By relation, the values that would give results in place of the one in an api call, all else being equal."""
        arguments = self._arguments(call)
        others: dict[str, set[str]] = {}
        for about in self._subjects.values():
            told = {value.lower(): relation for relation, value in about.items()}
            missed = [argument for argument in arguments if argument not in told]
            for argument in missed if len(missed) == 1 else ():
                relation = self._relation_of.get(argument)
                if relation in about and about[relation].lower() != argument:
                    others.setdefault(relation, set()).add(about[relation])
        return {relation: sorted(values) for relation, values in others.items()}

    def _arguments(self, call: str) -> list[str]:
        return [word for word in call.lower().split() if word != API_CALL and word not in self._relations]

    @cached_property
    def _relation_of(self) -> dict[str, str]:
        return {value.lower(): relation for _, relation, value in self.rows}


_EXPECTED = ("'NUMBER subject relation value'", '\'{"name": "…", "relation": "value", …}\'')


def _text_row(line: str) -> list[Row]:
    words = line.split()
    return [(words[1], words[2], words[3])] if len(words) == 4 and words[0].isdecimal() else []


def _json_rows(line: str) -> list[Row]:
    try:
        value = parse_json(line)
        if not isinstance(value, dict) or not isinstance(value.get("name"), str):
            return []
        subject = "_".join(label_of(value.pop("name"), "'name'").split())
        told = {relation: "_".join(label_of(text, relation).split()) for relation, text in value.items()}
    except BadRecordError:
        return []
    if not subject or not told or not all(told.values()):
        return []
    return [(subject, relation, text) for relation, text in told.items()]


def partly_known(rows: Iterable[Row], share: float, known: Container[str]) -> tuple[Row, ...]:
    """The rows whose names are all known already or among this share of the other names, drawn by their spelling."""

    def told(name: str) -> bool:
        drawn = int.from_bytes(blake2s(name.encode(), digest_size=4).digest(), "big") / 2**32
        return name in known or drawn < share

    return tuple(row for row in rows if told(row[0].lower()) and told(row[2].lower()))
