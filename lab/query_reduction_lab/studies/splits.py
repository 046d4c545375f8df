"""What does it matter how development questions are held out? One by one, as the original does, or whole stories.

    qrn reproduce qa-1k --variants 2r --data ../shared/data
    qrn reproduce qa-1k --variants 2r --recipe original-by-story --data ../shared/data
    python -m query_reduction_lab.studies.splits

reads the stored results of the first two commands and writes results/splits.md.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from query_reduction.files import write_atomically
from query_reduction.training.results import RestartResult, choose
from query_reduction_lab.experiments.catalogue import EXPERIMENTS
from query_reduction_lab.experiments.settings import same_setup
from query_reduction_lab.experiments.store import ResultStore
from query_reduction_lab.experiments.table_recipes import RECIPES
from query_reduction_lab.studies.publish import RESULTS

NETWORK = "2r"
SPLITS = {"question": "original", "story": "original-by-story"}


def restarts_of(recipe: str) -> dict[str, list[RestartResult]]:
    """The stored restarts of the column by this recipe: task → results."""
    (column,) = EXPERIMENTS["qa-1k"].chosen_columns([NETWORK])
    setup = RECIPES[recipe].setup(NETWORK)
    found: dict[str, list[RestartResult]] = {}
    for stored in ResultStore(RESULTS / "store").settings("qa-1k", NETWORK):
        if same_setup(stored.setting.setup, setup):
            own = [record.result for record in stored.records if record.result.restart < column.restarts]
            found.setdefault(stored.setting.task, []).extend(own)
    return found


def comparison() -> str:
    """Both ways side by side, as Markdown; made from the store alone."""
    found = {split: restarts_of(recipe) for split, recipe in SPLITS.items()}
    tasks = [task for task in EXPERIMENTS["qa-1k"].tasks if all(task in found[split] for split in SPLITS)]
    lines = []
    chosen: dict[str, list[float]] = {split: [] for split in SPLITS}
    gaps: dict[str, list[float]] = {split: [] for split in SPLITS}
    for task in tasks:
        cells = []
        for split in SPLITS:
            results = found[split][task]
            best = choose(results, "accuracy")
            error = best.errors["answer"][task]
            chosen[split].append(error)
            gaps[split].append(abs(error - (best.dev_error or 0.0)))
            cells += [f"{error:.1f}", f"{best.dev_error or 0.0:.1f}", _correlation(results, task)]
        lines.append(f"| {task} | {' | '.join(cells)} |")
    averages = []
    for split in SPLITS:
        averages += [f"{np.mean(chosen[split]):.1f}", f"off by {np.mean(gaps[split]):.1f}", ""]
    return (
        "# Held out by question or by story\n\n"
        f"`{NETWORK}`, 1k, ten restarts per task, the same recipe. Test error of the restart chosen on development "
        "questions, its error on those, and the correlation of the two errors over restarts (– where one of them does "
        "not vary). Made from the store by `python -m query_reduction_lab.studies.splits`.\n\n"
        "| task | by question: test | development | correlation | by story: test | development | correlation |\n"
        "|---|---:|---:|---:|---:|---:|---:|\n" + "\n".join(lines) + f"\n| average | {' | '.join(averages)} |\n"
    )


def _correlation(results: Sequence[RestartResult], task: str) -> str:
    tested = [(result.dev_error, result.errors["answer"][task]) for result in results if result.dev_error is not None]
    dev, test = np.array(tested).T
    if dev.std() < 0.01 or test.std() < 0.01:
        return "–"
    return f"{np.corrcoef(dev, test)[0, 1]:.2f}"


def main() -> None:
    write_atomically(RESULTS / "splits.md", comparison())
    print(comparison())


if __name__ == "__main__":
    main()
