"""qrn reproduce long: train, ask at every length, measure time, report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from itertools import islice
from pathlib import Path

from rich.progress import MofNCompleteColumn, Progress, TimeRemainingColumn

from query_reduction.cli.interrupt import stop_on_interrupt
from query_reduction.cli.output import console, notes, print_json
from query_reduction.errors import InputError
from query_reduction.files import write_atomically
from query_reduction.model import StoryModel, load
from query_reduction.sources.numbers import parse_tasks
from query_reduction.training.run_folder import is_finished
from query_reduction_lab.bench.whole_book import time_question
from query_reduction_lab.experiments.long import COLUMNS, TASKS, LongColumn, folder_of, test_stories
from query_reduction_lab.experiments.long_report import long_markdown, long_picture
from query_reduction_lab.experiments.long_results import LongCell, LongNetwork, LongResults
from query_reduction_lab.experiments.long_test import LENGTHS, WHOLE, BookReader, count_right, hidden, sampled

__all__ = ["chosen_columns", "chosen_tasks", "measure_long", "report_long", "time_long"]


def chosen_columns(names: Sequence[str]) -> list[LongColumn]:
    """The columns of these names, or all."""
    unknown = [name for name in names if name not in COLUMNS]
    if unknown:
        raise InputError(f"table long has the columns {', '.join(COLUMNS)}, not {unknown[0]!r}")
    return [COLUMNS[name] for name in names or COLUMNS]


def chosen_tasks(text: str) -> list[str]:
    """The tasks a user named, or all."""
    chosen = TASKS if text == "all" else tuple(str(number) for number in parse_tasks(text))
    unknown = [task for task in chosen if task not in TASKS]
    if unknown:
        raise InputError(f"table long has tasks {TASKS[0]} to {TASKS[-1]}, not {unknown[0]}")
    return list(chosen)


def measure_long(
    results: LongResults, book: Sequence[str], columns: Sequence[LongColumn], tasks: Sequence[str]
) -> bool:
    """Ask what was not asked yet; False if it was interrupted."""
    stopped = False

    def stop() -> None:
        nonlocal stopped
        stopped = True

    shown = Progress(*Progress.get_default_columns(), MofNCompleteColumn(), TimeRemainingColumn(), console=notes)
    with shown as bar, stop_on_interrupt(stop, "stopping: what was measured is kept"):
        for column, task, model in _models(columns, tasks):
            stories = sampled(test_stories(task), task)[: column.questions]
            network = LongNetwork.of(model)
            known = {cell.words for cell in results.of_network(column.name, task, network)}
            missing = [words for words in LENGTHS if words not in known]
            shown_task = bar.add_task(f"{column.name}, task {task}", total=len(stories) * len(missing))
            reader = None
            for words in missing:
                if reader is None:
                    own = [sentence for story in stories for sentence in story.sentences]
                    reader = BookReader(model, [*book, *own], reads_all=column.reads_all)

                def step(shown_task: object = shown_task) -> bool:
                    bar.advance(shown_task)  # type: ignore[arg-type]
                    return stopped

                counted = count_right(reader, hidden(stories, book, words, task), step)
                if counted is None:
                    return False
                results.add(network, LongCell(column.name, task, words, *counted, network.model))
            bar.remove_task(shown_task)
    return True


def time_long(results: LongResults, book: Sequence[str], tasks: Sequence[str]) -> None:
    """Ask one question of every task about the whole book, alone, where this was not done yet."""
    for task in tasks:
        network = results.networks.get(f"long {task}")
        if network and (task, network.model) not in {(time.task, time.model) for time in results.times}:
            notes.print(f"measuring time and memory of task {task}")
            story = next(islice(hidden(sampled(test_stories(task), task), book, WHOLE, task), 1))
            results.add_time(time_question(folder_of(COLUMNS["long"], task), task, network.model, story))


def report_long(results: LongResults, out: Path, *, as_json: bool) -> None:
    """Write the tables and the picture, and print the tables."""
    text = long_markdown(results)
    write_atomically(out / "long.md", text)
    write_atomically(out / "long.svg", long_picture(results))
    if as_json:
        print_json({"cells": list(map(asdict, results.cells)), "times": list(map(asdict, results.times))})
    else:
        console.print(text, markup=False, soft_wrap=True)
    notes.print(f"written: {out / 'long.md'}, {out / 'long.svg'}, {results.path}", markup=False, soft_wrap=True)


def _models(columns: Sequence[LongColumn], tasks: Sequence[str]) -> Iterator[tuple[LongColumn, str, StoryModel]]:
    """The trained networks of the columns."""
    for column in columns:
        for task in tasks:
            folder = folder_of(column, task)
            if not is_finished(folder):
                continue
            model = load(folder)
            assert isinstance(model, StoryModel)
            yield column, task, model
