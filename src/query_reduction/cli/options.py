"""Options of a verb from the words of a command line.

tyro makes a parser of any dataclass, with help and good errors, but loading it takes longer than answering a question.
So plain commands are understood here; for everything else, help and mistakes included, there is tyro. Both give the
same.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import redirect_stderr
from dataclasses import MISSING, Field, fields, is_dataclass
from functools import cache
from io import StringIO
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, get_args, get_origin, get_type_hints

__all__ = ["POSITIONAL", "kind_of", "parse_by_tyro", "parse_options", "parse_plainly"]

POSITIONAL = "positional"
"""Marks an option that is known by its place: ``model: Annotated[str, POSITIONAL]``."""


def parse_options(options: Any, arguments: Sequence[str], prog: str) -> Any:
    """A dataclass of options with the values given; wrong ones end the program with a message."""
    found = parse_plainly(options, arguments)
    return parse_by_tyro(options, arguments, prog) if found is None else found


def parse_by_tyro(options: Any, arguments: Sequence[str], prog: str) -> Any:
    """The same by tyro."""
    import tyro

    from query_reduction.cli.values import VALUES

    _describe(options)
    said = StringIO()
    try:
        with redirect_stderr(said):
            return tyro.cli(options, args=arguments, prog=prog, config=(tyro.conf.OmitArgPrefixes,), registry=VALUES)
    except SystemExit:
        if said.getvalue():
            from query_reduction.cli.mistakes import in_one_line

            print(f"{prog}: {in_one_line(said.getvalue())} (see {prog} --help)", file=sys.stderr)
        raise


@cache
def _describe(options: Any) -> None:
    """Write what tyro is to know of the options into their annotations."""
    from query_reduction.cli.values import described

    hints = get_type_hints(options, include_extras=True)
    for field in fields(options):
        hint = hints[field.name]
        if isinstance(hint, type) and is_dataclass(hint):
            _describe(hint)
        else:
            place = field.name.upper() if _is_required(field) else f"[{field.name.upper()}]"
            options.__annotations__[field.name] = described(hint, place if _is_positional(hint) else "")


def parse_plainly(options: Any, arguments: Sequence[str]) -> Any | None:
    """The same without tyro; None if a word, or the kind of an option, is not plain."""
    hints = get_type_hints(options, include_extras=True)
    places = [name for name, hint in hints.items() if _is_positional(hint)]
    given: dict[str, Any] = {}
    words = iter(arguments)
    for word in words:
        value: Any
        if not word.startswith("--"):
            if not places:
                return None
            name = places.pop(0)
            value = _value(word, hints[name])
        else:
            switched = not word.startswith("--no-")
            name = word.removeprefix("--" if switched else "--no-").replace("-", "_")
            if name not in hints or _is_positional(hints[name]) or "_" in word:
                return None
            is_switch = kind_of(hints[name]) is bool
            if not switched and not is_switch:
                return None
            value = switched if is_switch else _value(next(words, ""), hints[name])
        if value is None or name in given:
            return None
        given[name] = value
    needed = {field.name for field in fields(options) if _is_required(field)}
    return options(**given) if needed <= given.keys() else None


def _value(word: str, hint: Any) -> Any:
    """What a word means as an option of this type; None if that is not plain."""
    if word in ("", "None") or (word.startswith("-") and word != "-"):
        return None
    kind = kind_of(hint)
    if get_origin(kind) is UnionType and NoneType in get_args(kind) and len(get_args(kind)) == 2:
        kind = next(kind for kind in get_args(kind) if kind is not NoneType)
    if kind is int:
        return int(word) if word.isascii() and word.isdecimal() else None
    return kind(word) if kind in (str, Path) else None


def kind_of(hint: Any) -> Any:
    """The type of an option without its marks, such as its range, which is checked where the settings are made."""
    return get_args(hint)[0] if get_origin(hint) is Annotated else hint


def _is_required(field: Field[Any]) -> bool:
    return field.default is MISSING and field.default_factory is MISSING


def _is_positional(hint: Any) -> bool:
    return POSITIONAL in getattr(hint, "__metadata__", ())
