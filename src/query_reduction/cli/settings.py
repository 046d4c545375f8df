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
from functools import reduce
from operator import or_
from typing import Annotated, Any, get_args, get_type_hints

import tyro
from tyro.constructors import PrimitiveConstructorSpec

from query_reduction.cli.options import kind_of

__all__ = ["field_docs", "given", "optional"]


def optional(name: str, groups: Mapping[str, Sequence[type]]) -> type:
    """A dataclass with one field per setting of these classes, all None unless given.

    ``groups`` lists the classes by what they belong to; a setting that several classes have is one option.
    """
    kinds: dict[str, list[Any]] = {}
    texts: dict[str, dict[str, list[str]]] = {}
    for owner, classes in groups.items():
        for settings in classes:
            hints, docs = get_type_hints(settings, include_extras=True), field_docs(settings)
            for field in fields(settings):
                known, owners = kinds.setdefault(field.name, []), texts.setdefault(field.name, {})
                if kind_of(hints[field.name]) not in known:
                    known.append(kind_of(hints[field.name]))
                if owner not in owners.setdefault(docs[field.name], []):
                    owners[docs[field.name]].append(owner)
    made = [
        (field, Annotated[_option(known), tyro.conf.arg(help=_help(texts[field]))], None)
        for field, known in kinds.items()
    ]
    return make_dataclass(name, made, frozen=True)


def _help(texts: Mapping[str, Sequence[str]]) -> str:
    """Each text with those it belongs to: a setting may mean something else in another network."""
    return " ".join(f"{text} ({', '.join(owners)})" for text, owners in texts.items())


def given(options: Any) -> dict[str, Any]:
    """The settings that were given, by name."""
    assert is_dataclass(options)
    values = {field.name: getattr(options, field.name) for field in fields(options)}
    return {name: value for name, value in values.items() if value is not None}


def _option(kinds: Sequence[Any]) -> Any:
    """The type of an optional setting; a boolean is a switch, which on its own means yes.

    A setting that is a switch in one network and a choice in another takes both; the network checks what it is given.
    """
    if bool not in kinds:
        return reduce(or_, kinds) | None
    choices = tuple(choice for kind in kinds if kind is not bool for choice in get_args(kind))
    return Annotated[bool | str | None, _switch(choices)]


def _switch(choices: tuple[str, ...]) -> PrimitiveConstructorSpec[bool | str | None]:
    def switched(given: list[str]) -> bool | str:
        if given and given[0] in choices:
            return given[0]
        if given and given[0] not in ("yes", "no"):
            raise ValueError(f"it must be {', '.join(('yes', *choices))} or no, not {given[0]}")
        return given != ["no"]

    def shown(value: bool | str | None) -> list[str]:
        if isinstance(value, bool):
            return ["yes" if value else "no"]
        return [] if value is None else [value]

    return PrimitiveConstructorSpec[bool | str | None](
        nargs=(0, 1),
        metavar=f"[{'|'.join(('yes', 'no', *choices))}]",
        instance_from_str=switched,
        is_instance=lambda value: value is None or isinstance(value, bool | str),
        str_from_instance=shown,
    )


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
