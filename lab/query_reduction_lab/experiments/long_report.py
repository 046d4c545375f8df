"""The report of facts hidden in a book: tables, the bars, and a picture of accuracy against length."""

from __future__ import annotations

from typing import TYPE_CHECKING

from query_reduction_lab.experiments.long import COLUMNS, TASKS
from query_reduction_lab.experiments.long_results import LongResults
from query_reduction_lab.experiments.long_test import LENGTHS, WHOLE
from query_reduction_lab.pictures import FIRST, GREY, draw, look, plain_axes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["PUBLISHED", "long_curves", "long_markdown", "long_picture", "long_summary"]

PUBLISHED = (
    ("RMT, 137M weights, fine-tuned", "1", 94, 55),
    ("Mamba, 130M weights, fine-tuned", "1", 100, 84),
    ("ARMT, 137M weights, fine-tuned", "1", 100, 99),
    ("large chat models", "1–5, average", 48, 51),
)
"""BABILong's accuracy in percent at 128 000 and at a million tokens."""
_MOST_SECONDS, _MOST_MEGABYTES, _LEAST, _MOST_LOST = 1.0, 300.0, 95.0, 0.3


def long_summary(results: LongResults) -> str:
    """Accuracy of every network at every length, on average over the tasks, as a table."""
    lines = [f"| network | {' | '.join(map(_words, LENGTHS))} |", "|---|" + "---:|" * len(LENGTHS)]
    for column in COLUMNS:
        means = [_mean(results, column, words) for words in LENGTHS]
        if any(mean is not None for mean in means):
            lines.append(f"| {column} | {' | '.join('–' if mean is None else f'{mean:.1f}' for mean in means)} |")
    return "\n".join(lines)


def long_markdown(results: LongResults) -> str:
    """All tables."""
    book = results.book
    parts = [
        "# Facts hidden in a whole book",
        "Accuracy in percent on published test questions of bAbI tasks 1–5 (trained on 1k questions each), whose "
        f"stories are hidden, sentence by sentence, in the King James Bible ({book['lines']:,} verses, "
        f"{book['words']:,} words, about a million tokens). Training and development see only the first half of the "
        "book, the test only the second; in the longest test the facts are spread over all of it. The recipe was "
        "chosen on development questions of at most 20,000 words. Made by `qrn reproduce long`.",
        "Average over the tasks:",
        long_summary(results),
    ]
    for name, column in COLUMNS.items():
        rows = _rows(results, name)
        if rows:
            asked = {cell.asked for cell in results.cells if cell.column == name}
            counts = " or ".join(map(str, sorted(asked)))
            parts += [
                f"**{name}**: {column.about}. {counts} questions per task and length, drawn before anything was "
                "measured.",
                rows,
            ]
    parts += [
        "Published figures of BABILong, which hides the same kind of facts in other books: other text, other networks, "
        "so they show the order of magnitude, not a ranking. Accuracy in percent:",
        "\n".join(
            ["| network | task | 128k tokens | 1M tokens |", "|---|---|---:|---:|"]
            + [f"| {name} | {task} | {short} | {long} |" for name, task, short, long in PUBLISHED]
        ),
        "Error in percent on all published test questions as they are, without a book, and on development questions:",
        _ordinary(results),
        "One question about the whole book, asked alone, on two cores. *reading* is in a process that has the model; "
        "*command* is all of `qrn ask`, from its start. Memory is the most that the process ever held:",
        _times(results),
        "Bars, fixed in advance:",
        _bars(results),
    ]
    return "\n\n".join(parts) + "\n"


def _rows(results: LongResults, column: str) -> str:
    lines = [f"| task | {' | '.join(map(_words, LENGTHS))} |", "|---|" + "---:|" * len(LENGTHS)]
    for task in TASKS:
        cells = [results.cell(column, task, words) for words in LENGTHS]
        if any(cells):
            shown = " | ".join(f"{100 * cell.right / cell.asked:.1f}" if cell else "–" for cell in cells)
            lines.append(f"| {task} | {shown} |")
    return "\n".join(lines) if len(lines) > 2 else ""


def _ordinary(results: LongResults) -> str:
    lines = ["| task | long | stories alone | difference | development, long | minutes of training |"]
    lines.append("|---|---:|---:|---:|---:|---:|")
    for task in TASKS:
        long, alone = results.networks.get(f"long {task}"), results.networks.get(f"stories alone {task}")
        if long and alone:
            lost = long.test_error - alone.test_error
            lines.append(
                f"| {task} | {long.test_error:.1f} | {alone.test_error:.1f} | {lost:+.1f} "
                f"| {long.dev_error:.1f} | {long.seconds / 60:.1f} |"
            )
    return "\n".join(lines)


def _times(results: LongResults) -> str:
    if not results.times:
        return "Not measured yet (`qrn reproduce long --time`)."
    lines = ["| task | answer | reading: seconds | MB | command: seconds | MB |", "|---|---|---:|---:|---:|---:|"]
    lines += [
        f"| {time.task} | {'right' if time.right else 'wrong'} | {time.seconds:.2f} | {time.megabytes:.0f} "
        f"| {time.command_seconds:.2f} | {time.command_megabytes:.0f} |"
        for time in sorted(results.times, key=lambda time: time.task)
    ]
    return "\n".join(lines)


def _bars(results: LongResults) -> str:
    lines = ["| bar | measured | met |", "|---|---|---|"]

    def bar(text: str, found: str, met: bool) -> None:
        lines.append(f"| {text} | {found} | {'yes' if met else 'no'} |")

    whole = [cell for task in TASKS if (cell := results.cell("long", task, WHOLE))]
    if len(whole) == len(TASKS):
        shares = [100 * cell.right / cell.asked for cell in whole]
        bar(
            f"each task at least {_LEAST:.0f} % in the whole book", f"least: {min(shares):.1f} %", min(shares) >= _LEAST
        )
    if len(results.times) >= len(TASKS):
        seconds, memory = (max(getattr(t, name) for t in results.times) for name in ("seconds", "megabytes"))
        bar(f"reading: at most {_MOST_SECONDS} s", f"{seconds:.2f} s", seconds <= _MOST_SECONDS)
        bar(f"reading: at most {_MOST_MEGABYTES:.0f} MB", f"{memory:.0f} MB", memory <= _MOST_MEGABYTES)
        seconds = max(time.command_seconds for time in results.times)
        memory = max(time.command_megabytes for time in results.times)
        bar(f"whole command: at most {_MOST_SECONDS} s", f"{seconds:.2f} s", seconds <= _MOST_SECONDS)
        bar(f"whole command: at most {_MOST_MEGABYTES:.0f} MB", f"{memory:.0f} MB", memory <= _MOST_MEGABYTES)
    pairs = [(results.networks.get(f"long {task}"), results.networks.get(f"stories alone {task}")) for task in TASKS]
    lost = [long.test_error - alone.test_error for long, alone in pairs if long and alone]
    if len(lost) == len(TASKS):
        bar(f"at most {_MOST_LOST} points lost on ordinary tests", f"most: {max(lost):+.1f}", max(lost) <= _MOST_LOST)
    return "\n".join(lines)


def _mean(results: LongResults, column: str, words: int) -> float | None:
    cells = [results.cell(column, task, words) for task in TASKS]
    found = [100 * cell.right / cell.asked for cell in cells if cell]
    return sum(found) / len(found) if len(found) == len(TASKS) else None


def _words(words: int) -> str:
    if words == WHOLE:
        return "whole book"
    return f"{words // 1000}k words" if words else "no book"


def long_curves(results: LongResults) -> dict[str, list[tuple[int, float]]]:
    """Column → words of the book and the accuracy among them, on average over the tasks."""
    lengths = [results.book["words"] if words == WHOLE else words for words in LENGTHS]
    curves = {}
    for name in COLUMNS:
        means = [_mean(results, name, words) for words in LENGTHS]
        points = [(words, round(mean, 4)) for words, mean in zip(lengths, means, strict=True) if mean is not None]
        if points:
            curves[name] = points
    return curves


def long_picture(results: LongResults) -> bytes:
    """An SVG picture: accuracy, on average over the tasks, against words read."""
    curves = long_curves(results)

    def paint(figure: Figure) -> None:
        axes = figure.add_subplot()
        # The result is drawn first: where a control has the same figures, both are seen.
        for number, (name, points) in enumerate(curves.items()):
            control = look(number - 1) | {"linestyle": "--", "markersize": 4}
            style = control if number else {"color": FIRST, "marker": "o", "markersize": 7}
            # No words at all are drawn where a hundred would be.
            axes.plot([max(words, 100) for words, _ in points], [mean for _, mean in points], label=name, **style)
        axes.set_xscale("log")
        places = [max(results.book["words"] if words == WHOLE else words, 100) for words in LENGTHS]
        axes.set_xticks(places, [_words(words) for words in LENGTHS])
        axes.minorticks_off()
        axes.set_ylim(0, 103)
        plain_axes(axes, "words of the book around the facts", "accuracy, tasks 1–5, percent")
        figure.legend(loc="outside right center", frameon=False, labelcolor=GREY)

    return draw(paint, title="Accuracy against the length of the text", data=curves, width=7.2, height=4.0)
