"""Which symmetries are found in the published stories, and is any of them false?

    python -m query_reduction_lab.studies.found_symmetries babi/en

lists what the recipe best finds in its training part of each task, and lets the worlds' solvers answer the questions of
renamed stories: those of all training stories, and of random choices of few, where evidence is thin. It writes
results/symmetries.json and .md.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from query_reduction.files import write_atomically
from query_reduction.names import Renamer, Symmetries
from query_reduction.names.discovery.discover import discover
from query_reduction.reading.stories import StoryTask
from query_reduction.sources.named import load_parts
from query_reduction.text.stories import Story
from query_reduction.training.run import Run
from query_reduction.training.setup import setup
from query_reduction.worlds import TASKS
from query_reduction.worlds.solver import solve
from query_reduction_lab.studies.publish import RESULTS, publish

NETWORK = "3rv100"
FEW = (60, 100, 200)
CHOICES = 3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", help="folder of the published files with 1k questions per task")
    parser.add_argument("--out", type=Path, default=RESULTS)
    chosen = parser.parse_args()
    tasks = []
    for number, info in TASKS.items():
        own = of_task(number, chosen.data)
        tasks.append({"task": number, "title": info.title, **own})
        print(
            f"task {number}: {'; '.join(own['found'])}; false: {[row['false'] for row in own['checked']]}", flush=True
        )
    content = {"what": "symmetries found in the published stories, and renamed questions with a false answer"}
    publish(chosen.out / "symmetries.json", {**content, "tasks": tasks}, "studies/found_symmetries.py")
    write_atomically(chosen.out / "symmetries.md", table(tasks))


def of_task(number: int, data: str) -> dict[str, Any]:
    """What best finds in a task, and how many questions it falsifies, from all stories and from few."""
    parts = load_parts(data, str(number))
    run = Run(parts, setup(NETWORK, "best"))
    assert isinstance(run.task, StoryTask) and run.task.symmetries is not None
    (best,) = run.task.symmetries.of_task.values()
    checked = [{"stories": len(parts.train), "choices": 1, **check(number, parts.train, [best])}]
    for few in FEW:
        if few < len(parts.train):
            choices = [random.Random(seed).sample(parts.train, few) for seed in range(CHOICES)]
            found = [discover(stories) for stories in choices]
            checked.append({"stories": few, "choices": CHOICES, **check(number, parts.train, found)})
    return {"found": best.describe(), "data_sha256": run.checksum, "checked": checked}


def check(number: int, stories: Sequence[Story], found: Sequence[Symmetries]) -> dict[str, int]:
    """Rename all stories by each of these, and count the answers that are false where they were true before."""
    doubtful = false_answers(number, stories)
    false, units = 0, 0
    for symmetries in found:
        renamed = list(Renamer(symmetries, stories).stories(stories, random.Random(1)))
        false += len(false_answers(number, renamed) - doubtful)
        units += len(symmetries.all_units)
    asked = len(found) * sum(len(story.questions) for story in stories)
    return {"units": units // len(found), "questions": asked, "false": false}


def false_answers(number: int, stories: Sequence[Story]) -> set[tuple[int, int]]:
    """Stories and questions, by their places, whose answers the solver does not give."""
    return {
        (story_number, place)
        for story_number, story in enumerate(stories)
        for place, asked in enumerate(story.questions)
        if _solved(number, story.sentences[: asked.after], asked.text) != asked.answer
    }


def _solved(number: int, told: Sequence[str], question: str) -> str:
    try:
        return solve(number, told, question)
    except (ValueError, KeyError, IndexError) as error:
        return f"unsolved: {error}"


def table(tasks: Sequence[dict[str, Any]]) -> str:
    """As Markdown: what was found per task, and the check."""
    found = [f"| {task['task']} | {task['title']} | {'; '.join(task['found'])} |" for task in tasks]
    columns = ("stories", "choices", "units", "questions", "false")
    rows = [
        f"| {task['task']} | {' | '.join(str(row[column]) for column in columns)} |"
        for task in tasks
        for row in task["checked"]
    ]
    return "\n".join(
        [
            "# Symmetries found in the published stories",
            "",
            "From the training part of each task at 1k, as the recipe best finds and uses them: no word list, no test, "
            "no knowledge of the language. Made by `python -m query_reduction_lab.studies.found_symmetries`.",
            "",
            "| task | | found |",
            "|---:|---|---|",
            *found,
            "",
            "Is any of it false? All training stories are renamed, by what was found in them and by what was found in "
            "random choices of few of them, and the worlds' solvers answer all questions again. Units: words and names "
            "that may move, on average over the choices.",
            "",
            "| task | found in stories | choices | units | questions asked | false answers |",
            "|---:|---:|---:|---:|---:|---:|",
            *rows,
            "",
        ]
    )


if __name__ == "__main__":
    main()
