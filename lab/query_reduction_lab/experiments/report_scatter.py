"""Error against training time, one dot per system: the picture of a table that compares systems."""

from __future__ import annotations

import math
from dataclasses import dataclass
from html import escape

from query_reduction_lab.experiments.cells import Table

__all__ = ["to_scatter"]

_WIDTH, _HEIGHT = 640, 400
_LEFT, _RIGHT, _TOP, _BOTTOM = 60, 110, 20, 50
_GAP, _LETTER, _LINE, _DOT = 9, 8, 14, 4
"""The distance of a name from its dot, about the width of a letter, the height of a line, and a dot's radius."""
_TICKS = tuple(step * 10.0**power for power in range(-2, 5) for step in (1, 2, 5))


@dataclass(frozen=True, slots=True)
class _Dot:
    name: str
    minutes: float
    chosen: float
    mean: float


@dataclass(frozen=True, slots=True)
class _Line:
    """Where something stands that must not be written over: a line of text, or a dot as high as one."""

    left: float
    right: float
    base: float

    def meets(self, other: _Line) -> bool:
        return self.left < other.right and other.left < self.right and abs(self.base - other.base) < _LINE


def to_scatter(table: Table) -> str | None:
    """An SVG picture of the systems that have the pictured average; None if none has, or the table compares no systems.

    A filled dot is the average error of the chosen restarts, an open one the mean over all restarts.
    """
    dots = _dots(table) if table.systems else []
    if not dots:
        return None
    times = [dot.minutes for dot in dots]
    lowest, highest = math.log10(min(times)) - 0.2, math.log10(max(times)) + 0.2
    top = 10 * math.ceil(max(max(dot.chosen, dot.mean) for dot in dots) / 10)

    def x(minutes: float) -> float:
        share = (math.log10(minutes) - lowest) / (highest - lowest)
        return round(_LEFT + share * (_WIDTH - _LEFT - _RIGHT), 1)

    def y(error: float) -> float:
        return round(_TOP + (1 - error / top) * (_HEIGHT - _TOP - _BOTTOM), 1)

    parts = [_grid(y(error), f"{error}") for error in range(0, top + 1, 10 if top <= 60 else 20)]
    base = _HEIGHT - _BOTTOM
    ticks = [(x(tick), f"{tick:g}") for tick in _TICKS if lowest <= math.log10(tick) <= highest]
    parts += [f'<text x="{place}" y="{base + 18}" text-anchor="middle">{label}</text>' for place, label in ticks]
    taken = [
        _Line(place - _LETTER * len(label) / 2, place + _LETTER * len(label) / 2, base + 18) for place, label in ticks
    ]
    for dot in dots:
        taken += [
            _Line(x(dot.minutes) - _DOT, x(dot.minutes) + _DOT, y(error) + _DOT) for error in (dot.chosen, dot.mean)
        ]
    for dot in dots:
        place = x(dot.minutes)
        name, line = _name(dot.name, place, y(dot.chosen), taken)
        taken.append(line)
        parts.append(
            f'<line x1="{place}" x2="{place}" y1="{y(dot.chosen)}" y2="{y(dot.mean)}" stroke="#888"/>'
            f'<circle cx="{place}" cy="{y(dot.mean)}" r="{_DOT}" fill="#fff" stroke="#1f5fa8"/>'
            f'<circle cx="{place}" cy="{y(dot.chosen)}" r="{_DOT + 0.5}" fill="#1f5fa8"/>{name}'
        )
    middle = (_LEFT + _WIDTH - _RIGHT) / 2
    parts.append(
        f'<text x="{middle}" y="{_HEIGHT - 10}" text-anchor="middle">'
        "minutes of training per restart on the tasks that are averaged, one core</text>"
        f'<text transform="translate(16 {_HEIGHT / 2}) rotate(-90)" text-anchor="middle">'
        f"{escape(table.pictured.replace('average', 'average error', 1))}, percent</text>"
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="{escape(table.title)}: error against time" '
        f'width="{_WIDTH}" height="{_HEIGHT}" viewBox="0 0 {_WIDTH} {_HEIGHT}" font-family="sans-serif" font-size="13">'
        f'<rect width="100%" height="100%" fill="#fff"/>{"".join(parts)}</svg>\n'
    )


def _name(name: str, x: float, y: float, taken: list[_Line]) -> tuple[str, _Line]:
    """A name where it runs into nothing: right of its dot if it can be, else left of it, below, above or aslant."""
    width = _LETTER * len(name)
    right, left = f'x="{x + _GAP}"', f'x="{x - _GAP}" text-anchor="end"'
    middle = f'x="{x}" text-anchor="middle"'
    places = [
        (_Line(x + _GAP, x + _GAP + width, y + 4), right),
        (_Line(x - _GAP - width, x - _GAP, y + 4), left),
        (_Line(x - width / 2, x + width / 2, y + 18), middle),
        (_Line(x - width / 2, x + width / 2, y - 12), middle),
        *((_Line(x + _GAP, x + _GAP + width, y + 4 + step), right) for step in (-_LINE, _LINE)),
        *((_Line(x - _GAP - width, x - _GAP, y + 4 + step), left) for step in (-_LINE, _LINE)),
    ]
    free = (
        (line, where) for line, where in places if line.left > _LEFT and not any(line.meets(other) for other in taken)
    )
    line, where = next(free, places[0])
    return f'<text {where} y="{round(line.base, 1)}">{escape(name)}</text>', line


def _dots(table: Table) -> list[_Dot]:
    found = []
    for column in table.columns:
        summary = column.summaries.get(table.pictured)
        complete = summary is not None and summary.average is not None and summary.mean is not None
        if column.measure == table.measures[0] and complete and column.seconds and not column.control:
            assert summary is not None
            minutes = column.minutes_of_one(summary.rows)
            found.append(_Dot(column.name, minutes, summary.average or 0.0, summary.mean or 0.0))
    return found


def _grid(height: float, label: str) -> str:
    return (
        f'<line x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{height}" y2="{height}" stroke="#ddd"/>'
        f'<text x="{_LEFT - 8}" y="{height + 4}" text-anchor="end">{label}</text>'
    )
