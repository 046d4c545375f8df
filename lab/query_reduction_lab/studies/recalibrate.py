"""Calibrate the ready models again, on generated development stories, without training them.

    python -m query_reduction_lab.studies.recalibrate            # all story models of the package

The stories are those that ``make_models`` holds out: unseen in training, long and short, and also told with names that
the model has never seen, as people do.
"""

from __future__ import annotations

import argparse
import random
from dataclasses import replace
from pathlib import Path

from query_reduction import load, worlds
from query_reduction.model import StoryModel
from query_reduction.model_file import save_model
from query_reduction.models import FOLDER, ready_models
from query_reduction.sources.numbers import parse_tasks
from query_reduction.text.stories import Story
from query_reduction.training.calibrate import calibrate_on_stories
from query_reduction.worlds import shortened

_QUESTIONS = 600
"""Per task, at most; a model of many tasks gets as many in all as one of few."""
_MOST = 2400


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--only", default=",".join(model.name for model in ready_models()), help="names, separated by commas"
    )
    parser.add_argument("--out", type=Path, default=FOLDER)
    chosen = parser.parse_args()
    for name in chosen.only.split(","):
        model = load(name)
        if not isinstance(model, StoryModel):
            continue
        calibration = calibrate_on_stories(model.network, model.task, development(model.card["tasks"]))
        saved = replace(model.saved, task=replace(model.task, calibration=calibration))
        save_model(chosen.out / f"{name}.safetensors", saved)
        print(name, calibration, flush=True)


def development(tasks: str) -> list[Story]:
    """Stories of some tasks that no training has seen, whole and short."""
    numbers = parse_tasks(tasks)
    count = min(_QUESTIONS, _MOST // len(numbers))
    stories = [story for task in numbers for story in worlds.generate(task, count, split="valid", seed=1)]
    random.Random(0).shuffle(stories)
    return stories + list(shortened(stories, 1))[::2]


if __name__ == "__main__":
    main()
