"""Arguments are checked against annotations: a mistake gets one line that names the argument.

``@checked`` does it for a function or method. Its annotations are all it needs: texts, numbers, paths, classes,
choices, lists (any sequence but a text), and what may be iterated over, whose items are checked as they come.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import wraps
from pathlib import Path
from typing import Any, Literal, ParamSpec, TypeVar, Union, get_args, get_origin, get_type_hints

from query_reduction.errors import InputError

__all__ = ["check_field", "checked", "shown_value"]

Given = ParamSpec("Given")
Result = TypeVar("Result")

_NAMES = {str: "a text", int: "a whole number", float: "a number", bool: "true or false", Path: "a path"}
_LONGEST = 60


def checked(function: Callable[Given, Result]) -> Callable[Given, Result]:
    """The function, raising ``InputError`` for arguments that are not what their annotations say."""
    kinds: dict[str, Any] = {}
    code = function.__code__
    names = code.co_varnames[: code.co_argcount]

    @wraps(function)
    def call(*given: Given.args, **named: Given.kwargs) -> Result:
        if not kinds:
            kinds.update(_kinds_of(function))
        positional = [
            _fitting(name, value, kinds[name]) if name in kinds else value
            for name, value in zip(names, given, strict=False)
        ]
        keywords = {
            name: _fitting(name, value, kinds[name]) if name in kinds else value for name, value in named.items()
        }
        # Too many arguments are Python's to complain about.
        return function(*positional, *given[len(names) :], **keywords)  # type: ignore[arg-type]

    return call


def check_field(name: str, value: object, kind: Any) -> None:
    """Raise ``InputError`` unless the value of a field is of this kind."""
    _fitting(name, value, kind)


def _kinds_of(function: Callable[..., object]) -> dict[str, Any]:
    """The annotations of the parameters; looked up at the first call, when all modules are loaded."""
    kinds: dict[str, Any] = {"": None}
    for name, kind in function.__annotations__.items():
        if name not in ("return", "settings"):
            alone = types.SimpleNamespace(__annotations__={name: kind})
            # A class that is imported for the annotation alone is not checked.
            with suppress(NameError):
                kinds |= get_type_hints(alone, getattr(function, "__globals__", {}))
    return kinds


def _fitting(name: str, value: Any, kind: Any) -> Any:
    """The value if it is of the kind; something to iterate over comes back so that its items are checked."""
    if kind is str and type(value) is str:
        return value
    options = get_args(kind) if get_origin(kind) in (Union, types.UnionType) else (kind,)
    option = next((option for option in options if _is_of(value, option)), _NOT_FOUND)
    if option is _NOT_FOUND:
        hint = "; use read(path)" if isinstance(value, str | Path) and "Story" in _described(kind) else ""
        raise InputError(f"{name}: it must be {_described(kind)}, not {shown_value(value)}{hint}")
    if isinstance(value, str | Path) and Path in options and "\0" in str(value):
        raise InputError(f"{name}: a path cannot hold a zero character")
    inner = get_args(option)
    if not inner or isinstance(value, str):
        return value
    if get_origin(option) is tuple:
        kinds = [inner[0]] * len(value) if inner[-1] is Ellipsis else inner
        for place, (item, item_kind) in enumerate(zip(value, kinds, strict=True)):
            _fitting(f"{name}[{place}]", item, item_kind)
    elif get_origin(option) in (Sequence, list):
        for place, item in enumerate(value):
            if type(item) is not inner[0]:
                _fitting(f"{name}[{place}]", item, inner[0])
    elif get_origin(option) is Iterable:
        return value if _is_checked(name, value, inner[0]) else _items(name, value, inner[0])
    return value


class _NotFound:
    """No option of a union fits."""


_NOT_FOUND = _NotFound()


def _is_of(value: object, kind: Any) -> bool:
    """Whether a value is of a kind, whatever it holds."""
    origin = get_origin(kind)
    if kind is Any or isinstance(kind, TypeVar):
        return True
    if kind is None or kind is type(None):
        return value is None
    if origin is Literal:
        return any(type(value) is type(choice) and value == choice for choice in get_args(kind))
    if kind in (int, float):
        return isinstance(value, int if kind is int else (int, float)) and not isinstance(value, bool)
    if origin is tuple:
        inner = get_args(kind)
        return isinstance(value, tuple | list) and (inner[-1] is Ellipsis or len(inner) == len(value))
    if origin is Iterable:
        return isinstance(value, Iterable) and not isinstance(value, str | bytes | bytearray | Mapping)
    if origin is Sequence:
        return isinstance(value, Sequence) and not isinstance(value, str | bytes | bytearray | memoryview)
    if (origin or kind) is Callable:
        return callable(value)
    return isinstance(value, origin or kind)


def _is_checked(name: str, value: Iterable[object], kind: Any) -> bool:
    """Check the items of a list at once; others can be iterated over only once."""
    if not isinstance(value, list | tuple):
        return False
    for place, item in enumerate(value):
        _fitting(f"{name}[{place}]", item, kind)
    return True


def _items(name: str, value: Iterable[object], kind: Any) -> Iterator[object]:
    for place, item in enumerate(value):
        yield _fitting(f"{name}[{place}]", item, kind)


def _described(kind: Any) -> str:
    """A kind in words."""
    origin, inner = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        return " or ".join(dict.fromkeys(map(_described, inner)))
    if kind in (None, type(None)):
        return "None"
    if origin is Literal:
        return " or ".join(map(str, inner))
    if origin is tuple and inner[-1] is not Ellipsis:
        return f"a tuple of {' and '.join(map(_described, inner))}"
    if origin in (Sequence, list, tuple):
        return f"a list of {_several(inner[0])}"
    if origin is Iterable:
        return f"{_several(inner[0])}, in a list or an iterator"
    if (origin or kind) is Callable:
        return "a function"
    if kind in _NAMES:
        return _NAMES[kind]
    name: str = (origin or kind).__name__
    return f"an object of type {name}"


def _several(kind: Any) -> str:
    described = _described(kind)
    if isinstance(kind, type) and kind not in _NAMES:
        return f"{kind.__name__} objects"
    if described.startswith(("a text or", "a list of", "a tuple of")):
        return f"items that are each {described}"
    return f"{described.removeprefix('a ')}s"


def shown_value(value: object) -> str:
    """A value in a message: short, whatever it is, and without running code of it that may fail."""
    if isinstance(value, str | bytes | int | float | Path | None):
        text = repr(value) if not isinstance(value, int) or value.bit_length() < 200 else "a huge number"
        return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."
    return f"an object of type {type(value).__name__}"
