"""Single flipped bits in a model file: none may load."""

from __future__ import annotations

import random
import tempfile
from pathlib import Path

from query_reduction.errors import InputError
from query_reduction.model_file import load_model
from query_reduction.models import find_model
from query_reduction_lab.attack.record import Row

__all__ = ["run"]


def run(short: bool) -> list[Row]:
    """Flip one bit at a time."""
    whole = find_model("task2").read_bytes()
    tries = 100 if short else 2000
    loaded = 0
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "model.safetensors"
        for place in random.sample(range(len(whole) * 8), tries):
            damaged = bytearray(whole)
            damaged[place // 8] ^= 1 << place % 8
            path.write_bytes(damaged)
            try:
                load_model(path)
                loaded += 1
            except InputError:
                pass
    return [Row("single-bit flips in a model file", tries, f"{loaded} load", "0 load silently", not loaded)]
