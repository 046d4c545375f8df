"""What verbs print: results on standard output, progress and notes on standard error."""

from __future__ import annotations

import json
from typing import Any

from rich.console import Console

__all__ = ["console", "notes", "print_json"]

console = Console(highlight=False)
notes = Console(stderr=True, highlight=False)


def print_json(value: Any) -> None:
    """One JSON object on one line of standard output."""
    print(json.dumps(value, ensure_ascii=False, allow_nan=False))
