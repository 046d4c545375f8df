"""A trace as a picture (PNG, SVG, PDF) in the layout of the paper's figures; needs matplotlib."""

from __future__ import annotations

import io
import textwrap
from pathlib import Path
from typing import Any

from query_reduction.errors import InputError, install
from query_reduction.explain.columns import gate_columns, red
from query_reduction.explain.trace import Trace
from query_reduction.files import write_atomically

__all__ = ["write_picture"]

_ROW = 0.32
_GATE = 0.62
_CHARACTER = 0.083
_LONGEST_LINE = 70
_FONT = 10


def write_picture(trace: Trace, path: Path, *, most: int = 30) -> None:
    """Draw the ``most`` sentences that contributed most, in story order; the file's suffix determines the format."""
    try:
        from matplotlib.backends.backend_svg import FigureCanvasSVG  # noqa: F401
        from matplotlib.figure import Figure
    except ImportError as error:
        raise InputError(f"pictures need matplotlib: {install('plots')}") from error
    ending = path.suffix.lower().removeprefix(".")
    if ending not in ("png", "svg", "pdf"):
        raise InputError(f"{path}: pictures end in .png, .svg or .pdf")
    rows = sorted(trace.ranking()[:most])
    texts = [textwrap.shorten(trace.sentences[row], _LONGEST_LINE, placeholder=" …") for row in rows]
    columns = gate_columns(trace)
    question = textwrap.shorten(trace.question, _LONGEST_LINE, placeholder=" …")
    longest = max([len(text) for text in texts] + [len(question) + len(trace.answer) - len(columns) * 6, 24])
    left = longest * _CHARACTER + 0.2
    width = left + _GATE * len(columns) + 1.1
    height = _ROW * (len(rows) + 3)
    figure = Figure(figsize=(width, height), facecolor="white")
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_xlim(0, width)
    axes.set_ylim(height, 0)
    axes.axis("off")

    def text(x: float, row: float, content: str, **style: Any) -> None:
        # Dollar signs would start a formula.
        axes.text(x, (row + 0.5) * _ROW, content.replace("$", r"\$"), va="center", fontsize=_FONT, **style)

    def line(row: int) -> None:
        axes.plot([0, width], [row * _ROW, row * _ROW], color="black", linewidth=0.8)

    for layer in sorted({column.layer for column in columns}):
        places = [place for place, column in enumerate(columns) if column.layer == layer]
        middle = left + _GATE * (places[0] + len(places) / 2)
        text(middle, 0, f"{columns[0].stage.capitalize()} {layer}", ha="center", fontweight="bold")
        axes.plot([left + _GATE * places[0]] * 2, [0, _ROW * (len(rows) + 2)], color="black", linewidth=0.8)
    for place, column in enumerate(columns):
        mark = {"→r": r"\overrightarrow{r}\,", "←r": r"\overleftarrow{r}\,"}.get(column.mark, column.mark)
        axes.text(
            left + _GATE * (place + 0.5), 1.5 * _ROW, f"${mark}^{{{column.layer}}}$", ha="center", va="center",
            fontsize=_FONT + 1,
        )  # fmt: skip
    text(left + _GATE * len(columns) + 0.55, 1, "share", ha="center")
    for number, (row, sentence) in enumerate(zip(rows, texts, strict=True), start=2):
        text(0.1, number, sentence)
        for place, column in enumerate(columns):
            gate = float(column.values[row])
            corner = (left + _GATE * place, number * _ROW)
            axes.add_patch(_rectangle(corner, _GATE, _ROW, red(gate)))
            text(corner[0] + _GATE / 2, number, f"{gate:.2f}", ha="center")
        share = float(trace.shares()[row])
        axes.add_patch(
            _rectangle((left + _GATE * len(columns) + 0.05, (number + 0.25) * _ROW), share, 0.5 * _ROW, "#9dbdf5")
        )
        text(left + _GATE * len(columns) + 0.55, number, f"{share:.0%}", ha="center")
    for row in (0, 1, 2, len(rows) + 2, len(rows) + 3):
        line(row)
    text(0.1, len(rows) + 2, question)
    text(width - 0.1, len(rows) + 2, trace.answer, ha="right", fontweight="bold")
    content = io.BytesIO()
    # Without a date the same trace gives the same file.
    figure.savefig(content, format=ending, dpi=200, metadata={"Date": None} if ending == "svg" else None)
    write_atomically(path, content.getvalue())


def _rectangle(corner: tuple[float, float], width: float, height: float, colour: str) -> Any:
    from matplotlib.patches import Rectangle

    return Rectangle(corner, width, height, facecolor=colour, edgecolor="none")
