"""Which stored results would today's code compute differently? The probe of every stored setup, computed again.

Nothing is discarded, and nothing but the probes is trained. A result whose probe differs stays in the tables until
``qrn reproduce TABLE --renew`` has trained it again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from query_reduction._version import __version__
from query_reduction.training.setup import Setup
from query_reduction_lab.experiments.probe import Fingerprint, agree, fingerprint
from query_reduction_lab.experiments.settings import Origin, fingerprint_from_json, setup_from_json
from query_reduction_lab.experiments.store import ResultStore

__all__ = ["ColumnStatus", "Status", "status_markdown", "status_of"]


@dataclass(frozen=True, slots=True)
class ColumnStatus:
    """Stored results of a column, all of one recipe and one computation."""

    table: str
    column: str
    recipe: str
    tasks: tuple[str, ...]
    version: str
    """The release that computed them."""
    commits: tuple[str, ...]
    drift: str
    """How today's probe differs from the stored one; empty if it does not."""


@dataclass(frozen=True, slots=True)
class Status:
    """What today's code makes of the results."""

    columns: tuple[ColumnStatus, ...]
    releases: Mapping[str, tuple[str, ...]]
    """Release → the published timings and studies that it measured, which have no probe."""

    @property
    def drifted(self) -> tuple[ColumnStatus, ...]:
        """The results that today's code computes differently."""
        return tuple(column for column in self.columns if column.drift)

    def as_json(self) -> dict[str, Any]:
        """Everything as plain values."""
        return asdict(self)


def status_of(
    results: Path, columns: Sequence[str] = (), on_probe: Callable[[int, int, str], None] = lambda done, all, name: None
) -> Status:
    """Probe the setups of a folder's stored results, or of these columns; ``on_probe`` hears how far it has come."""
    cells: dict[Setup, dict[tuple[str, str, str, Origin], list[str]]] = {}
    for stored in ResultStore(results / "store").all_settings():
        setting = stored.setting
        if not columns or setting.column in columns:
            latest, _ = stored.groups()[0]
            place = setting.table, setting.column, setting.recipe_name, latest
            cells.setdefault(setting.setup, {}).setdefault(place, []).append(setting.task)
    drifts: dict[tuple[str, str, str, str, str], tuple[list[str], set[str]]] = {}
    for number, (setup, places) in enumerate(cells.items()):
        on_probe(number, len(cells), " ".join(next(iter(places))[:2]))
        today = fingerprint(setup)
        for (table, column, recipe, origin), tasks in places.items():
            key = table, column, recipe, origin.version, _difference(origin.fingerprint, today)
            known, commits = drifts.setdefault(key, ([], set()))
            known += tasks
            commits.add(origin.commit or "unknown")
    found = _studies(results) if not columns else []
    found += [
        ColumnStatus(table, column, recipe, tuple(sorted(tasks, key=_by_number)), version, tuple(sorted(commits)), why)
        for (table, column, recipe, version, why), (tasks, commits) in sorted(drifts.items())
    ]
    return Status(tuple(found), _releases(results))


def _studies(results: Path) -> list[ColumnStatus]:
    """The same for studies that say what they trained."""
    found = []
    for path, content in _published(results):
        for trained in content.get("trained", ()):
            setup = setup_from_json(trained["setup"])
            drift = _difference(fingerprint_from_json(trained), fingerprint(setup))
            about = content["version"], (content["commit"],)
            found.append(ColumnStatus(path.name, setup.name, "", ("all",), *about, drift))
    return found


def _difference(stored: Fingerprint, today: Fingerprint) -> str:
    """How two probes differ, in words; empty if they agree."""
    if stored.agrees(today):
        return ""
    name, before, now = "plain", stored.plain, today.plain
    if agree(before, now):
        name, before, now = "native", stored.native, today.native
    if len(before) != len(now):
        return f"{name} probe: {len(now)} numbers instead of {len(before)}"
    apart = [abs(a - b) for a, b in zip(before, now, strict=True)]
    return f"{name} probe: {sum(map(bool, apart))} of {len(apart)} numbers differ, by up to {max(apart):.2g}"


def _releases(results: Path) -> dict[str, tuple[str, ...]]:
    found: dict[str, list[str]] = {}
    for path, content in _published(results):
        about = content.get("origin", content)
        if "version" in about:
            found.setdefault(about["version"], []).append(path.relative_to(results).as_posix())
    return {version: tuple(files) for version, files in sorted(found.items())}


def _published(results: Path) -> Iterator[tuple[Path, dict[str, Any]]]:
    """The files of studies and of the benchmark."""
    for path in sorted(results.glob("**/*.json")):
        content = json.loads(path.read_text(encoding="utf-8"))
        if isinstance(content, dict) and ".unfinished" not in path.parts:
            yield path, content


def status_markdown(status: Status) -> str:
    """For a person."""
    cells, apart = (sum(len(column.tasks) for column in part) for part in (status.columns, status.drifted))
    lines = [f"{cells} stored cells: today's code computes {cells - apart} the same and {apart} differently."]
    if apart:
        lines += ["", "| table | column | recipe | tasks | stored by | difference |", "|---|---|---|---|---|---|"]
        lines += [
            f"| {one.table} | {one.column} | {one.recipe} | {_shown(one.tasks)} | {one.version}, "
            f"{', '.join(commit[:7] for commit in one.commits)} | {one.drift} |"
            for one in status.drifted
        ]
        lines += ["", "They stay as they are; `qrn reproduce TABLE --variants COLUMN --renew` trains them again."]
    for version, files in status.releases.items():
        own = " (this release)" if version == __version__ else ""
        lines += ["", f"Timings and studies of {version}{own}: {', '.join(files)}."]
    return "\n".join(lines) + "\n"


def _by_number(task: str) -> tuple[bool, int, str]:
    return not task.isdecimal(), int(task) if task.isdecimal() else 0, task


def _shown(tasks: Sequence[str]) -> str:
    """Neighbours as a range: 1-5, 19."""
    runs: list[list[str]] = []
    for task in tasks:
        if runs and task.isdecimal() and runs[-1][-1].isdecimal() and int(task) == int(runs[-1][-1]) + 1:
            runs[-1].append(task)
        else:
            runs.append([task])
    return ", ".join(run[0] if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)
