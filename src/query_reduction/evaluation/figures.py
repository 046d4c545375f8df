"""The paper's gate figures: its own stories, read by networks trained here, gates beside the printed ones.

The figure's two dialogs are excerpts with shortened names, which cannot be read again; ``qrn explain`` draws others.
"""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from query_reduction.config import preset
from query_reduction.data.sources import load_parts
from query_reduction.evaluation.published import PublishedFigure, published
from query_reduction.files import write_atomically
from query_reduction.interpret import html, picture
from query_reduction.interpret.trace import Trace
from query_reduction.reader import load
from query_reduction.training.run import Run, RunSettings, is_finished

__all__ = ["draw_figures", "figure_runs", "figures_markdown"]

_VARIANT = "2r"
_RUNS = Path("runs") / "figures"


def figure_runs(restarts: int | None = None) -> Iterator[tuple[Path, Run]]:
    """The trainings the figures still need, one at a time; each may be resumed."""
    for figure in published().figures:
        folder = _RUNS / f"task-{figure.task}"
        if not is_finished(folder):
            model, recipe = preset("original", _VARIANT)
            recipe = replace(recipe, restarts=restarts or recipe.restarts)
            parts = load_parts("babi", figure.task)
            yield folder, Run(parts, RunSettings(model, recipe, folder, about=f"figure of task {figure.task}"))


def draw_figures(folder: Path) -> dict[str, Any]:
    """Read every story of the figure, draw it, and give its gates beside the printed ones."""
    figures = []
    pictures = importlib.util.find_spec("matplotlib") is not None
    for figure in published().figures:
        reader = load(_RUNS / f"task-{figure.task}")
        trace = reader.trace(list(figure.sentences), figure.question)
        write_atomically(folder / f"task-{figure.task}.html", html.page(trace))
        if pictures:
            picture.write_picture(trace, folder / f"task-{figure.task}.svg")
        figures.append(
            {
                "task": figure.task,
                "question": figure.question,
                "paper_answer": figure.answer,
                "answer": trace.answer,
                "gates": list(figure.gates),
                "sentences": [
                    {"sentence": sentence, "paper": paper, "ours": ours}
                    for (sentence, paper), ours in zip(figure.sentences.items(), _gates(figure, trace), strict=True)
                ],
                "test_error": reader.model.card.get("test_error"),
                "commit": reader.model.card.get("commit"),
            }
        )
    value = {"table": "figures", "figures": figures}
    write_atomically(folder / "figures.json", json.dumps(value, indent=1) + "\n")
    write_atomically(folder / "figures.md", figures_markdown(value))
    return value


def _gates(figure: PublishedFigure, trace: Trace) -> list[list[float]]:
    """A row a sentence, in the order of the figure's columns."""
    first, last = (layer.gates() for layer in trace.layers)
    columns = [first["update"], first["reset_forward"], first["reset_backward"], last["update"]]
    return [[round(float(column[row]), 2) for column in columns] for row in range(len(figure.sentences))]


def figures_markdown(value: dict[str, Any]) -> str:
    """Paper and ours side by side."""
    lines = []
    for figure in value["figures"]:
        heads = "".join(f" {gate} paper | ours |" for gate in figure["gates"])
        lines += [
            f"### Task {figure['task']}: {figure['question']}",
            "",
            f"| sentence |{heads}",
            "|---|" + "---:|" * (2 * len(figure["gates"])),
        ]
        for row in figure["sentences"]:
            pairs = zip(row["paper"], row["ours"], strict=True)
            lines.append(f"| {row['sentence']} |" + "".join(f" {a:.2f} | {b:.2f} |" for a, b in pairs))
        right = "as in the paper" if figure["answer"] == figure["paper_answer"] else f"paper: {figure['paper_answer']}"
        lines += [
            "",
            f"Answer: {figure['answer']} ({right}); test error of this network {figure['test_error']:.1f} %.",
            "",
        ]
    return "\n".join(lines)
