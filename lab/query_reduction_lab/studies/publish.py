"""Writes what a study measured, with where it comes from and a checksum of the code that it depends on.

A test computes the checksums again, so that no published file can be older than its code unnoticed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from query_reduction.errors import InputError
from query_reduction.files import write_atomically
from query_reduction.origin import code_checksums, provenance

__all__ = ["RESULTS", "ROOT", "TRAINING", "publish"]

ROOT = Path(__file__).parents[3]
RESULTS = ROOT / "results"
ARITHMETIC = ("reader_*", "step", "encode", "update", "gemm", "columns", "words", "vecmath", "simd")
"""The kernels that compute a training step. Not among them: who computes which part of it (the results are the same for
any number of threads), the recurrence alone, and the interface with its checks."""
TRAINING = (
    *(f"kernels/{name}.h" for name in ARITHMETIC),
    "src/query_reduction/data/vocabulary.py",
    "src/query_reduction/inference/variants.py",
    "src/query_reduction/networks/qrn.py",
    "src/query_reduction/training/recipes.py",
    "src/query_reduction/training/restarts.py",
)
"""What a training of a Query-Reduction Network depends on."""


def publish(path: Path, content: Mapping[str, Any], study: str, code: Sequence[str]) -> None:
    """Write a JSON file; ``code`` are the files, as patterns from the root of the checkout, that it depends on."""
    about = provenance()
    if path.is_relative_to(RESULTS) and (about["commit"] or "+changes").endswith("+changes"):
        raise InputError(f"{path}: commit your changes first; a published figure comes from a clean commit")
    about["command"] = about["command"].replace("__main__.py", study)
    about["code"] = code_checksums(ROOT, (study, *code))
    write_atomically(path, json.dumps({**content, **about}, indent=1, ensure_ascii=False) + "\n")
