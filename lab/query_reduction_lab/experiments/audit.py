"""Stored results recomputed: some restarts, drawn at random, stored compared with new.

A restart is trained again together with those it was trained with, because they affect the last bits of its sums. With
the same code and instructions, the numbers must be equal; otherwise training amplifies the last bits, and the new
number must be one that another restart of the cell could have given.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from query_reduction.errors import InputError
from query_reduction.training.results import RestartResult
from query_reduction_lab.experiments.catalogue import EXPERIMENTS
from query_reduction_lab.experiments.probe import fingerprint
from query_reduction_lab.experiments.settings import Origin, Processor
from query_reduction_lab.experiments.store import ResultStore, StoredResult, StoredSetting
from query_reduction_lab.experiments.sweep import Job, plan
from query_reduction_lab.experiments.sweeps import Origins, cost_of, load_parts_of, prepare_folder

__all__ = ["AuditedCell", "Comparison", "audit_markdown", "compare", "draw", "plan_audit"]

_STACK = 10
_DEVIATIONS = 3
_QUESTIONS = 0.2
"""In percent: two questions of a thousand. If all restarts give the same error, this much is not a difference."""
_STACK_OPTION = re.compile(r"--stack[ =](\d+)")


@dataclass(frozen=True, slots=True)
class AuditedCell:
    """A stored restart that was drawn, and all stored restarts of its cell."""

    record: StoredResult
    stored: StoredSetting

    @property
    def name(self) -> str:
        """A readable name."""
        setting = self.record.setting
        return f"{setting.table} {setting.column} task {setting.task} {setting.recipe_name}"

    @property
    def stack(self) -> tuple[int, ...]:
        """The restarts it was trained with; if not recorded, those the sweep's command makes likely."""
        if self.record.stack:
            return self.record.stack
        origin = self.record.origin
        together = sorted(one.result.restart for one in self.stored.records if one.origin == origin)
        option = _STACK_OPTION.search(origin.command)
        size = int(option[1]) if option else _STACK
        first = together.index(self.record.result.restart) // size * size
        return tuple(together[first : first + size])


@dataclass(frozen=True, slots=True)
class Comparison:
    """A stored restart compared with the same one recomputed."""

    cell: AuditedCell
    again: RestartResult | None
    """None if it could not be recomputed."""
    ran_on: Processor
    verdict: str
    passed: bool


def draw(store: ResultStore, count: int, seed: int) -> list[AuditedCell]:
    """This many random cells, with a random restart of each; the same ones for the same store and seed."""
    known = [stored for stored in store.all_settings() if stored.setting.table in EXPERIMENTS]
    known.sort(key=lambda stored: (stored.setting.table, stored.setting.column, stored.setting.key()))
    if not known:
        raise InputError(f"nothing is stored in {store.folder}")
    chance = random.Random(seed)
    drawn = chance.sample(known, min(count, len(known)))
    return [AuditedCell(chance.choice(stored.records), stored) for stored in drawn]


def plan_audit(cells: Sequence[AuditedCell], again: ResultStore, unfinished: Path) -> tuple[list[Job], dict[str, str]]:
    """The jobs that recompute the cells into another store, and why some cannot be recomputed: name → reason."""
    prepare_folder(unfinished)
    origins = Origins()
    jobs: list[Job] = []
    problems: dict[str, str] = {}
    for cell in cells:
        setting = cell.record.setting
        load = partial(load_parts_of, EXPERIMENTS[setting.table], setting.task)
        try:
            parts = load()
        except InputError as error:
            problems[cell.name] = str(error)
            continue
        if parts.checksum() != setting.data:
            problems[cell.name] = "the data here is not the data it was trained on"
            continue
        jobs += plan(
            again,
            unfinished,
            setting,
            cell.stack,
            origins.of(setting.setup),
            load,
            stack=len(cell.stack),
            cost=cost_of(setting.setup, parts),
        )
    return jobs, problems


def compare(cells: Sequence[AuditedCell], again: ResultStore, problems: dict[str, str]) -> list[Comparison]:
    """Compare stored with new."""
    return [_compare(cell, again, problems.get(cell.name, "it was not computed again")) for cell in cells]


def _compare(cell: AuditedCell, again: ResultStore, problem: str) -> Comparison:
    stored = cell.record.result
    found = again.find(cell.record.setting)
    record = next((one for one in found.records if one.result.restart == stored.restart), None) if found else None
    if record is None:
        return Comparison(cell, None, Processor(), f"not compared: {problem}", False)
    new, ran_on = record.result, record.origin.ran_on
    if _numbers(new) == _numbers(stored):
        return Comparison(cell, new, ran_on, "equal", True)
    origin = cell.record.origin
    same_code = origin.fingerprint.agrees(fingerprint(cell.record.setting.setup))
    if not same_code:
        return Comparison(cell, new, ran_on, "computed by code that gives other numbers", False)
    if _same_arithmetic(origin, record.origin):
        return Comparison(cell, new, ran_on, "NOT EQUAL on the same instruction set", False)
    results = [one.result for one in cell.stored.records]
    if len(results) < 2:
        return Comparison(cell, new, ran_on, "differs; the cell has one restart, so its spread is not known", True)
    if all(_within(results, new, measure, row) for measure, rows in new.errors.items() for row in rows):
        return Comparison(cell, new, ran_on, "within the spread of the restarts", True)
    return Comparison(cell, new, ran_on, "OUTSIDE the spread of the restarts", False)


def _same_arithmetic(stored: Origin, new: Origin) -> bool:
    """Whether both ran the same instructions; without native code PyTorch chooses them, by the kind of processor."""
    alike = stored.ran_on == new.ran_on and stored.machine.torch == new.machine.torch
    return alike and (bool(new.ran_on.native) or stored.machine.processor == new.machine.processor)


def _numbers(result: RestartResult) -> tuple[object, ...]:
    """All results of training and test, without the time."""
    errors = {measure: dict(rows) for measure, rows in result.errors.items()}
    return result.epochs, result.best_epoch, result.dev_loss, result.dev_error, errors


def _within(results: Sequence[RestartResult], new: RestartResult, measure: str, row: str) -> bool:
    errors = [result.errors[measure][row] for result in results]
    return bool(abs(new.errors[measure][row] - np.mean(errors)) <= _DEVIATIONS * np.std(errors) + _QUESTIONS)


def audit_markdown(comparisons: Sequence[Comparison], origin: Origins, seed: int) -> str:
    """The report."""
    counts: dict[str, int] = {}
    for one in comparisons:
        verdict = one.verdict.partition(":")[0]
        counts[verdict] = counts.get(verdict, 0) + 1
    sets = sorted({one.ran_on.instruction_set or "no native code" for one in comparisons if one.again})
    machine = origin.about["machine"]
    lines = [
        "### Stored results computed again",
        "",
        f"{len(comparisons)} cells drawn at random (seed {seed}), one restart of each: "
        + "; ".join(f"{count} {verdict}" for verdict, count in sorted(counts.items()))
        + ".",
        "",
        "| cell | restart | stored: test, dev loss | again: test, dev loss | mean ± std, restarts | stored on | |",
        "|---|---:|---:|---:|---:|---|---|",
        *map(_line, comparisons),
        "",
        "Test: error in percent by the table's own measure, averaged over its rows. Equal: test errors, development "
        f"loss and error, and epochs are the same to the last digit. Within the spread: at most {_DEVIATIONS} standard "
        f"deviations and {_QUESTIONS} points from the mean of the cell's restarts, in every row and measure.",
        "",
        f"`{origin.about['command']}`, commit {origin.about['commit'] or 'unknown'}, {origin.date}; "
        f"{machine['processor']} ({', '.join(sets)}), torch {machine['torch']}.",
    ]
    return "\n".join(lines) + "\n"


def _line(one: Comparison) -> str:
    record = one.cell.record
    errors = [_main_error(record.setting.table, other.result) for other in one.cell.stored.records]
    spread = f"{np.mean(errors):.1f} ± {np.std(errors):.1f}, {len(errors)}"
    again = _shown(record.setting.table, one.again) if one.again else "–"
    stored = _shown(record.setting.table, record.result)
    ran_on = record.origin.ran_on
    without = "no native code" if ran_on.native is False else "not recorded"
    where = f"{record.origin.machine.processor}, {ran_on.instruction_set or without}"
    return f"| {one.cell.name} | {record.result.restart} | {stored} | {again} | {spread} | {where} | {one.verdict} |"


def _shown(table: str, result: RestartResult) -> str:
    loss = "–" if result.dev_loss is None else f"{result.dev_loss:.6f}"
    return f"{_main_error(table, result):.2f}, {loss}"


def _main_error(table: str, result: RestartResult) -> float:
    return float(np.mean(list(result.errors[EXPERIMENTS[table].measures[0]].values())))
