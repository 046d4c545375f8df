"""Speed against the length of the story as a picture that reads on light and on dark pages; needs matplotlib."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

from query_reduction.bench.tables import short_count
from query_reduction.errors import InputError
from query_reduction.files import write_atomically

__all__ = ["check_picture", "draw_curve"]

_GREY = "#808891"
"""Readable on white and on black alike; so are the colours below. The background stays transparent."""
_OURS = "#e8590c"
_COLOURS = ("#4c8bf5", "#2f9e6e", "#b06fd8", "#c2941f", "#1f9fb5", "#d65c8a", "#8a8f98")
_MARKERS = "sD^vPX*"
_ENDINGS = ("svg", "png", "pdf")


def check_picture(path: Path) -> None:
    """Say before hours of measuring what would keep the picture from being drawn."""
    if path.suffix.lower().removeprefix(".") not in _ENDINGS:
        raise InputError(f"{path}: pictures end in .svg, .png or .pdf")
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError as error:
        raise InputError("pictures need matplotlib: pip install 'query-reduction[plots]'") from error


def draw_curve(curve: dict[str, Any], path: Path) -> None:
    """Draw sentences a second against sentences a story, both on logarithmic axes, one line a contender."""
    check_picture(path)
    import matplotlib
    from matplotlib.backends.backend_svg import FigureCanvasSVG  # noqa: F401
    from matplotlib.figure import Figure

    lines: dict[str, list[tuple[int, float]]] = {}
    for row in curve["rows"]:
        for contender in row["contenders"]:
            speed = row["batch"] * row["time"] / contender["seconds"]["median"]
            lines.setdefault(contender["name"], []).append((row["time"], speed))
    ours = next(iter(lines), "")
    ending = path.suffix.lower().removeprefix(".")
    # Text stays text in an SVG; the fixed salt makes the same figures the same file.
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "query-reduction", "font.size": 10}):
        figure = Figure(figsize=(8.2, 4.6), layout="constrained")
        axes = figure.add_subplot()
        drawn_names = [*(name for name in lines if name != ours), ours]
        for number, name in enumerate(drawn_names):
            own = name == ours
            lengths, speeds = zip(*lines[name], strict=True)
            colour = _OURS if own else _COLOURS[number % len(_COLOURS)]
            axes.plot(
                lengths,
                speeds,
                color=colour,
                marker="o" if own else _MARKERS[number % len(_MARKERS)],
                linewidth=2.6 if own else 1.4,
                markersize=6 if own else 4.5,
                label=f"{name} (this package)" if own else name,
            )
        axes.set_xscale("log", base=2)
        axes.set_yscale("log")
        lengths_shown = sorted({row["time"] for row in curve["rows"]})
        axes.set_xticks(lengths_shown, [short_count(length) for length in lengths_shown])
        axes.set_xlabel("sentences in a story", color=_GREY)
        axes.set_ylabel("sentences a second, forward and backward", color=_GREY)
        axes.tick_params(which="both", colors=_GREY, labelcolor=_GREY)
        axes.grid(visible=True, which="major", color=_GREY, alpha=0.25, linewidth=0.6)
        for name, spine in axes.spines.items():
            spine.set_color(_GREY)
            spine.set_visible(name in ("left", "bottom"))
        handles, labels = axes.get_legend_handles_labels()
        # In the order of the lines at the left edge, fastest first.
        order = sorted(range(len(labels)), key=lambda place: -lines[drawn_names[place]][0][1])
        figure.legend(
            [handles[place] for place in order],
            [labels[place] for place in order],
            loc="outside right center",
            frameon=False,
            labelcolor=_GREY,
        )
        drawn = io.BytesIO()
        metadata = {"Date": None} if ending == "svg" else None
        figure.savefig(drawn, format=ending, dpi=160, transparent=True, metadata=metadata)
    write_atomically(path, drawn.getvalue())
