"""Do networks explain themselves? Sentences ranked by contribution, compared with the published facts.

    python -m query_reduction_lab.studies.explanations babi/en

trains several restarts of a network on every task of the published files, scores each on the published test as
`qrn evaluate --explanations` does, and writes results/explanations.json and results/explanations.md. All restarts
count, those that do not solve their task as well.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np

from query_reduction.explain.scoring import FIGURES, RANKINGS, score_explanations
from query_reduction.files import write_atomically
from query_reduction.native.threads import use_threads
from query_reduction.reading.stories import StoryTask
from query_reduction.sources.named import load_parts
from query_reduction.training.run import Run
from query_reduction.training.setup import setup
from query_reduction.worlds import TASKS
from query_reduction_lab.studies.publish import RESULTS, publish

NETWORK = "2r"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", help="folder of the published files")
    parser.add_argument("--restarts", type=int, default=5)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=RESULTS)
    chosen = parser.parse_args()
    use_threads(1)
    tasks: dict[str, Any] = {}
    for task in map(str, TASKS):
        tasks[task] = measure(chosen.data, task, chosen.restarts, chosen.seed)
        print(_row(task, tasks[task]), flush=True)
    content = {
        "what": f"contributions of {NETWORK} networks (1k, recipe original) against supporting facts, in percent",
        "restarts": chosen.restarts,
        "seed": chosen.seed,
        "tasks": tasks,
    }
    publish(chosen.out / "explanations.json", content, "studies/explanations.py")
    write_atomically(chosen.out / "explanations.md", table(tasks, chosen.restarts))


def measure(data: str, task: str, restarts: int, seed: int) -> dict[str, Any]:
    """Train restarts on a task and score the explanations of each."""
    parts = load_parts(data, task)
    run = Run(parts, setup(NETWORK, changes={"restarts": restarts, "seed": seed}))
    run.train()
    assert isinstance(run.task, StoryTask)
    models = [run.model(restart).network() for restart in run.trainer.restarts]
    errors = [scores.error for scores in run.task.score(models, parts.test)]
    scored = [score_explanations(network, run.task, parts.test)[task] for network in models]
    by_restart = {figure: [each["model"][figure] for each in scored] for figure in FIGURES}
    return {
        "questions": scored[0]["questions"],
        "test_errors": errors,
        "model": {
            figure: {"mean": round(float(np.mean(values)), 2), "std": round(float(np.std(values)), 2), "all": values}
            for figure, values in by_restart.items()
        },
        **{ranking: scored[0][ranking] for ranking in RANKINGS if ranking != "model"},
        "data_sha256": run.checksum,
    }


def table(tasks: dict[str, Any], restarts: int) -> str:
    """As Markdown: the networks, and the rankings that know nothing of them."""
    heads = ["test error", "network", "word overlap", "latest first", "chance"]
    return "\n".join(
        [
            "# Is the sentence that contributed most one that proves the answer?",
            "",
            f"`{NETWORK}` trained on 1k published questions per task, mean ± standard deviation over {restarts} "
            "restarts, all of them, in percent; more figures in `explanations.json`. Beside it are rankings that know "
            "nothing of the network: sentences that share most words with the question first, the latest first, and "
            "chance. Made by `python -m query_reduction_lab.studies.explanations`.",
            "",
            f"| task | {' | '.join(heads)} |",
            f"|---|{'---:|' * len(heads)}",
            *(_row(task, found) for task, found in tasks.items()),
            "",
        ]
    )


def _row(task: str, found: dict[str, Any]) -> str:
    figure = "precision_at_1"
    errors, own = found["test_errors"], found["model"][figure]
    cells = [f"{np.mean(errors):.1f} ± {np.std(errors):.1f}", f"{own['mean']:.1f} ± {own['std']:.1f}"]
    cells += [f"{found[ranking][figure]:.1f}" for ranking in ("overlap", "recency", "random")]
    return f"| {task} {TASKS[int(task)].title} | {' | '.join(cells)} |"


if __name__ == "__main__":
    main()
