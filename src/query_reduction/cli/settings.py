"""Settings as options of the command line: every field of the networks, tasks and recipes, each optional.

An option that is not given keeps the default of the recipe, the network and the data; one that has no effect is an
error (``training.setup``). Help texts are the docstrings under the fields.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass, make_dataclass
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import tyro
from tyro.constructors import PrimitiveConstructorSpec

__all__ = ["field_docs", "given", "optional"]


def optional(name: str, groups: Mapping[str, Sequence[type]]) -> type:
    """A dataclass with one field per setting of these classes, all None unless given.

    ``groups`` lists the classes by what they belong to; a setting that several classes have is one option.
    """
    found: dict[str, tuple[Any, list[str], str]] = {}
    for owner, classes in groups.items():
        for settings in classes:
            hints = get_type_hints(settings, include_extras=True)
            for field in fields(settings):
                new: tuple[Any, list[str], str] = (_plain(hints[field.name]), [], field_docs(settings)[field.name])
                kind, owners, text = found.get(field.name, new)
                found[field.name] = (kind, owners if owner in owners else [*owners, owner], text)
    made = [
        (field, Annotated[_option(kind), tyro.conf.arg(help=f"{text} ({', '.join(owners)})")], None)
        for field, (kind, owners, text) in found.items()
    ]
    return make_dataclass(name, made, frozen=True)


def given(options: Any) -> dict[str, Any]:
    """The settings that were given, by name."""
    assert is_dataclass(options)
    values = {field.name: getattr(options, field.name) for field in fields(options)}
    return {name: value for name, value in values.items() if value is not None}


def _option(kind: Any) -> Any:
    """The type of an optional setting; a boolean is a switch, which on its own means yes."""
    return Annotated[bool | None, _SWITCH] if kind is bool else kind | None


def _switched(given: list[str]) -> bool:
    if given and given[0] not in ("yes", "no"):
        raise ValueError(f"it must be yes or no, not {given[0]}")
    return given != ["no"]


_SWITCH = PrimitiveConstructorSpec[bool | None](
    nargs=(0, 1),
    metavar="[yes|no]",
    instance_from_str=_switched,
    is_instance=lambda value: value is None or isinstance(value, bool),
    str_from_instance=lambda value: [{None: "None", True: "yes", False: "no"}[value]],
)


def _plain(hint: Any) -> Any:
    """The type without its range, which is checked where the settings are made."""
    return get_args(hint)[0] if get_origin(hint) is Annotated else hint


def field_docs(settings: type) -> dict[str, str]:
    """The docstring under each field, also of the classes it is derived from."""
    docs: dict[str, str] = {}
    for owner in reversed([base for base in settings.__mro__ if is_dataclass(base)]):
        (body,) = ast.parse(textwrap.dedent(inspect.getsource(owner))).body
        assert isinstance(body, ast.ClassDef)
        for statement, below in zip(body.body, body.body[1:], strict=False):
            if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
                text = below.value if isinstance(below, ast.Expr) else None
                docs[statement.target.id] = " ".join(str(text.value).split()) if isinstance(text, ast.Constant) else ""
    return docs
