"""Write what was found, and where it comes from, to one JSON file per part; and read it back."""

from __future__ import annotations

import json
import os
import types
from dataclasses import asdict, dataclass, fields, is_dataclass
from importlib import metadata
from pathlib import Path
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from query_reduction.errors import InputError
from query_reduction.files import write_atomically
from query_reduction.native import library as native
from query_reduction.origin import provenance
from query_reduction_lab.bench.results import Build, Limits, LongStories, Recurrence, Scaling, Step

__all__ = [
    "PARTS",
    "Origin",
    "Package",
    "Part",
    "Record",
    "from_plain",
    "load_record",
    "origin_now",
    "write_record",
]

_FORMAT = 2
_PACKAGES = ("torch", "numpy", "numba", "jax", "jaxlib", "torchlpc", "mambapy", "accelerated-scan")

Part = Recurrence | Step | Scaling | Limits | LongStories | Build
PARTS: dict[str, type[Part]] = {
    "recurrence": Recurrence,
    "step": Step,
    "scaling": Scaling,
    "limits": Limits,
    "memory": LongStories,
    "build": Build,
}
Kind = TypeVar("Kind")


@dataclass(frozen=True, slots=True)
class Package:
    """An installed package that takes part, or computes for one that does."""

    name: str
    version: str


@dataclass(frozen=True, slots=True)
class Origin:
    """Where figures come from."""

    command: str
    commit: str | None
    version: str
    processor: str
    cores: int
    system: str
    python: str
    instruction_set: str | None
    """The native library's; None without it."""
    load: float
    """The machine's load, averaged over the last minute before the part began."""
    packages: tuple[Package, ...]


@dataclass(frozen=True, slots=True)
class Record:
    """One part of the benchmark, measured."""

    name: str
    quick: bool
    origin: Origin
    part: Part


def origin_now() -> Origin:
    """This code on this machine."""
    found = provenance()
    machine = found["machine"]
    return Origin(
        found["command"],
        found["commit"],
        found["version"],
        machine["processor"],
        machine["cores"],
        machine["system"],
        machine["python"],
        native.variant() if native.available() else None,
        round(os.getloadavg()[0], 2),
        tuple(_installed()),
    )


def _installed() -> list[Package]:
    found = []
    for name in _PACKAGES:
        try:
            found.append(Package(name, metadata.version(name)))
        except metadata.PackageNotFoundError:
            continue
    return found


def write_record(record: Record, folder: Path) -> Path:
    """Write it under its name."""
    path = folder / f"{record.name}.json"
    content = {"format": _FORMAT, **asdict(record)}
    write_atomically(path, json.dumps(_rounded(content), indent=1, ensure_ascii=False) + "\n")
    return path


def load_record(path: Path) -> Record:
    """Read a file written by ``write_record``."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        if content["format"] != _FORMAT:
            raise ValueError("another format")
        part = from_plain(PARTS[content["name"]], content["part"])
        content["origin"].pop("code", None)  # versions before 0.3.0 wrote checksums of source files
        return Record(content["name"], content["quick"], from_plain(Origin, content["origin"]), part)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(f"{path}: not figures of 'qrn bench' ({error})") from error


def _rounded(value: Any) -> Any:
    """Five significant digits are more than any timing has."""
    if isinstance(value, float):
        return float(f"{value:.5g}")
    if isinstance(value, dict):
        return {name: _rounded(own) for name, own in value.items()}
    return [_rounded(own) for own in value] if isinstance(value, (list, tuple)) else value


def from_plain(kind: type[Kind], value: Any) -> Kind:
    """A frozen dataclass from what ``asdict`` and JSON made of it; every field must be there."""
    hints = get_type_hints(kind)
    names = [own.name for own in fields(kind)]  # type: ignore[arg-type]
    if set(value) != set(names):
        raise ValueError(f"{kind.__name__} has other fields")
    return kind(**{name: _typed(hints[name], value[name]) for name in names})


def _typed(kind: Any, value: Any) -> Any:
    if is_dataclass(kind):
        return from_plain(kind, value)  # type: ignore[arg-type]
    if get_origin(kind) is tuple:
        return tuple(_typed(get_args(kind)[0], own) for own in value)
    allowed = get_args(kind) if get_origin(kind) is types.UnionType else (kind,)
    if float in allowed and isinstance(value, int):
        return float(value)
    if not isinstance(value, allowed):
        raise ValueError(f"{value!r} is not {kind}")
    return value
