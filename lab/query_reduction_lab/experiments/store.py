"""The results of sweeps, kept as small text files that live in version control.

There is one file of JSON lines per table and column. Its first lines say what the results measure (setups and data) and
where they come from (origins), each under a short id; then there is one line per finished restart. A file is replaced
as a whole, under a lock, each time a restart is done, so a sweep may be killed at any moment and several may write at
once. Lines in any order and repeated lines are read as well, so two branches can be merged by keeping the lines of
both; a last line without a line end is incomplete and is ignored.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from query_reduction.errors import InputError
from query_reduction.files import locked, write_atomically
from query_reduction.training.results import RestartResult
from query_reduction.training.setup import Setup
from query_reduction_lab.experiments.probe import Fingerprint
from query_reduction_lab.experiments.settings import (
    Origin,
    Setting,
    same_setup,
    setup_from_json,
    setup_to_json,
    short_id,
)

__all__ = ["ResultStore", "StoredResult", "StoredSetting"]

_FORMAT = 2
_KINDS = ("file", "setup", "data", "origin", "result")
"""The kinds of lines, in their order."""


@dataclass(frozen=True, slots=True)
class StoredResult:
    """One finished restart."""

    setting: Setting
    result: RestartResult
    origin: Origin
    stack: tuple[int, ...] = ()
    """The restarts it trained together with: they affect the last bits. Empty if not recorded."""


@dataclass(frozen=True, slots=True)
class StoredSetting:
    """All stored restarts of one setting."""

    setting: Setting
    records: tuple[StoredResult, ...]

    def of_code(self, fingerprint: Fingerprint) -> dict[int, RestartResult]:
        """The results, by restart, of code with this fingerprint."""
        return {restart: record.result for restart, record in self._of_code(fingerprint).items()}

    def _of_code(self, fingerprint: Fingerprint) -> dict[int, StoredResult]:
        found: dict[int, StoredResult] = {}
        for record in self.records:
            if record.origin.fingerprint.agrees(fingerprint):
                found.setdefault(record.result.restart, record)
        return found

    def groups(self) -> list[tuple[Origin, dict[int, StoredResult]]]:
        """The records grouped by the code that computed them, each with its latest origin; the latest group first."""
        found: list[tuple[Origin, dict[int, StoredResult]]] = []
        origins = dict.fromkeys(record.origin for record in self.records)
        for origin in sorted(origins, key=lambda origin: origin.date, reverse=True):
            if not any(known.fingerprint.agrees(origin.fingerprint) for known, _ in found):
                found.append((origin, dict(sorted(self._of_code(origin.fingerprint).items()))))
        return found


class ResultStore:
    """A folder of results."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._read: dict[Path, tuple[tuple[int, int], list[StoredSetting]]] = {}

    def path(self, table: str, column: str) -> Path:
        """The file of a column."""
        return self.folder / table / f"{column.replace(' ', '-')}.jsonl"

    def settings(self, table: str, column: str) -> list[StoredSetting]:
        """Everything stored for a column, by setting."""
        path = self.path(table, column)
        return self._settings_at(path) if path.exists() else []

    def find(self, setting: Setting) -> StoredSetting | None:
        """What is stored for this setting."""
        alike = [stored for stored in self.settings(setting.table, setting.column) if setting.same_as(stored.setting)]
        records = tuple(record for stored in alike for record in stored.records)
        return StoredSetting(alike[0].setting, records) if alike else None

    def is_complete(self, setting: Setting, restarts: Iterable[int], *, mix: bool = False) -> bool:
        """Whether the latest code that trained this setting trained these restarts; with ``mix``, any code."""
        stored = self.find(setting)
        if stored is None:
            return False
        latest = {record.result.restart for record in stored.records} if mix else stored.groups()[0][1]
        return all(restart in latest for restart in restarts)

    def all_settings(self) -> Iterator[StoredSetting]:
        """Everything stored."""
        for path in sorted(self.folder.glob("*/*.jsonl")):
            yield from self._settings_at(path)

    def add(self, record: StoredResult) -> None:
        """Store a result permanently. An existing one from the same code is not replaced: it is just as good."""
        setting = record.setting
        with locked(self.folder):
            stored = self.find(setting)
            if stored is not None and record.result.restart in stored.of_code(record.origin.fingerprint):
                return
            path = self.path(setting.table, setting.column)
            file = _read(path) if path.exists() else _new_file(setting.table, setting.column)
            file.add(record)
            write_atomically(path, file.text())

    def _settings_at(self, path: Path) -> list[StoredSetting]:
        """What a file holds; it is read again only if it has changed."""
        about = path.stat()
        version = about.st_mtime_ns, about.st_size
        if path not in self._read or self._read[path][0] != version:
            self._read[path] = version, _read(path).settings()
        return self._read[path][1]


@dataclass(slots=True)
class _File:
    """The lines of a file as plain values, by kind and id, and the settings and origins they stand for."""

    head: dict[str, Any]
    lines: dict[str, dict[str, dict[str, Any]]] = field(default_factory=lambda: {kind: {} for kind in _KINDS[1:-1]})
    results: dict[tuple[str, str, str, int], dict[str, Any]] = field(default_factory=dict)
    setups: dict[str, Setup | None] = field(default_factory=dict)
    """None for one with settings this version does not have; its lines are kept but not used."""
    origins: dict[str, Origin] = field(default_factory=dict)

    def read_line(self, values: dict[str, Any]) -> None:
        """Add a line."""
        kind = values.pop("record")
        if kind == "file":
            if values["format"] != _FORMAT:
                raise ValueError(f"format {values['format']}; this version reads format {_FORMAT}")
            self.head = values
        elif kind == "result":
            RestartResult(**_result_values(values))
            self._take(values)
        else:
            name = values.pop("id")
            self.lines[kind][name] = values
            if kind == "setup":
                self.setups[name] = _setup(values)
            if kind == "origin":
                self.origins[name] = Origin.from_json(values)

    def _take(self, values: dict[str, Any]) -> None:
        key = values["setup"], values["data"], values["origin"], values["restart"]
        self.results.setdefault(key, values)

    def check(self) -> None:
        """Raise an error if the file does not begin as one, or a line names an id that is not there."""
        if not self.head:
            raise ValueError("the line that says what the file is of is missing")
        for values in self.results.values():
            for kind, known in self.lines.items():
                if values[kind] not in known:
                    raise ValueError(f"a result names {kind} {values[kind]!r}, which is not there")

    def settings(self) -> list[StoredSetting]:
        """The results, typed and by setting."""
        found: dict[tuple[str, str], list[dict[str, Any]]] = {}
        for values in self.results.values():
            found.setdefault((values["setup"], values["data"]), []).append(values)
        return [
            StoredSetting(setting, tuple(self._record(setting, values) for values in own))
            for key, own in found.items()
            if (setting := self._setting(*key))
        ]

    def _record(self, setting: Setting, values: dict[str, Any]) -> StoredResult:
        result = RestartResult(**_result_values(values))
        return StoredResult(setting, result, self.origins[values["origin"]], tuple(values.get("stack", ())))

    def _setting(self, setup_id: str, data_id: str) -> Setting | None:
        setup, data = self.setups[setup_id], self.lines["data"][data_id]
        if setup is None:
            return None
        name = self.lines["setup"][setup_id]["name"]
        about = data["sha256"], data["name"], data["note"]
        return Setting(self.head["table"], self.head["column"], data["task"], setup, name, *about)

    def add(self, record: StoredResult) -> None:
        """Add a result, with the lines it refers to."""
        setting = record.setting
        values = {"name": setting.recipe_name, **setup_to_json(setting.setup)}
        setup_id = self._known(setting.setup)
        if setup_id is None:
            setup_id = self._named("setup", f"{setting.recipe_name or 'unnamed'}.{short_id(values)}", values)
            self.setups[setup_id] = setting.setup
        data = {"task": setting.task, "sha256": setting.data, "name": setting.data_name, "note": setting.note}
        data_id = self._named("data", f"{setting.task}.{setting.data[:8]}", data, ("task", "sha256"))
        origin = record.origin.as_json()
        origin_id = self._named("origin", f"{(record.origin.commit or 'unknown')[:7]}.{short_id(origin)}", origin)
        self.origins[origin_id] = record.origin
        result = asdict(record.result)
        if result["test_error"] is None:
            del result["test_error"]
        stack = {"stack": list(record.stack)} if record.stack else {}
        self._take({"setup": setup_id, "data": data_id, **result, **stack, "origin": origin_id})

    def _named(self, kind: str, name: str, values: dict[str, Any], deciding: Sequence[str] = ()) -> str:
        """The id of a line with these values (or just those in ``deciding``); it is added if there is none."""
        lines = self.lines[kind]
        for known, others in lines.items():
            if all(others.get(key) == values[key] for key in deciding or values):
                return known
        while name in lines:
            name += "+"
        lines[name] = values
        return name

    def _known(self, setup: Setup) -> str | None:
        """The setup that is already there, possibly with fewer options or under another name."""
        return next((name for name, known in self.setups.items() if known and same_setup(known, setup)), None)

    def text(self) -> str:
        """The file."""
        lines = [_line("file", self.head)]
        for kind, known in self.lines.items():
            named = ({"id": name, **values} for name, values in known.items())
            lines += [_line(kind, values) for values in sorted(named, key=lambda values: _order(kind, values))]
        lines += [_line("result", values) for values in sorted(self.results.values(), key=_result_order)]
        return "\n".join(lines) + "\n"


def _new_file(table: str, column: str) -> _File:
    return _File({"format": _FORMAT, "table": table, "column": column})


def _setup(values: dict[str, Any]) -> Setup | None:
    try:
        return setup_from_json(values)
    except InputError:
        return None


def _result_values(values: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if name not in ("setup", "data", "origin", "stack")}


def _line(kind: str, values: dict[str, Any]) -> str:
    return json.dumps({"record": kind, **values}, ensure_ascii=False)


def _by_number(name: str) -> tuple[bool, str]:
    """Task 2 before task 10."""
    task = name.partition(".")[0]
    return not task.isdecimal(), f"{task:>4}{name}"


def _order(kind: str, values: dict[str, Any]) -> tuple[Any, ...]:
    if kind == "data":
        return _by_number(values["id"])
    return (values["date"] if kind == "origin" else values["name"], values["id"])


def _result_order(values: dict[str, Any]) -> tuple[Any, ...]:
    return (*_by_number(values["data"]), values["setup"], values["restart"], values["origin"])


def _read(path: Path) -> _File:
    file = _File({})
    number = 0
    try:
        text = path.read_text(encoding="utf-8")
        *lines, _ = text.split("\n")  # nothing is left after the last line, unless it was cut off
        for line in lines:
            number += 1
            file.read_line(json.loads(line))
        file.check()
        file.settings()
        return file
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise InputError(f"{path}, line {number}: not readable as results ({error}); restore or remove it") from error
