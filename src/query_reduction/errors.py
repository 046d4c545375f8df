"""The one exception a user sees: a single line that says what is wrong, where, and what to do."""

from __future__ import annotations

__all__ = ["InputError"]


class InputError(Exception):
    """Bad input: the command line prints it as one line and exits with code 1."""
