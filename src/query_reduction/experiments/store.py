"""The results of sweeps, kept as small text files that live in version control.

One file holds the results of one setting (table, variant, task, network, recipe, data): a line for every finished
restart, and the origins (code, command, machine) they point at. A file is replaced as a whole, under a lock, each
time a restart is done, so a sweep may be killed at any moment and several may write at once.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from query_reduction.errors import InputError
from query_reduction.experiments.probe import agree
from query_reduction.experiments.trials import RestartResult, Setting
from query_reduction.files import write_atomically

__all__ = ["Origin", "ResultStore", "StoredSetting"]

_FORMAT = 1


@dataclass(frozen=True, slots=True)
class Origin:
    """Where results come from."""

    commit: str | None
    command: str
    machine: dict[str, Any]
    version: str
    date: str
    probe: tuple[float, ...]
    """What the code computed; see ``training.probe``."""


@dataclass(frozen=True, slots=True)
class StoredSetting:
    """A file of the store."""

    path: Path
    setting: dict[str, Any]
    origins: tuple[Origin, ...]
    results: tuple[tuple[RestartResult, int], ...]
    """Each restart's result and the number of its origin."""

    def of_code(self, probe: Sequence[float]) -> dict[int, RestartResult]:
        """The results by restart that code with this probe gave."""
        return {result.restart: result for result, origin in self.results if agree(self.origins[origin].probe, probe)}

    def groups(self) -> list[tuple[Origin, dict[int, RestartResult]]]:
        """The results by the code that gave them, each with its latest origin; the latest group first."""
        found: list[tuple[Origin, dict[int, RestartResult]]] = []
        for origin in sorted(self.origins, key=lambda origin: origin.date, reverse=True):
            results = self.of_code(origin.probe)
            if results and not any(agree(known.probe, origin.probe) for known, _ in found):
                found.append((origin, dict(sorted(results.items()))))
        return found


class ResultStore:
    """A folder of results."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def settings(self, table: str, variant: str = "*", task: str = "*") -> Iterator[StoredSetting]:
        """Everything stored for a table."""
        for path in sorted((self.folder / table).glob(f"{variant}/task-{task}.*.json")):
            yield _read(path)

    def find(self, setting: Setting) -> StoredSetting | None:
        """What is stored for this setting."""
        for stored in self.settings(setting.table, setting.variant, setting.task):
            if setting.same_as(stored.setting):
                return stored
        return None

    def add(self, setting: Setting, result: RestartResult, origin: Origin) -> None:
        """Keep a result, for good. One already there from the same code is not replaced: it is as good."""
        with self._locked():
            stored = self.find(setting)
            if stored is None:
                name = f"task-{setting.task}.{setting.key()}.json"
                path = self.folder / setting.table / setting.variant / name
                stored = StoredSetting(path, setting.as_json(), (), ())
            if result.restart in stored.of_code(origin.probe):
                return
            origins = stored.origins if origin in stored.origins else (*stored.origins, origin)
            results = (*stored.results, (result, origins.index(origin)))
            _write(StoredSetting(stored.path, stored.setting, origins, results))

    @contextmanager
    def _locked(self) -> Iterator[None]:
        self.folder.mkdir(parents=True, exist_ok=True)
        lock = os.open(self.folder, os.O_RDONLY)  # the folder itself, so that no lock file lies about
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield
        finally:
            os.close(lock)


def _read(path: Path) -> StoredSetting:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        if content["format"] != _FORMAT:
            raise InputError(f"{path}: format {content['format']}; this version reads format {_FORMAT}")
        origins = tuple(Origin(**record | {"probe": tuple(record["probe"])}) for record in content["origins"])
        results = []
        for record in content["results"]:
            origin = int(record.pop("origin"))
            results.append((RestartResult(**record), origin))
            _ = origins[origin]
        return StoredSetting(path, content["setting"], origins, tuple(results))
    except (OSError, ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
        raise InputError(f"{path}: not a readable file of results ({error}); restore or remove it") from error


def _write(stored: StoredSetting) -> None:
    """One line an entry, so that a version control system shows what was added."""
    ordered = sorted(stored.results, key=lambda entry: (entry[1], entry[0].restart))
    results = [json.dumps(asdict(result) | {"origin": origin}) for result, origin in ordered]
    origins = [json.dumps(asdict(origin)) for origin in stored.origins]
    text = (
        f'{{\n"format": {_FORMAT},\n"setting": {json.dumps(stored.setting, ensure_ascii=False)},\n'
        f'"origins": [\n {_lines(origins)}\n],\n"results": [\n {_lines(results)}\n]\n}}\n'
    )
    write_atomically(stored.path, text)


def _lines(entries: list[str]) -> str:
    return ",\n ".join(entries)
