"""The report of facts hidden in a book: tables, the bars, and a picture of accuracy against length."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

from query_reduction_lab.experiments.long import COLUMNS, TASKS
from query_reduction_lab.experiments.long_results import LongResults
from query_reduction_lab.experiments.long_test import LENGTHS, WHOLE

__all__ = ["PUBLISHED", "long_markdown", "long_picture", "long_summary"]

PUBLISHED = (
    ("RMT, 137M weights, fine-tuned", "1", 94, 55),
    ("Mamba, 130M weights, fine-tuned", "1", 100, 84),
    ("ARMT, 137M weights, fine-tuned", "1", 100, 99),
    ("large chat models", "1–5, average", 48, 51),
)
"""BABILong's accuracy in percent at 128 000 and at a million tokens."""
_MOST_SECONDS, _MOST_MEGABYTES, _LEAST, _MOST_LOST = 1.0, 300.0, 95.0, 0.3
_COLOURS = {"long": "#1f5fa8", "plain gates": "#c0562b", "stories alone": "#888888", "left out": "#4c9a5a"}
_WIDTH, _HEIGHT, _LEFT, _RIGHT, _TOP, _BOTTOM = 640, 380, 60, 130, 20, 56


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


def long_picture(results: LongResults) -> str:
    """An SVG picture: accuracy, on average over the tasks, against words read."""
    total = results.book["words"]
    places = [_log(total if words == WHOLE else words) for words in LENGTHS]
    low, high = places[0], places[-1]

    def x(place: float) -> float:
        return round(_LEFT + (place - low) / (high - low) * (_WIDTH - _LEFT - _RIGHT), 1)

    def y(accuracy: float) -> float:
        return round(_TOP + (1 - accuracy / 100) * (_HEIGHT - _TOP - _BOTTOM), 1)

    parts = [_line(y(share), f"{share}") for share in range(0, 101, 20)]
    base = _HEIGHT - _BOTTOM
    parts += [
        f'<text x="{x(place)}" y="{base + 18}" text-anchor="middle">{escape(_words(words))}</text>'
        for place, words in zip(places, LENGTHS, strict=True)
    ]
    ends: list[float] = []
    for name, colour in _COLOURS.items():
        means = [(place, _mean(results, name, words)) for place, words in zip(places, LENGTHS, strict=True)]
        points = [(x(place), y(mean)) for place, mean in means if mean is not None]
        if points:
            parts += _curve(points, name, colour, _apart(points[-1][1], ends))
    middle = (_LEFT + _WIDTH - _RIGHT) / 2
    parts.append(
        f'<text x="{middle}" y="{_HEIGHT - 12}" text-anchor="middle">words of the book around the facts</text>'
        f'<text transform="translate(16 {(_TOP + base) / 2}) rotate(-90)" text-anchor="middle">'
        "accuracy, tasks 1–5, percent</text>"
    )
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="Accuracy against the length of the text" '
        f'width="{_WIDTH}" height="{_HEIGHT}" viewBox="0 0 {_WIDTH} {_HEIGHT}" font-family="sans-serif" font-size="13">'
        f'<rect width="100%" height="100%" fill="#fff"/>{"".join(parts)}</svg>\n'
    )


def _log(words: int) -> float:
    """No words at all are drawn where a hundred would be."""
    return math.log10(max(words, 100))


def _apart(height: float, taken: list[float]) -> float:
    """A height for a label, near the wanted one, that keeps off those taken."""
    while any(abs(height - other) < 14 for other in taken):
        height += 2
    taken.append(height)
    return height


def _curve(points: Sequence[tuple[float, float]], name: str, colour: str, label: float) -> list[str]:
    path = " ".join(f"{a},{b}" for a, b in points)
    # The result is drawn first: where a control has the same figures, both are seen.
    radius, dashes = (5, "") if name == next(iter(COLUMNS)) else (3, ' stroke-dasharray="6 4"')
    dots = "".join(f'<circle cx="{a}" cy="{b}" r="{radius}" fill="{colour}"/>' for a, b in points)
    end = points[-1][0]
    return [
        f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"{dashes}/>{dots}'
        f'<text x="{end + 10}" y="{label + 4}" fill="{colour}">{escape(name)}</text>'
    ]


def _line(height: float, label: str) -> str:
    return (
        f'<line x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{height}" y2="{height}" stroke="#ddd"/>'
        f'<text x="{_LEFT - 8}" y="{height + 4}" text-anchor="end">{label}</text>'
    )
