"""Several networks for one task: trained one after another, choosing the best on development questions."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace

from query_reduction.files import write_atomically
from query_reduction.tasks.protocol import Parts
from query_reduction.training.checkpoint import MODEL_FILE, SavedModel, save_model
from query_reduction.training.results import RunResult, choose
from query_reduction.training.run import RESULT_FILE, Place, Run
from query_reduction.training.setup import Setup

__all__ = ["choose_run", "runs_of"]


def runs_of(parts: Parts, setups: Sequence[Setup], place: Place, *, start: SavedModel | None = None) -> Iterator[Run]:
    """One run per network; what is learned about the task besides weights is learned once.

    If there are several, each has its own folder inside the place's folder. ``start`` is as in ``Run``.
    """
    task = None
    for setup in setups:
        own = place
        if len(setups) > 1 and place.folder is not None:
            own = replace(place, folder=place.folder / setup.name)
        run = Run(parts, setup, own, task=task, start=start)
        task = run.task if setup.task == setups[0].task else None
        yield run


def choose_run(runs: Sequence[Run], place: Place) -> tuple[SavedModel, RunResult]:
    """Test all trained runs, take the one whose chosen restart did best on development questions, and save it."""
    results = [run.finish() for run in runs]
    # The runs' restarts have the same numbers, so a run is identified by its position here.
    ranked = [replace(result.chosen, restart=number) for number, result in enumerate(results)]
    best = choose(ranked, "accuracy").restart
    run, result = runs[best], results[best]
    model = run.model(run.best(), result.as_json())
    if len(runs) > 1 and place.folder is not None and place.share.first:
        save_model(place.folder / MODEL_FILE, model)
        write_atomically(place.folder / RESULT_FILE, json.dumps(result.as_json(), indent=1, allow_nan=False) + "\n")
    return model, result
