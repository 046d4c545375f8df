"""The contenders of the recurrence as a picture that reads on light and on dark pages; needs matplotlib."""

from __future__ import annotations

import io
from pathlib import Path

from query_reduction.errors import InputError
from query_reduction.files import write_atomically
from query_reduction_lab.bench.recurrence import BOTH
from query_reduction_lab.bench.results import Recurrence, ratios

__all__ = ["check_picture", "draw_recurrence"]

_GREY = "#808891"
"""Readable on white and on black alike; so are the colours below. The background stays transparent."""
_OURS = "#e8590c"
_COLOURS = ("#4c8bf5", "#2f9e6e", "#b06fd8", "#c2941f", "#1f9fb5", "#d65c8a", "#8a8f98")
_MARKERS = "sD^vPX*h"
"""One more than colours, so that no two of fifty lines look alike."""
_ENDINGS = ("svg", "png", "pdf")


def check_picture(path: Path) -> None:
    """Report anything that would prevent drawing the picture before hours of measuring."""
    if path.suffix.lower().removeprefix(".") not in _ENDINGS:
        raise InputError(f"{path}: pictures end in .svg, .png or .pdf")
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError as error:
        raise InputError("pictures need matplotlib: pip install 'query-reduction[plots]'") from error


def draw_recurrence(part: Recurrence, path: Path) -> None:
    """Draw times our time at every size, forward and backward with the most threads, one line per contender."""
    check_picture(path)
    import matplotlib
    from matplotlib.backends.backend_svg import FigureCanvasSVG  # noqa: F401
    from matplotlib.figure import Figure

    lines = _lines(part)
    labels = [str(row.size) for row in part.rows if row.mode == BOTH]
    ending = path.suffix.lower().removeprefix(".")
    # Text stays text in an SVG; the fixed salt makes the same figures the same file.
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "query-reduction", "font.size": 10}):
        figure = Figure(figsize=(8.6, 4.8), layout="constrained")
        axes = figure.add_subplot()
        axes.axhline(1, color=_OURS, linewidth=2.6, label="this package")
        for number, (name, points) in enumerate(lines.items()):
            places, values = zip(*points, strict=True)
            colour, marker = _COLOURS[number % len(_COLOURS)], _MARKERS[number % len(_MARKERS)]
            axes.plot(places, values, color=colour, marker=marker, linewidth=1.4, markersize=4.5, label=name)
        axes.set_yscale("log")
        axes.set_xticks(range(len(labels)), labels)
        axes.set_xlabel("batch, sentences, units", color=_GREY)
        axes.set_ylabel("times our time, forward and backward", color=_GREY)
        axes.tick_params(which="both", colors=_GREY, labelcolor=_GREY)
        axes.grid(visible=True, which="major", color=_GREY, alpha=0.25, linewidth=0.6)
        for name, spine in axes.spines.items():
            spine.set_color(_GREY)
            spine.set_visible(name in ("left", "bottom"))
        figure.legend(loc="outside right center", frameon=False, labelcolor=_GREY, reverse=True)
        drawn = io.BytesIO()
        metadata = {"Date": None} if ending == "svg" else None
        figure.savefig(drawn, format=ending, dpi=160, transparent=True, metadata=metadata)
    write_atomically(path, drawn.getvalue())


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
