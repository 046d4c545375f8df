"""Learning curves as a picture: one small chart per data set, error against the number of stories, a line per way."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from query_reduction_lab.pictures import FIRST, GREY, draw, look, plain_axes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["curves_picture"]

_ACROSS = 3
_LOOKS = ({"color": FIRST, "marker": "o"}, look(0) | {"linestyle": "--"})
"""Lines differ without colours, too."""


def curves_picture(curves: Mapping[str, Mapping[str, Mapping[int, float]]], title: str) -> bytes:
    """An SVG picture of error in percent: data set → way → number of stories → error. All have the same axes."""
    sizes = sorted({size for lines in curves.values() for line in lines.values() for size in line})
    highest = max(error for lines in curves.values() for line in lines.values() for error in line.values())
    rows = -(-len(curves) // _ACROSS)

    def paint(figure: Figure) -> None:
        panels = figure.subplots(rows, _ACROSS, sharex=True, sharey=True, squeeze=False).flat
        for panel in panels[len(curves) :]:
            panel.set_visible(False)
        for panel, (name, lines) in zip(panels, curves.items(), strict=False):
            for style, (way, line) in zip(_LOOKS, lines.items(), strict=True):
                panel.plot(list(line), list(line.values()), markersize=4, label=way, **style)
            panel.set_title(name, fontsize=10)
            panel.set_xscale("log")
            panel.set_xticks(sizes, [str(size) for size in sizes])
            panel.minorticks_off()
            panel.set_ylim(0, 1.05 * highest)
            plain_axes(panel, "stories", "error, percent")
            panel.label_outer()
        handles, names = panels[0].get_legend_handles_labels()
        figure.legend(handles, names, loc="outside lower center", ncols=2, frameon=False, labelcolor=GREY)

    return draw(paint, title=title, data=curves, width=8.0, height=0.5 + 2.2 * rows)
