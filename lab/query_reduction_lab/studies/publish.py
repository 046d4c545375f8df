"""Writes what a study measured, with where it comes from: command, version, commit and machine."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from query_reduction.errors import InputError
from query_reduction.files import write_atomically
from query_reduction.origin import provenance

__all__ = ["RESULTS", "ROOT", "publish"]

ROOT = Path(__file__).parents[3]
RESULTS = ROOT / "results"


def publish(path: Path, content: Mapping[str, Any], study: str) -> None:
    """Write a JSON file, as measured by the study whose file this is."""
    about = provenance()
    if path.is_relative_to(RESULTS) and (about["commit"] or "+changes").endswith("+changes"):
        raise InputError(f"{path}: commit your changes first; a published figure comes from a clean commit")
    about["command"] = about["command"].replace("__main__.py", study)
    write_atomically(path, json.dumps({**content, **about}, indent=1, ensure_ascii=False) + "\n")
