"""Stories that people write: the default training on two domains of one's own, and what each part of it is worth.

    python -m query_reduction_lab.studies.own_domains FOLDER --out results/own-domains.json

``FOLDER`` has a folder per domain with train.jsonl and test.jsonl. Ablations are judged on a fifth of the training
stories, one restart of fourteen epochs each; only the default is tested, once, with its five restarts. A line that is
in the file already is not measured again.
"""

from __future__ import annotations

import argparse
import json
import random
from pathlib import Path
from typing import Any

import query_reduction as qr
from query_reduction.files import write_atomically
from query_reduction.model import StoryModel

_SHORT: dict[str, Any] = {"recipe": "best", "restarts": 1, "max_epochs": 14, "halve_every": 4}
_ABLATIONS: dict[str, dict[str, Any]] = {
    "default": {},
    "pronouns and double facts as written": {"prose": False},
    "encoder order": {"encoder": "order"},
    "no retelling": {"symmetries": False, "copies": 0, "max_epochs": 140, "halve_every": 40},
    "recipe original": {"recipe": "original", "max_epochs": 140, "halve_every": 100},
}
_SPLIT = 5
"""Seed of the development fifth."""


def main() -> None:
    """Measure what is missing and write the file after every line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--vectors", type=Path, help="also measure with these word vectors")
    parser.add_argument("--out", type=Path, default=Path("results/own-domains.json"))
    given = parser.parse_args()
    lines = json.loads(given.out.read_text()) if given.out.exists() else []
    wanted = dict(_ABLATIONS)
    if given.vectors:
        wanted["word vectors beside learned ones"] = {"vectors": given.vectors}
    for domain in sorted(path.parent for path in given.folder.glob("*/train.jsonl")):
        stories = qr.read(domain / "train.jsonl")
        for name, changes in {**wanted, "test": {}}.items():
            if any(line["domain"] == domain.name and line["what"] == name for line in lines):
                continue
            if name == "test":
                error = _error(stories, (), qr.read(domain / "test.jsonl"), {})
            else:
                order = random.Random(_SPLIT).sample(range(len(stories)), len(stories))
                dev, train = ([stories[place] for place in part] for part in _parts(order))
                error = _error(train, dev, dev, {**_SHORT, **changes})
            lines.append({"domain": domain.name, "what": name, "error": round(error, 2), "release": qr.__version__})
            write_atomically(given.out, json.dumps(lines, indent=1) + "\n")


def _parts(order: list[int]) -> tuple[list[int], list[int]]:
    held_out = len(order) // 5
    return order[:held_out], order[held_out:]


def _error(train: list[qr.Story], dev: Any, asked: list[qr.Story], settings: dict[str, Any]) -> float:
    model = qr.train(train, dev=dev, progress=False, **settings)
    assert isinstance(model, StoryModel)
    return model.evaluate(asked).error


if __name__ == "__main__":
    main()
