"""The contenders of the recurrence as a picture that reads on light and on dark pages; needs matplotlib."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from query_reduction.errors import InputError
from query_reduction.files import write_atomically
from query_reduction_lab.bench.recurrence import BOTH
from query_reduction_lab.bench.results import Recurrence, ratios
from query_reduction_lab.pictures import FIRST, GREY, draw, look, plain_axes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["check_picture", "draw_recurrence"]

_ENDINGS = ("svg", "png", "pdf")


def check_picture(path: Path) -> None:
    """Report anything that would prevent drawing the picture before hours of measuring."""
    if path.suffix.lower().removeprefix(".") not in _ENDINGS:
        raise InputError(f"{path}: pictures end in .svg, .png or .pdf")
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError as error:
        raise InputError("pictures need matplotlib: pip install '.[plots]'") from error


def draw_recurrence(part: Recurrence, path: Path) -> None:
    """Draw times our time at every size, forward and backward with the most threads, one line per contender."""
    check_picture(path)
    lines = _lines(part)
    labels = [str(row.size) for row in part.rows if row.mode == BOTH]

    def paint(figure: Figure) -> None:
        axes = figure.add_subplot()
        axes.axhline(1, color=FIRST, linewidth=2.6, label="this package")
        for number, (name, points) in enumerate(lines.items()):
            places, values = zip(*points, strict=True)
            axes.plot(places, values, linewidth=1.4, markersize=4.5, label=name, **look(number))
        axes.set_yscale("log")
        axes.set_xticks(range(len(labels)), labels)
        plain_axes(axes, "batch, sentences, units", "times our time, forward and backward")
        figure.legend(loc="outside right center", frameon=False, labelcolor=GREY, reverse=True)

    ending = path.suffix.lower().removeprefix(".")
    content = draw(paint, title="Times our time", data=lines, width=8.6, height=4.8, ending=ending)
    write_atomically(path, content)


def _lines(part: Recurrence) -> dict[str, list[tuple[int, float]]]:
    """Contender → places and ratios, the fastest at the first size first."""
    found: dict[str, list[tuple[int, float]]] = {}
    for place, row in enumerate(row for row in part.rows if row.mode == BOTH):
        threads = max(row.race.thread_counts, default=1)
        own = row.race.own(threads)
        if own is None:
            continue
        for peer in row.race.peers(threads):
            found.setdefault(peer.contender, []).append((place, ratios(peer, own).median))
    return found
