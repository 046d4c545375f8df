"""What does a Query-Reduction Network reach on ProPara, and which of its parts earn it?

    python -m query_reduction_lab.propara.study --data propara --vectors glove.6B.50d.txt

trains every column with its seeds, a fixed number of epochs, the last weights kept; scores development and test by both
official evaluations (the sentence level where the annotators' labels are beside the data), and writes
results/propara.json and .md. Settings were chosen on development; the test is scored once per column and seed.
Finished cells are kept under runs/, so an interrupted study goes on.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from query_reduction.files import append, write_atomically
from query_reduction.native.threads import use_threads
from query_reduction.origin import provenance
from query_reduction.pointing.model import PointerModel
from query_reduction.reading.protocol import Parts
from query_reduction.sources.fetch import find_propara
from query_reduction.sources.named import load_parts
from query_reduction.text.stories import Story
from query_reduction.text.tracks import story_of_tracks, tracks_of
from query_reduction.training.pointing_run import pointer_setup, run_pointer
from query_reduction_lab.propara.document import UNKNOWN, Grid, document_scores
from query_reduction_lab.propara.report import report
from query_reduction_lab.propara.sentence import Labels, read_labels, sentence_scores
from query_reduction_lab.studies.publish import RESULTS, publish

__all__ = ["COLUMNS", "SEEDS", "controls", "grid_of", "main", "scores_of"]

SEEDS = 5
LABELS = "all-moves.full-grid.tsv"
COLUMNS: Mapping[str, Mapping[str, Any]] = {
    "tracker": {},
    "tracker, GloVe 50": {"vectors": True},
    "0 layers": {"layers": 0},
    "1 layer": {"layers": 1},
    "3 layers": {"layers": 3},
    "no chain": {"chain": False},
    "a list, not pointing": {"point": False},
    "words by themselves": {"reader": "bag"},
    "GRU in sentences": {"reader": "gru"},
    "question only": {"point": False, "told": False},
}
"""Settings of each column that differ from the first."""


def main() -> None:
    """Train, score and publish."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default="propara", help="propara, or the folder of its files")
    parser.add_argument("--vectors", type=Path, help="GloVe as text; without, its column is left out")
    parser.add_argument("--columns", nargs="*", default=list(COLUMNS), help="only these columns")
    parser.add_argument("--seeds", type=int, default=SEEDS)
    parser.add_argument("--done", type=Path, default=Path("runs/propara.jsonl"), help="finished cells")
    parser.add_argument("--out", type=Path, default=RESULTS)
    chosen = parser.parse_args()
    use_threads(1)
    folder = find_propara() if chosen.data == "propara" else Path(chosen.data)
    parts = load_parts(str(folder), None)
    golden = {"dev": {name_of(story): grid_of(story) for story in parts.dev}}
    golden["test"] = {name_of(story): grid_of(story) for story in parts.test}
    labels = {part: _labels(folder / LABELS, grids) for part, grids in golden.items()}
    cells = _read(chosen.done)
    for column in chosen.columns:
        changes = dict(COLUMNS[column])
        if changes.pop("vectors", False) and chosen.vectors is None:
            continue
        vectors = chosen.vectors if COLUMNS[column].get("vectors") else None
        for seed in range(chosen.seeds):
            if any((cell["column"], cell["seed"]) == (column, seed) for cell in cells):
                continue
            cell = {"column": column, "seed": seed, **measure(parts, changes, vectors, seed)}
            chosen.done.parent.mkdir(parents=True, exist_ok=True)
            append(chosen.done, json.dumps(cell) + "\n")
            cells.append(cell)
            print(f"{column}, seed {seed} ({cell['seconds']} s)", flush=True)
    content = {
        "what": "ProPara: document level precision, recall and F1, and sentence level, in percent",
        "data_sha256": parts.checksum(),
        "controls": {
            name: scores_of(golden["test"], grids, labels["test"]) for name, grids in controls(golden["test"]).items()
        },
        "cells": [
            {name: value for name, value in cell.items() if name != "grids"}
            | {part: scores_of(golden[part], grids, labels[part]) for part, grids in cell["grids"].items()}
            for cell in cells
        ],
    }
    publish(chosen.out / "propara.json", content, "propara/study.py")
    write_atomically(chosen.out / "propara.md", report(content))


def measure(parts: Parts, changes: Mapping[str, Any], vectors: Path | None, seed: int) -> dict[str, Any]:
    """Train one network and let it track what it has not seen."""
    settings = {name: value for name, value in changes.items() if name != "told"}
    told = parts if changes.get("told", True) else _untold(parts)
    start, cpu = time.monotonic(), time.process_time()
    model = run_pointer(
        replace(told, dev=[], test=[]), pointer_setup({**settings, "seed": seed}), vectors=vectors, about={}
    )
    seconds, cpu_seconds = time.monotonic() - start, time.process_time() - cpu
    return {
        "seconds": round(seconds, 1),
        "cpu_seconds": round(cpu_seconds, 1),
        "parameters": model.card["parameters"],
        "commit": provenance()["commit"],
        "command": provenance()["command"],
        "grids": {"dev": predicted(model, told.dev), "test": predicted(model, told.test)},
    }


def predicted(model: PointerModel, stories: Sequence[Story]) -> dict[str, Grid]:
    """The grids that a model gives for some paragraphs."""
    grids: dict[str, Grid] = {}
    for story in stories:
        track = model.track(story.sentences, list(tracks_of(story)))
        grids[name_of(story)] = {thing: [state.text for state in track.of(thing)] for thing in track.things}
    return grids


def scores_of(gold: Mapping[str, Grid], grids: Mapping[str, Grid], labels: Labels) -> dict[str, Any]:
    """Both evaluations, in percent; the sentence level only where labels are at hand."""
    document = document_scores(gold, grids)
    found: dict[str, Any] = {
        "document": [round(100 * value, 2) for value in (document.precision, document.recall, document.f1)]
    }
    if labels:
        sentence = sentence_scores(labels, grids)
        found["sentence"] = [round(value, 2) for value in (*sentence.categories, sentence.macro, sentence.micro)]
    return found


def controls(gold: Mapping[str, Grid]) -> dict[str, dict[str, Grid]]:
    """Grids that no reading is needed for."""
    return {
        '"?" everywhere': {
            name: {thing: [UNKNOWN] * len(row) for thing, row in grid.items()} for name, grid in gold.items()
        },
        "the true first state stays": {
            name: {thing: [row[0]] * len(row) for thing, row in grid.items()} for name, grid in gold.items()
        },
    }


def grid_of(story: Story) -> Grid:
    """The states of a paragraph's participants."""
    return {thing: [states[at] for at in sorted(states)] for thing, states in tracks_of(story).items()}


def name_of(story: Story) -> str:
    """The number of a paragraph."""
    return story.questions[0].id


def _untold(parts: Parts) -> Parts:
    """The same questions about sentences that say nothing."""

    def silent(story: Story) -> Story:
        sentences = ["nothing"] * len(story.sentences)
        return story_of_tracks(sentences, list(grid_of(story).items()), name=name_of(story))

    train, dev, test = ([silent(story) for story in stories] for stories in (parts.train, parts.dev, parts.test))
    return replace(parts, train=train, dev=dev, test=test)


def _labels(path: Path, grids: Mapping[str, Grid]) -> Labels:
    return read_labels(path, set(grids)) if path.is_file() else {}


def _read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()] if path.is_file() else []


if __name__ == "__main__":
    main()
