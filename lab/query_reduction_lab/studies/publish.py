"""Writes what a study measured, with where it comes from: command, version, commit and machine.

A study that trains also says what the code computed, so that ``qrn reproduce status`` notices when it drifts.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from query_reduction.errors import InputError
from query_reduction.files import write_atomically
from query_reduction.origin import provenance
from query_reduction.training.setup import Setup
from query_reduction_lab.experiments.probe import fingerprint
from query_reduction_lab.experiments.settings import fingerprint_to_json, setup_to_json

__all__ = ["RESULTS", "ROOT", "publish"]

ROOT = Path(__file__).parents[3]
RESULTS = ROOT / "results"


def publish(path: Path, content: Mapping[str, Any], study: str, trained: Iterable[Setup] = ()) -> None:
    """Write a JSON file, as measured by the study whose file this is, which trained by these setups."""
    about = provenance()
    if path.is_relative_to(RESULTS) and (about["commit"] or "+changes").endswith("+changes"):
        raise InputError(f"{path}: commit your changes first; a published figure comes from a clean commit")
    about["command"] = about["command"].replace("__main__.py", study)
    probes = [{"setup": setup_to_json(own), **fingerprint_to_json(fingerprint(own))} for own in trained]
    about |= {"trained": probes} if probes else {}
    write_atomically(path, json.dumps({**content, **about}, indent=1, ensure_ascii=False) + "\n")
