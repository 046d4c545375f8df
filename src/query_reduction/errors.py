"""The one exception a user sees: a single line that says what is wrong, where, and what to do."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["InputError", "install", "needs"]


class InputError(Exception):
    """Bad input: the command line prints it as one line and exits with code 1."""


def install(extra: str) -> str:
    """How to install an extra of the package."""
    return f"in a clone of the repository, pip install '.[{extra}]'"


@contextmanager
def needs(extra: str, what: str) -> Iterator[None]:
    """Around imports that an extra of the package installs: if one is missing, the error says what to install."""
    try:
        yield
    except ModuleNotFoundError as error:
        missing = (error.name or "").partition(".")[0]
        if missing in ("", "query_reduction"):
            raise
        name = {"torch": "PyTorch"}.get(missing, missing)
        raise InputError(f"{what} needs {name}: {install(extra)}") from error
