"""The table of ProPara as Markdown: ours beside the published systems, and what each part earns."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["report"]

_PUBLISHED = Path(__file__).with_name("published.json")
_HEADER = (
    "| system | given besides the text | P | R | F1 | sentence level | source |",
    "|---|---|---:|---:|---:|---|---|",
)


def report(content: Mapping[str, Any]) -> str:
    """The whole page."""
    published = json.loads(_PUBLISHED.read_text("utf-8"))
    columns: dict[str, list[Mapping[str, Any]]] = {}
    for cell in content["cells"]:
        columns.setdefault(cell["column"], []).append(cell)
    lines = [
        "# ProPara: what a process does to things",
        "",
        "Document level (EMNLP 2018): precision, recall and F1 over inputs, outputs, conversions and moves. Sentence",
        "level (NAACL 2018): categories 1 / 2 / 3, macro, micro. Test part, 54 paragraphs; ours: mean ± standard",
        "deviation over seeds, a fixed number of epochs, the last weights kept, nothing chosen on the test.",
        "",
        *_HEADER,
    ]
    for name, scores in content["controls"].items():
        lines.append(f"| {name} | control | {_document(scores['document'])} | {_levels(scores.get('sentence'))} | |")
    lines += [_published(system) for system in published["final"]]
    given = {"tracker": "nothing", "tracker, GloVe 50": "GloVe 50"}
    lines += [_ours(name, columns[name], what) for name, what in given.items() if name in columns]
    lines += ["", "Figures of the first preprint, copied by later papers, are another family and not comparable:", ""]
    lines += [*_HEADER, *(_published(system) for system in published["preprint"])]
    lines += ["", "## What each part earns", ""]
    lines += ["| column | seeds | dev F1 | test P | R | F1 | CPU s |", "|---|---:|---:|---:|---:|---:|---:|"]
    for name, own in columns.items():
        dev = _spread([cell["dev"]["document"][2] for cell in own])
        test = " | ".join(_spread([cell["test"]["document"][place] for cell in own]) for place in range(3))
        seconds = np.mean([cell["cpu_seconds"] for cell in own])
        lines.append(f"| {name} | {len(own)} | {dev} | {test} | {seconds:.0f} |")
    return "\n".join(lines) + "\n"


def _ours(name: str, cells: Sequence[Mapping[str, Any]], given: str) -> str:
    document = " | ".join(_spread([cell["test"]["document"][place] for cell in cells]) for place in range(3))
    found = [cell["test"]["sentence"] for cell in cells if "sentence" in cell["test"]]
    levels = _levels(np.mean(found, 0).tolist() if found else None)
    return f"| **{name}** ({len(cells)} seeds) | {given} | {document} | {levels} | this page |"


def _published(system: Mapping[str, Any]) -> str:
    scores = f"{_document(system['document'])} | {_levels(system.get('sentence'))}"
    return f"| {system['system']} | {system['given']} | {scores} | {system['source']} |"


def _document(values: Sequence[float | None] | None) -> str:
    return " | ".join("–" if value is None else f"{value:.1f}" for value in values or (None, None, None))


def _levels(values: Sequence[float] | None) -> str:
    if values is None:
        return "–"
    first, second, third, macro, micro = values
    return f"{first:.1f} / {second:.1f} / {third:.1f}, {macro:.1f}, {micro:.1f}"


def _spread(values: Sequence[float]) -> str:
    return f"{np.mean(values):.1f} ± {np.std(values, ddof=1):.1f}" if len(values) > 1 else f"{values[0]:.1f}"
