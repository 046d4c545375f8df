"""A whole JSON file: an array of records, an object with an array ``data`` (SQuAD), one record, or several in a row.

The whole text is in memory, so its size is limited; its records are decoded one at a time.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from query_reduction.text.formats.lines import Problem
from query_reduction.text.formats.opening import MOST_LOADED, UnreadableError, open_text
from query_reduction.text.formats.record import Record, scan_records
from query_reduction.text.stories import Story

__all__ = ["scan_json"]

_SPACE = re.compile(r"[ \t\n\r]*")


def scan_json(
    path: Path, problems: list[Problem], *, stop_at_first: bool = False, unanswered: bool = False
) -> Iterator[Story]:
    """Yield the stories of a file and append what is wrong with it to ``problems``."""
    records = _records(path, problems)
    return scan_records(records, path, problems, stop_at_first=stop_at_first, unanswered=unanswered)


def _records(path: Path, problems: list[Problem]) -> Iterator[Record]:
    text = _load(path, problems)
    if text is None:
        return
    walk = _Walk(text)
    try:
        yield from walk.records()
    except json.JSONDecodeError as error:
        what = f"not JSON: {error.msg.removesuffix(' at')} at column {error.colno}"
        problems.append(Problem(path, error.lineno, what))
    except RecursionError:
        problems.append(Problem(path, walk.line(), "JSON nested too deeply"))
    except ValueError:  # from int(), which json calls
        problems.append(Problem(path, walk.line(), "a number of thousands of digits"))


def _load(path: Path, problems: list[Problem]) -> str | None:
    what = ""
    try:
        with open_text(path) as file:
            text = file.read(MOST_LOADED + 1)
        if len(text) > MOST_LOADED:
            what = f"a JSON file of more than {MOST_LOADED} characters; write one record per line and name it .jsonl"
        elif "\0" in text:
            what = "binary data, not text"
        else:
            return text
    except UnicodeDecodeError:
        what = "not UTF-8 text"
    except UnreadableError as error:
        what = str(error)
    problems.append(Problem(path, 0, what))
    return None


class _Walk:
    """Walks through a JSON text record by record and tracks the current line."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._decode = json.JSONDecoder().raw_decode
        self._at = 0
        self._counted_to = 0
        self._line = 1

    def line(self) -> int:
        """The line of the current record."""
        self._line += self._text.count("\n", self._counted_to, self._at)
        self._counted_to = self._at
        return self._line

    def records(self) -> Iterator[Record]:
        while self._next():
            if self._next() == "[":
                yield from self._array()
            elif self._next() == "{":
                yield from self._object()
            else:
                raise json.JSONDecodeError("Expecting an array or an object", self._text, self._at)

    def _next(self) -> str:
        """The next character that is not whitespace; empty at the end."""
        space = _SPACE.match(self._text, self._at)
        self._at = space.end() if space else self._at
        return self._text[self._at : self._at + 1]

    def _pass(self, expected: str) -> str:
        """Skip one of the expected characters and return it."""
        found = self._next()
        if not found or found not in expected:
            raise json.JSONDecodeError(f"Expecting {' or '.join(map(repr, expected))}", self._text, self._at)
        self._at += 1
        return found

    def _value(self) -> Any:
        self._next()
        value, self._at = self._decode(self._text, self._at)
        return value

    def _array(self) -> Iterator[Record]:
        self._pass("[")
        if self._next() == "]":
            self._at += 1
            return
        while True:
            self._next()
            place = self.line()
            yield Record(place, self._value())
            if self._pass(",]") == "]":
                return

    def _object(self) -> Iterator[Record]:
        """The records of its array ``data``, or the object itself if it has none."""
        place = self.line()
        self._pass("{")
        members: dict[str, Any] = {}
        has_data = False
        while self._next() != "}":
            if self._next() != '"':
                raise json.JSONDecodeError("Expecting a name in double quotes", self._text, self._at)
            name = self._value()
            self._pass(":")
            if name == "data" and self._next() == "[":
                has_data = True
                yield from self._array()
            else:
                members[name] = self._value()
            if self._next() != "}":
                self._pass(",}")
        self._at += 1
        if not has_data:
            yield Record(place, members)
