"""Error against training time, one dot per system: the picture of a table that compares systems."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from query_reduction_lab.experiments.cells import ResultTable
from query_reduction_lab.pictures import GREY, draw, look, plain_axes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Dot", "dots_of", "systems_picture"]


@dataclass(frozen=True, slots=True)
class Dot:
    """A system."""

    name: str
    minutes: float
    """Training time of one restart on the tasks that are averaged."""
    chosen: float
    """The average error of the chosen restarts."""
    mean: float
    """The mean over all restarts."""


def dots_of(table: ResultTable) -> list[Dot]:
    """The systems that have the pictured average; none if the table compares no systems."""
    found = []
    for column in table.columns if table.systems else ():
        summary = column.summaries.get(table.pictured)
        complete = summary is not None and summary.average is not None and summary.mean is not None
        if column.measure == table.measures[0] and complete and column.seconds and not column.control:
            assert summary is not None
            minutes = column.minutes_of_one(summary.rows)
            found.append(Dot(column.name, round(minutes, 4), summary.average or 0.0, summary.mean or 0.0))
    return found


def systems_picture(table: ResultTable) -> bytes:
    """An SVG picture. A filled mark is the average error of the chosen restarts, an open one the mean over all."""
    dots = dots_of(table)

    def paint(figure: Figure) -> None:
        axes = figure.add_subplot()
        for number, dot in enumerate(dots):
            axes.plot([dot.minutes] * 2, [dot.chosen, dot.mean], color=GREY, linewidth=0.8, zorder=1)
            axes.plot(
                dot.minutes, dot.mean, linestyle="", markerfacecolor="none", markersize=6, clip_on=False, **look(number)
            )
            axes.plot(
                dot.minutes, dot.chosen, linestyle="", markersize=7, clip_on=False, label=dot.name, **look(number)
            )
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter("{x:g}")
        axes.set_ylim(bottom=0)
        error = f"{table.pictured.replace('average', 'average error', 1)}, percent"
        plain_axes(axes, "minutes of training per restart on the tasks that are averaged, one core", error)
        figure.legend(loc="outside right center", frameon=False, labelcolor=GREY)

    title = f"{table.title}: error against time"
    return draw(paint, title=title, data=[asdict(dot) for dot in dots], width=7.2, height=4.4)
