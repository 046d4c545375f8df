"""The reference of the command line as Markdown, made from the same dataclasses that the commands are made of."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from dataclasses import MISSING, dataclass, fields, is_dataclass
from enum import Enum
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from query_reduction.cli import VERBS, options_of
from query_reduction.cli.options import POSITIONAL
from query_reduction.cli.settings import field_docs

__all__ = ["Option", "options", "reference"]

_KINDS = {int: "whole number", float: "number", str: "text", Path: "path", bool: "yes or no"}


@dataclass(frozen=True, slots=True)
class Option:
    """One option of a verb."""

    name: str
    """As it is written: ``--task``, or ``MODEL`` if it is known by its place."""
    kind: str
    default: str
    """Empty if there is none."""
    text: str
    group: str = ""
    """The name of its group of settings, if it belongs to one."""


def reference() -> str:
    """All verbs with all their options."""
    parts = [
        "# Command line\n\n`qrn VERB --help` shows the same in the terminal. Every verb takes `--json` for scripts. "
        "Exit codes: 0 fine, 1 bad input (one line on standard error), 2 wrong usage, 130 interrupted.\n"
    ]
    for verb in VERBS:
        settings = options_of(verb)
        parts.append(f"## qrn {verb}\n\n{inspect.getdoc(settings)}\n")
        group = None
        for option in options(settings):
            if option.group != group:
                group = option.group
                title = f"\n**{group}**\n" if group else ""
                parts.append(f"{title}\n| option | takes | default | |\n|---|---|---|---|")
            default = f"`{option.default}`" if option.default else ""
            parts.append(f"| `{option.name}` | {option.kind} | {default} | {_cell(option.text)} |")
        parts.append("")
    return "\n".join(parts) + "\n"


def options(settings: type, group: str = "") -> Iterator[Option]:
    """The options of a dataclass, with those of the dataclasses inside it."""
    hints = get_type_hints(settings, include_extras=True)
    inside = []
    for field in fields(settings):
        hint = hints[field.name]
        kind, marks = (get_args(hint)[0], get_args(hint)[1:]) if get_origin(hint) is Annotated else (hint, ())
        if is_dataclass(kind):
            assert isinstance(kind, type)
            inside.append((field.name, kind))
            continue
        given = next((mark for mark in marks if hasattr(mark, "help")), None)
        name = (given.name if given else None) or field.name
        positional = POSITIONAL in marks
        yield Option(
            name=name.upper() if positional else f"--{name.replace('_', '-')}",
            kind=_kind(kind),
            default=_default(field.default),
            text=(given.help if given else None) or field_docs(settings)[field.name],
            group=group,
        )
    for name, kind in inside:
        yield from options(kind, name.replace("_", " "))


def _kind(kind: Any) -> str:
    """A type in words."""
    origin = get_origin(kind)
    if origin is Annotated:
        return _kind(get_args(kind)[0])
    if origin in (Union, UnionType):
        return " or ".join(_kind(part) for part in get_args(kind) if part is not type(None))
    if origin is Literal:
        return ", ".join(f"`{choice}`" for choice in get_args(kind))
    if origin in (tuple, list):
        return f"{_kind(get_args(kind)[0])}, several"
    if isinstance(kind, type) and issubclass(kind, Enum):
        return ", ".join(f"`{choice.value}`" for choice in kind)
    return _KINDS.get(kind, getattr(kind, "__name__", str(kind)))


def _default(value: Any) -> str:
    if value is MISSING or value is None or value in ((), ""):
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)


def _cell(text: str) -> str:
    """A text inside a table of Markdown; a tag or a bar in it is text, too."""
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")
