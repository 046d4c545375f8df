"""Several networks for one task: trained one after another, choosing the best on development questions."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from query_reduction.files import locked, remove, remove_leftovers, write_atomically
from query_reduction.tasks.protocol import Parts
from query_reduction.training.checkpoint import MODEL_FILE, SavedModel, save_model
from query_reduction.training.results import RunResult, choose
from query_reduction.training.run import RESULT_FILE, STATE_FILE, Place, Run, is_finished
from query_reduction.training.setup import Setup

__all__ = ["choose_run", "owned", "runs_of"]


@contextmanager
def owned(place: Place) -> Iterator[None]:
    """Keep other processes out of the folder of a training, and remove what a killed one left there."""
    if place.folder is None or not place.share.first:
        yield
        return
    with locked(place.folder, f"another training is writing to {place.folder}; wait for it, or choose another folder"):
        for folder in (place.folder, *(inside for inside in place.folder.iterdir() if inside.is_dir())):
            remove_leftovers(folder)
            if is_finished(folder):
                remove(folder / STATE_FILE)
        yield


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
