"""What a stored result measures (``Setting``) and where it comes from (``Origin``), both also as JSON."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from query_reduction.dialog.dialogs import DialogOptions
from query_reduction.errors import InputError
from query_reduction.rivals.registry import config_from_json, config_to_json
from query_reduction.settings import from_json
from query_reduction.training.recipes import Recipe
from query_reduction.training.setup import Setup, options_of
from query_reduction_lab.experiments.probe import Fingerprint

__all__ = [
    "Machine",
    "Origin",
    "Processor",
    "Setting",
    "fingerprint_from_json",
    "fingerprint_to_json",
    "same_setup",
    "setup_from_json",
    "setup_to_json",
    "short_id",
]

_DECIDING = tuple(each.name for each in fields(Recipe) if each.name != "restarts")
"""The settings of a recipe that decide how a restart is trained."""
_WHEN_ABSENT = {"split": "question"}
"""Settings of a recipe that did not exist when some results were stored, and what the code did then. A setting that is
not named here had no effect at its default."""


@dataclass(frozen=True, slots=True)
class Setting:
    """What determines a restart's result, apart from its number and the code."""

    table: str
    column: str
    task: str
    """The task's number, or ``all`` for one network trained on every task."""
    setup: Setup
    recipe_name: str
    """The recipe's name in the plan of the table; the settings matter, not the name."""
    data: str
    """sha256 of the stories."""
    data_name: str = ""
    note: str = ""
    """Set if the data is not the published one; every table repeats it."""

    @property
    def keep(self) -> str:
        """The measure by which the recipe chooses a restart."""
        return self.setup.recipe.keep

    def same_as(self, other: Setting) -> bool:
        """Whether both give the same results. The number of restarts is up to the sweep."""
        own = self.table, self.column, self.task, self.data
        return own == (other.table, other.column, other.task, other.data) and same_setup(self.setup, other.setup)

    def as_json(self) -> dict[str, Any]:
        """Everything as plain values."""
        own = {name: getattr(self, name) for name in ("table", "column", "task", "recipe_name", "data")}
        return own | {"data_name": self.data_name, "note": self.note, "setup": setup_to_json(self.setup)}

    @staticmethod
    def from_json(values: Mapping[str, Any]) -> Setting:
        """The inverse of ``as_json``."""
        return Setting(**{**values, "setup": setup_from_json(values["setup"])})

    def key(self) -> str:
        """A short name that differs if anything that determines the result differs."""
        return short_id([self.table, self.column, self.task, self.data, setup_to_json(self.setup)])


def same_setup(one: Setup, other: Setup) -> bool:
    """Whether two setups train a restart in the same way."""
    same_parts = one.network == other.network and one.task == other.task
    return same_parts and all(getattr(one.recipe, name) == getattr(other.recipe, name) for name in _DECIDING)


def setup_to_json(setup: Setup) -> dict[str, Any]:
    """Network, task and recipe as plain values, without the number of restarts."""
    recipe = asdict(setup.recipe)
    del recipe["restarts"]
    kind = "dialogs" if isinstance(setup.task, DialogOptions) else "stories"
    return {
        "network": config_to_json(setup.network),
        "task": {"kind": kind, **asdict(setup.task)},
        "recipe": recipe,
    }


def setup_from_json(values: Mapping[str, Any]) -> Setup:
    """The inverse of ``setup_to_json``; a setting that did not exist then counts as unused, one that no longer exists
    is an ``InputError``."""
    kind = values["task"].get("kind")
    if kind not in ("stories", "dialogs"):
        raise InputError(f"a task of kind {kind!r}: there are stories and dialogs")
    task = {name: value for name, value in values["task"].items() if name != "kind"}
    return Setup(
        config_from_json(values["network"]),
        from_json(options_of(kind), task),
        from_json(Recipe, {**_WHEN_ABSENT, **values["recipe"]}),
    )


def short_id(values: Any) -> str:
    """A short name for plain values: equal for equal values."""
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()[:8]


def fingerprint_to_json(code: Fingerprint) -> dict[str, Any]:
    """What the code computed, as plain values."""
    native = {"native_probe": list(code.native)} if code.native else {}
    return {"probe": list(code.plain), **native}


def fingerprint_from_json(values: Mapping[str, Any]) -> Fingerprint:
    """The inverse of ``fingerprint_to_json``."""
    return Fingerprint(tuple(values["probe"]), tuple(values.get("native_probe", ())))


@dataclass(frozen=True, slots=True)
class Processor:
    """What the arithmetic of a training ran on."""

    instruction_set: str | None = None
    """avx512, avx2 or baseline; None if it was not recorded or no native code ran."""
    native: bool | None = None
    """Whether native code ran; None if it was not recorded."""


@dataclass(frozen=True, slots=True)
class Machine:
    """Where a sweep was driven from."""

    processor: str
    cores: int
    system: str
    python: str
    torch: str


@dataclass(frozen=True, slots=True)
class Origin:
    """Where results come from."""

    commit: str | None
    command: str
    machine: Machine
    version: str
    date: str
    fingerprint: Fingerprint
    """What the code computed."""
    ran_on: Processor = Processor()

    def as_json(self) -> dict[str, Any]:
        """Everything as plain values; unknown ones are omitted."""
        values = {name: getattr(self, name) for name in ("commit", "command", "version", "date")}
        values["machine"] = asdict(self.machine)
        if self.ran_on.native is not None:
            values |= asdict(self.ran_on)
        return values | fingerprint_to_json(self.fingerprint)

    @staticmethod
    def from_json(values: Mapping[str, Any]) -> Origin:
        """The inverse of ``as_json``."""
        return Origin(
            values["commit"],
            values["command"],
            Machine(**values["machine"]),
            values["version"],
            values["date"],
            fingerprint_from_json(values),
            Processor(values.get("instruction_set"), values.get("native")),
        )
