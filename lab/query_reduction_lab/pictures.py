"""Pictures of measured figures, drawn by matplotlib in one style that reads on light and on dark pages.

An SVG says in its description what it was drawn from, so that a test can compare a published picture with the results
without comparing strokes, which differ between versions of matplotlib.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from query_reduction.errors import needs

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["FIRST", "GREY", "draw", "drawn_from", "look", "plain_axes"]

GREY = "#808891"
"""Readable on white and on black alike; so are the other colours. The background stays transparent."""
FIRST = "#e8590c"
"""The colour of what a picture is about."""
_COLOURS = ("#4c8bf5", "#2f9e6e", "#b06fd8", "#c2941f", "#1f9fb5", "#d65c8a", "#8a8f98")
_MARKERS = "sD^vPX*h"
"""One more than colours."""
_DESCRIPTION = "{http://purl.org/dc/elements/1.1/}description"


def look(number: int) -> dict[str, Any]:
    """Colour and marker of the next things in a picture: no two of fifty look alike."""
    return {"color": _COLOURS[number % len(_COLOURS)], "marker": _MARKERS[number % len(_MARKERS)]}


def draw(
    paint: Callable[[Figure], None], *, title: str, data: Any, width: float, height: float, ending: str = "svg"
) -> bytes:
    """The content of a picture of this size in inches; ``data`` is what ``paint`` draws, as plain values."""
    with needs("plots", "pictures"):
        from matplotlib.backends.backend_svg import FigureCanvasSVG  # noqa: F401
        from matplotlib.figure import Figure
    about = {"Date": None, "Title": title, "Description": json.dumps(data)} if ending == "svg" else None
    with _style():
        figure = Figure(figsize=(width, height), layout="constrained")
        paint(figure)
        content = io.BytesIO()
        figure.savefig(content, format=ending, dpi=160, transparent=True, metadata=about)
    return content.getvalue()


def drawn_from(svg: str) -> Any:
    """The values that a picture was drawn from."""
    found = ElementTree.fromstring(svg).iter(_DESCRIPTION)
    return json.loads(next(iter(found)).text or "null")


def plain_axes(axes: Axes, across: str, up: str) -> None:
    """Grey lines and names, nothing above and on the right."""
    axes.set_xlabel(across, color=GREY)
    axes.set_ylabel(up, color=GREY)
    axes.tick_params(which="both", colors=GREY, labelcolor=GREY)
    axes.grid(visible=True, which="major", color=GREY, alpha=0.25, linewidth=0.6)
    axes.title.set_color(GREY)
    for name, spine in axes.spines.items():
        spine.set_color(GREY)
        spine.set_visible(name in ("left", "bottom"))


@contextmanager
def _style() -> Iterator[None]:
    """Text stays text in an SVG; the fixed salt makes the same figures the same file."""
    import matplotlib

    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "query-reduction", "font.size": 10}):
        yield
