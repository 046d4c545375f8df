"""How alike generated and published stories are, task by task: writes results/worlds-comparison.json and .md.

python -m query_reduction_lab.studies.compare_worlds [--data babi] [--out results]
"""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path
from typing import Any

from query_reduction.files import write_atomically
from query_reduction.text.formats.readers import read_file
from query_reduction.text.stories import Story
from query_reduction.worlds import TASKS, generate, load_words
from query_reduction.worlds.solver import solve
from query_reduction_lab.studies.publish import RESULTS, publish
from query_reduction_lab.studies.worlds_comparison import QUANTILES, Comparison, Profile, compare

COMMAND = "python -m query_reduction_lab.studies.compare_worlds"
_EXPLANATION = f"""# Generated and published stories, side by side

Made by `{COMMAND}`; all figures are in `worlds-comparison.json`.

Published: the 10k training files (of task 3, the 1k file and the stories of 10k that could be recovered).
Generated: as many questions, seed 0, default options. *Words* and *templates* (sentences and questions with
people, places, things … replaced by their kind): the published number, and how the generated ones differ.

The next five columns are total variation, 0 to 1: how much of one distribution has to be moved to make it the
other. In brackets is the largest found between generated samples of that size with different seeds, which is
what chance alone does. *Places of the facts* is how far back the earliest supporting fact is.

The solver reads only the text of a story. What it misses in task 5 of the published files is "What did Fred give
to Bill?" where Fred gave Bill two things and an earlier one is meant; such questions are not generated.
"""
DISTRIBUTIONS = ("templates", "story lengths", "supporting facts", "places of the facts", "answers")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("babi"), help="folder with en and en-10k")
    parser.add_argument("--out", type=Path, default=RESULTS, help="folder for the two files")
    arguments = parser.parse_args()
    rows = []
    for task in TASKS:
        rows.append(measure(task, arguments.data))
        print(_markdown_row(rows[-1]), flush=True)
    content = {"quantiles": QUANTILES, "tasks": rows}
    publish(arguments.out / "worlds-comparison.json", content, "studies/compare_worlds.py")
    write_atomically(arguments.out / "worlds-comparison.md", _markdown(rows))


def published_training(data: Path, task: int) -> list[Story]:
    """The published 10k training stories; of task 3, those of 1k and those of 10k that could be recovered."""
    folders = ("en", "en-10k-qa3-partial") if task == 3 else ("en-10k",)
    return [story for folder in folders for story in read_file(_file(data / folder, task, "train"))]


def measure(task: int, data: Path) -> dict[str, Any]:
    comparison = compare(published_training(data, task), partial(_generated, task), load_words())
    score = {split: _solver_score(task, read_file(_file(data / "en", task, split))) for split in ("train", "test")}
    return {
        "task": task,
        "title": TASKS[task].title,
        "published": _profile(comparison.published),
        "generated": _profile(comparison.generated),
        "distance": _rounded(comparison, "distance"),
        "distance_by_chance": _rounded(comparison, "chance"),
        "missing_words": comparison.missing_words,
        "added_words": comparison.added_words,
        "missing_templates": comparison.missing_templates,
        "added_templates": comparison.added_templates,
        "solver_on_published_train_1k": score["train"],
        "solver_on_published_test": score["test"],
        "solver_on_generated": _solver_score(task, _generated(task, 1000, 0)),
    }


def _generated(task: int, questions: int, seed: int) -> list[Story]:
    return generate(task, questions, seed=seed)


def _file(folder: Path, task: int, split: str) -> Path:
    (path,) = folder.glob(f"qa{task}_*_{split}.txt")
    return path


def _solver_score(task: int, stories: list[Story]) -> float:
    """Percent of the questions that the reference solver, reading only the text, answers as the file does."""
    asked = [(story, question) for story in stories for question in story.questions]
    right = sum(
        solve(task, story.sentences[: question.after], question.text) == question.answer for story, question in asked
    )
    return round(100 * right / len(asked), 2)


def _profile(profile: Profile) -> dict[str, Any]:
    return {
        "stories": profile.stories,
        "questions": profile.questions,
        "words": len(profile.vocabulary),
        "templates": len(profile.counts["templates"]),
        "sentences_mean": round(profile.mean_length, 2),
        "sentences_quantiles": list(profile.length_quantiles),
        **{
            name.replace(" ", "_"): {
                str(value): round(count / profile.counts[name].total(), 4)
                for value, count in profile.counts[name].most_common(20)
            }
            for name in ("supporting facts", "answers")
        },
    }


def _rounded(comparison: Comparison, field: str) -> dict[str, float]:
    return {name: round(value, 4) for name, value in getattr(comparison, field).items()}


def _markdown_row(row: dict[str, Any]) -> str:
    published, generated = row["published"], row["generated"]
    cells = [
        f"{row['task']} {row['title']}",
        f"{published['words']} {_difference(row, 'words')}",
        f"{published['templates']} {_difference(row, 'templates')}",
        f"{published['sentences_mean']} / {generated['sentences_mean']}",
        *(f"{row['distance'][name]:.3f} ({row['distance_by_chance'][name]:.3f})" for name in DISTRIBUTIONS),
        f"{row['solver_on_published_test']:g}",
        f"{row['solver_on_generated']:g}",
    ]
    return "| " + " | ".join(cells) + " |"


def _difference(row: dict[str, Any], what: str) -> str:
    missing, added = len(row[f"missing_{what}"]), len(row[f"added_{what}"])
    return f"−{missing} +{added}" if missing or added else "same"


def _markdown(rows: list[dict[str, Any]]) -> str:
    head = [
        "task",
        "words",
        "templates",
        "mean sentences, published / generated",
        *DISTRIBUTIONS,
        "solver, published test %",
        "solver, generated %",
    ]
    return "\n".join(
        [_EXPLANATION, "| " + " | ".join(head) + " |", "|" + "---|" * len(head), *map(_markdown_row, rows), ""]
    )


if __name__ == "__main__":
    main()
