"""What the values of options are called in help texts, and how a wrong one is answered.

tyro speaks of Python's types: ``{None}|INT``, "no type matching". Here an option that may be left out takes what it
takes when it is given, and a number is asked for in words.
"""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from operator import or_
from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args

import tyro
from tyro.constructors import (
    ConstructorRegistry,
    PrimitiveConstructorSpec,
    PrimitiveTypeInfo,
    UnsupportedTypeAnnotationError,
)

__all__ = ["VALUES", "described"]

VALUES = ConstructorRegistry()
"""Rules for ``tyro.cli``."""

_Spec = PrimitiveConstructorSpec[Any]
_PLAIN: dict[Any, tuple[str, str]] = {
    int: ("N", "a whole number"),
    float: ("NUMBER", "a number"),
    str: ("TEXT", "text"),
}


def described(hint: Any, place: str = "") -> Any:
    """An option's annotation, with its default in the help only if it has one; an option that is known by its place is
    shown there by this name."""
    about = tyro.conf.arg(help_behavior_hint=_default, metavar=place or None)
    return Annotated[hint, about, tyro.conf.Positional] if place else Annotated[hint, about]


def _default(value: str) -> str:
    return f"(default: {value})" if value else ""


@VALUES.primitive_rule
def _plain(about: PrimitiveTypeInfo) -> _Spec | None:
    if about.type not in _PLAIN:
        return None
    kind: Any = about.type
    metavar, words = _PLAIN[kind]

    def value(given: list[str]) -> Any:
        try:
            return kind(given[0])
        except ValueError:
            raise ValueError(f"it must be {words}, not {given[0]!r}") from None

    return _Spec(
        nargs=1,
        metavar=metavar,
        instance_from_str=value,
        is_instance=lambda instance: isinstance(instance, kind),
        str_from_instance=lambda instance: [str(instance)],
    )


@VALUES.primitive_rule
def _optional(about: PrimitiveTypeInfo) -> _Spec | UnsupportedTypeAnnotationError | None:
    kinds = get_args(about.type)
    if about.type_origin not in (Union, UnionType) or NoneType not in kinds:
        return None
    given = reduce(or_, (kind for kind in kinds if kind is not NoneType))
    spec = ConstructorRegistry.get_primitive_spec(PrimitiveTypeInfo.make(given, about.markers))
    if isinstance(spec, UnsupportedTypeAnnotationError):
        return spec
    inner = spec
    return replace(
        inner,
        is_instance=lambda instance: instance is None or inner.is_instance(instance),
        str_from_instance=lambda instance: [] if instance is None else inner.str_from_instance(instance),
    )
