"""Settings are frozen dataclasses: every field has a type, every number a range, and everything is checked.

The command line, the Python functions and the files that models are saved in all make settings here, so a bad value is
noticed before anything is allocated, and the message names the setting.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import MISSING, asdict, dataclass, fields, replace
from typing import Annotated, Any, ClassVar, Literal, TypeVar, get_args, get_origin, get_type_hints

from query_reduction.errors import InputError

__all__ = ["Added", "Between", "as_json", "changed", "check", "check_ranges", "defaults", "from_json"]

Settings = TypeVar("Settings")


@dataclass(frozen=True, slots=True)
class Between:
    """The range of a number, both ends included: ``layers: Annotated[int, Between(1, 64)]``."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Added:
    """Marks a setting that model files of version 0.2.0 do not have: ``encoder: Annotated[EncoderName, Added()]``.

    At its default it is not written, so that the checksum of what has no need of it stays the same.
    """


def as_json(settings: Any) -> dict[str, Any]:
    """Settings as plain values, the inverse of ``from_json``."""
    added = {name for name, kind in _hints(type(settings)).items() if Added() in getattr(kind, "__metadata__", ())}
    plain = {field.name: field.default for field in fields(settings) if field.name in added}
    return {name: value for name, value in asdict(settings).items() if name not in plain or value != plain[name]}


def check(settings: Any) -> None:
    """Raise ``InputError`` if a value is not of its field's type or lies outside its range."""
    for name, kind in _hints(type(settings)).items():
        _check_value(name, getattr(settings, name), kind)


def check_ranges(options: Any) -> None:
    """Raise ``InputError`` if a number that has a range lies outside of it; None is no number."""
    for name, kind in _hints(type(options)).items():
        value = getattr(options, name)
        limits = [entry for entry in getattr(kind, "__metadata__", ()) if isinstance(entry, Between)]
        if limits and value is not None:
            base = float if float in (get_args(kind)[0], *get_args(get_args(kind)[0])) else int
            _check_value(name, value, Annotated[base, limits[0]])


def from_json(kind: type[Settings], values: Any) -> Settings:
    """Settings from a JSON object; a missing field takes its default, an unknown one is an error.

    Files of earlier versions may name a setting that a class lists as ``RETIRED``, with the one value it still has.
    """
    if not isinstance(values, Mapping):
        raise InputError(f"{kind.__name__} must be an object with named settings, not {_shown(values)}")
    retired: Mapping[str, Any] = getattr(kind, "RETIRED", {})
    for name in values.keys() & retired.keys():
        if values[name] != retired[name]:
            raise InputError(f"{name} {_shown(values[name])} is no longer supported; version 0.2.0 can read it")
    return changed(defaults(kind), {name: value for name, value in values.items() if name not in retired})


def defaults(kind: type[Settings]) -> Settings:
    """The default settings."""
    missing = [field.name for field in fields(kind) if field.default is MISSING]  # type: ignore[arg-type]
    if missing:
        raise TypeError(f"{kind.__name__} has no default for {', '.join(missing)}")
    return kind()


def changed(settings: Settings, changes: Mapping[str, Any]) -> Settings:
    """The settings with some values replaced; naming one that does not exist is an error that lists those that do."""
    known = [field.name for field in fields(settings)]  # type: ignore[arg-type]
    unknown = [str(name) for name in changes if name not in known]
    if unknown:
        raise InputError(f"{type(settings).__name__} has no setting {unknown[0]!r}; it has {', '.join(known)}")
    hints = _hints(type(settings))
    for name, value in changes.items():
        _check_value(name, value, hints[name])
    return replace(settings, **changes)  # type: ignore[type-var]


_known_hints: dict[type, dict[str, Any]] = {}


def _hints(kind: type) -> dict[str, Any]:
    """The types of a class's fields, with their ranges; looked up once."""
    if kind not in _known_hints:
        hints = get_type_hints(kind, include_extras=True)
        _known_hints[kind] = {name: hint for name, hint in hints.items() if get_origin(hint) is not ClassVar}
    return _known_hints[kind]


def _check_value(name: str, value: Any, kind: Any) -> None:
    base, limits = kind, None
    if get_origin(kind) is Annotated:
        base, *rest = get_args(kind)
        limits = next((entry for entry in rest if isinstance(entry, Between)), None)
    if get_origin(base) is Literal:
        choices = get_args(base)
        if value not in choices:
            raise InputError(f"{name} must be one of {', '.join(map(str, choices))}, not {_shown(value)}")
        return
    expected = {bool: "true or false", int: "a whole number", float: "a number", str: "a text"}.get(base)
    fits = isinstance(value, (int, float) if base is float else base) and (base is bool or not isinstance(value, bool))
    # Neither NaN nor infinite, nor a whole number too large for a float.
    fits = fits and not (base is float and not abs(value) <= sys.float_info.max)
    if not fits or (limits is not None and not limits.low <= value <= limits.high):
        within = f" from {limits.low:g} to {limits.high:g}" if limits else ""
        raise InputError(f"{name} must be {expected}{within}, not {_shown(value)}")


def _shown(value: Any) -> str:
    """A value in a message: short, whatever it is."""
    if isinstance(value, int) and value.bit_length() > 200:
        return "a number of more than 60 digits"
    try:
        text = repr(value)
    except Exception:  # an object that cannot be shown
        return f"an object of type {type(value).__name__}"
    return text if len(text) <= 60 else f"{text[:57]}..."
