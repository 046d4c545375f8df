"""Which symmetries are found in stories of other languages, is any of them false, and does the recipe best profit?

    python -m query_reduction_lab.studies.languages find --rows runs/languages.jsonl
    python -m query_reduction_lab.studies.languages train --rows runs/languages.jsonl --tasks 2,17
    python -m query_reduction_lab.studies.languages publish --rows runs/languages.jsonl

The worlds tell every task in every language. ``find`` looks for interchangeable words in stories of several sizes, in
random parts of them, and with wrong answers among the right ones, renames true stories by what was found, and lets the
solvers read and answer them: an answer that became false, or a sentence that is none of the language, is a false
exchange. ``train`` trains the recipe best and the plain network on the same questions. Both continue where they were
stopped; ``publish`` writes results/symmetries-languages.json and .md.
"""

from __future__ import annotations

import argparse
import json
import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from query_reduction.files import write_atomically
from query_reduction.names import Renamer, Symmetries
from query_reduction.names.discovery.discover import discover
from query_reduction.sources.numbers import parse_tasks
from query_reduction.text.stories import Story
from query_reduction.worlds import LANGUAGES, generate, generate_splits, load_language
from query_reduction.worlds.solver.languages import Interpreter, interpreter
from query_reduction_lab.studies.publish import RESULTS, publish

SIZES = (100, 250, 1000, 10_000)
WRONG = (0.0, 0.05, 0.2)
PARTS = 3
CHECKED = 300
"""Stories renamed and solved again for each finding."""
PLAIN = ("2r", "original")
BEST = ("3rv100", "best")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("find", "train", "publish"))
    parser.add_argument("--rows", type=Path, default=Path("runs/languages.jsonl"), help="the rows measured so far")
    parser.add_argument("--languages", default=",".join(LANGUAGES))
    parser.add_argument("--tasks", default="all")
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)))
    parser.add_argument("--whole", action="store_true", help="no random parts, and no wrong answers")
    parser.add_argument("--out", type=Path, default=RESULTS)
    chosen = parser.parse_args()
    rows = read_rows(chosen.rows)
    if chosen.what == "publish":
        what = "symmetries found in generated stories of several languages, and what they make false"
        publish(chosen.out / "symmetries-languages.json", {"what": what, "rows": rows}, "studies/languages.py")
        write_atomically(chosen.out / "symmetries-languages.md", table(rows))
        return
    tasks = parse_tasks(chosen.tasks)
    languages = chosen.languages.split(",")
    sizes = [int(size) for size in chosen.sizes.split(",")]
    cells = training_cells(languages, tasks) if chosen.what == "train" else finding_cells(languages, tasks, sizes)
    if chosen.whole:
        cells = (cell for cell in cells if not cell["part"] and not cell["wrong"])
    done = {key_of(row) for row in rows}
    chosen.rows.parent.mkdir(parents=True, exist_ok=True)
    for cell in cells:
        if key_of(cell) not in done:
            row = cell | (trained(cell) if chosen.what == "train" else found(cell))
            with chosen.rows.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row, ensure_ascii=False) + "\n")
            print(json.dumps(row, ensure_ascii=False), flush=True)


def read_rows(path: Path) -> list[dict[str, Any]]:
    """What was measured so far."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []


def key_of(row: dict[str, Any]) -> tuple[Any, ...]:
    """What distinguishes a measurement from others."""
    return tuple(row.get(name) for name in ("language", "task", "questions", "part", "wrong", "network"))


def finding_cells(languages: Sequence[str], tasks: Sequence[int], sizes: Sequence[int]) -> Iterator[dict[str, Any]]:
    """Whole sets first, then random parts of the largest, then wrong answers."""
    for size in sizes:
        for part in range(PARTS + 1):
            for wrong in WRONG if part == 0 else WRONG[:1]:
                for task in tasks:
                    for language in languages:
                        yield {"language": language, "task": task, "questions": size, "part": part, "wrong": wrong}


def training_cells(languages: Sequence[str], tasks: Sequence[int]) -> Iterator[dict[str, Any]]:
    for task in tasks:
        for language in languages:
            for network, recipe in (PLAIN, BEST):
                cell = {"language": language, "task": task, "questions": 1000, "part": 0, "wrong": 0.0}
                yield cell | {"network": network, "recipe": recipe}


def found(cell: dict[str, Any]) -> dict[str, Any]:
    """What is found in the stories of a cell, and how many questions it falsifies."""
    task, words = cell["task"], load_language(cell["language"])
    if cell["part"]:
        # Random parts of ten thousand questions, of which discovery would otherwise only see the first.
        stories = generate(task, max(SIZES), seed=5, words=words)
        share = cell["questions"] / max(SIZES)
        stories = random.Random(cell["part"]).sample(stories, max(1, round(share * len(stories))))
    else:
        stories = generate(task, cell["questions"], seed=5, words=words)
    symmetries = discover(with_wrong_answers(stories, cell["wrong"]))
    true = generate(task, 1000, seed=6, words=words)[:CHECKED]
    return {"found": symmetries.describe()} | check(interpreter(task, words), true, symmetries)


def with_wrong_answers(stories: Sequence[Story], share: float) -> list[Story]:
    """The stories with this share of answers replaced by another of them."""
    if not share:
        return list(stories)
    chance = random.Random(0)
    answers = [question.answer for story in stories for question in story.questions]
    return [
        replace(
            story,
            questions=tuple(
                replace(question, answer=chance.choice(answers)) if chance.random() < share else question
                for question in story.questions
            ),
        )
        for story in stories
    ]


def check(reader: Interpreter, stories: Sequence[Story], symmetries: Symmetries) -> dict[str, Any]:
    """How many questions of renamed stories are false, and how many of these stories cannot be read."""
    false = unreadable = asked = renamed = 0
    for story, told in zip(stories, Renamer(symmetries, stories).stories(stories, random.Random(1)), strict=True):
        renamed += told != story
        for question in told.questions:
            asked += 1
            try:
                false += reader.solve(told.sentences[: question.after], question.text) != question.answer
            except KeyError:
                unreadable += 1
            except (ValueError, IndexError):
                false += 1
    units = len(symmetries.all_units)
    return {"units": units, "renamed": renamed / len(stories), "asked": asked, "false": false, "unreadable": unreadable}


def trained(cell: dict[str, Any]) -> dict[str, Any]:
    """The errors of one network on one task in one language."""
    from query_reduction.reading.stories import StoryParts
    from query_reduction.training.harm import without_harm
    from query_reduction.training.run import Run, run_result, train_to_end
    from query_reduction.training.setup import setup

    splits = generate_splits(cell["task"], {"train": 1000, "test": 1000}, seed=5, words=load_language(cell["language"]))
    parts = StoryParts(cell["language"], splits["train"], [], splits["test"])
    run = Run(parts, setup(cell["network"], cell["recipe"]))
    train_to_end(run)
    said: list[str] = []
    result = run_result(without_harm(run, said.append))
    return {"dev_error": result.chosen.dev_error, "test_error": result.chosen.test_error, "dropped": said}


def table(rows: Sequence[dict[str, Any]]) -> str:
    """As Markdown: errors of networks, false exchanges by language and size, and what was found at 1k."""
    lines = [
        "# Symmetries found in stories of other languages", "",
        "The worlds tell every task in every language, with cases, endings, agreement and articles as the language has "
        "them; solvers read every renamed story. Made by `python -m query_reduction_lab.studies.languages`.", "",
    ]  # fmt: skip
    lines += _summary([row for row in rows if "network" not in row])
    lines += _errors([row for row in rows if "network" in row])
    lines += ["", "## What was found in 1000 questions", "", "| language | task | found |", "|---|---:|---|"]
    shown = [row for row in rows if "network" not in row and row["questions"] == 1000 and not row["part"]]
    lines += [
        f"| {row['language']} | {row['task']} | {'; '.join(row['found'])} |"
        for row in sorted(shown, key=lambda row: (row["language"], row["task"]))
        if not row["wrong"]
    ]
    return "\n".join([*lines, ""])


def _summary(rows: Sequence[dict[str, Any]]) -> list[str]:
    groups: dict[tuple[str, int, bool, float], list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        groups[row["language"], row["questions"], bool(row["part"]), row["wrong"]].append(row)
    lines = [
        "False: answers that renaming made false. Unreadable: questions whose story has a sentence that is none of the "
        "language. Renamed: the share of stories that could be renamed at all.", "",
        "| language | questions | stories | wrong answers | tasks | units | renamed | asked | false | unreadable |",
        "|---|---:|---|---:|---:|---:|---:|---:|---:|---:|",
    ]  # fmt: skip
    for (language, questions, part, wrong), own in sorted(groups.items()):
        tasks = len({row["task"] for row in own})
        total = {name: sum(row[name] for row in own) for name in ("units", "renamed", "asked", "false", "unreadable")}
        lines.append(
            f"| {language} | {questions} | {'random parts' if part else 'the first'} | {wrong:.0%} | {tasks} | "
            f"{total['units'] / len(own):.0f} | {total['renamed'] / len(own):.0%} | {total['asked']} | "
            f"{total['false']} | {total['unreadable']} |"
        )
    return lines


def _errors(rows: Sequence[dict[str, Any]]) -> list[str]:
    if not rows:
        return []
    error = {(row["language"], row["task"], row["network"]): row["test_error"] for row in rows}
    dropped = {(row["language"], row["task"]) for row in rows if row["dropped"]}
    lines = [
        "",
        "## Test error at 1k, in percent",
        "",
        "| task | language | plain `2r` | `best` |",
        "|---:|---|---:|---:|",
    ]
    for task, language in sorted({(row["task"], row["language"]) for row in rows}):
        plain, best = error.get((language, task, PLAIN[0])), error.get((language, task, BEST[0]))
        note = " (renaming dropped)" if (language, task) in dropped else ""
        cells = ["–" if value is None else f"{value:.1f}" for value in (plain, best)]
        lines.append(f"| {task} | {language} | {cells[0]} | {cells[1]}{note} |")
    return lines


if __name__ == "__main__":
    main()
