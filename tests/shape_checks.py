"""Shapes are types: the checker that jaxtyping's import hook puts around every function of the networks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, get_type_hints

from beartype import beartype

Checked = TypeVar("Checked", bound=Callable[..., Any])


def check(function: Checked) -> Checked:
    """beartype, but what a protocol asks of an object is left to mypy: it cannot be checked at run time."""
    hints = get_type_hints(function, include_extras=True)
    protocols = [name for name, hint in hints.items() if getattr(hint, "_is_protocol", False)]
    for name in protocols:
        function.__annotations__[name] = Any
    return beartype(function)
