"""Do the ready models explain themselves? Sentences ranked by contribution, compared with the published facts.

    python -m studies.explanations ../shared/data/babi/en

asks every ready model of a task about that task's published test stories, as `qrn evaluate --explanations` does, and
writes results/explanations.json and results/explanations.md.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from query_reduction.explain.scoring import score_explanations
from query_reduction.files import write_atomically
from query_reduction.provenance import provenance
from query_reduction.ready import find_model
from query_reduction.tasks.sources import load_parts
from query_reduction.tasks.stories import StoryTask
from query_reduction.training.checkpoint import load_model
from query_reduction.worlds import TASKS

RESULTS = Path(__file__).parents[1] / "results"
FIGURES = {"precision_at_1": "first is a fact", "r_precision": "precision among as many as there are facts"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", help="folder of the published files")
    chosen = parser.parse_args()
    tasks: dict[str, Any] = {}
    for task in map(str, TASKS):
        saved = load_model(find_model(f"task{task}"))
        assert isinstance(saved.task, StoryTask)
        parts = load_parts(chosen.data, task)
        scored = score_explanations(saved.network(), saved.task, parts.test)[task]
        tasks[task] = {**scored, "data_sha256": parts.checksum()}
    result = {"what": "contributions of ready models against supporting facts", "tasks": tasks, **provenance()}
    write_atomically(RESULTS / "explanations.json", json.dumps(result, indent=1) + "\n")
    write_atomically(RESULTS / "explanations.md", table(tasks))


def table(tasks: dict[str, Any]) -> str:
    """As Markdown: model, latest sentence first, and chance, side by side."""
    rankings = {"model": "model", "recency": "latest first", "random": "chance"}
    heads = [f"{figure}: {name}" for figure in FIGURES.values() for name in rankings.values()]
    lines = [
        "# Do the sentences that contributed most prove the answer?",
        "",
        "The ready models on the published test stories (1k), in percent. Made by",
        "`python -m studies.explanations ../shared/data/babi/en`.",
        "",
        f"| task | {' | '.join(heads)} |",
        f"|---|{'---:|' * len(heads)}",
    ]
    for task, scored in tasks.items():
        cells = [f"{scored[ranking][figure]:.1f}" for figure in FIGURES for ranking in rankings]
        lines.append(f"| {task} {TASKS[int(task)].title} | {' | '.join(cells)} |")
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    main()
