"""Learning curves as a picture: one small chart per data set, error against the number of stories, a line per way."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape

__all__ = ["curves_picture"]

_COLOURS = ("#1f5fa8", "#c0562b")
_DASHES = ("", ' stroke-dasharray="6 4"')
"""Lines differ without colours, too."""
_ACROSS = 3
_PANEL_WIDTH, _PANEL_HEIGHT = 250, 190
_LEFT, _RIGHT, _TOP, _BOTTOM = 52, 12, 30, 34
_LEGEND = 30


def curves_picture(curves: Mapping[str, Mapping[str, Mapping[int, float]]], title: str) -> str:
    """An SVG picture of error in percent: data set → way → number of stories → error. All have the same axes."""
    ways = list(dict.fromkeys(way for lines in curves.values() for way in lines))
    sizes = sorted({size for lines in curves.values() for line in lines.values() for size in line})
    highest = max(error for lines in curves.values() for line in lines.values() for error in line.values())
    top = max(10, 20 * math.ceil(highest / 20))
    rows = -(-len(curves) // _ACROSS)
    width, height = _ACROSS * _PANEL_WIDTH, rows * _PANEL_HEIGHT + _LEGEND
    parts = [
        f'<g transform="translate({number % _ACROSS * _PANEL_WIDTH} {number // _ACROSS * _PANEL_HEIGHT})">'
        f"{_panel(name, [lines.get(way, {}) for way in ways], sizes, top)}</g>"
        for number, (name, lines) in enumerate(curves.items())
    ]
    for number, way in enumerate(ways):
        x, y = _LEFT + number * 190, height - 12
        parts.append(
            f'<line x1="{x}" x2="{x + 32}" y1="{y - 4}" y2="{y - 4}" stroke="{_COLOURS[number]}" stroke-width="2"'
            f'{_DASHES[number]}/><text x="{x + 40}" y="{y}">{escape(way)}</text>'
        )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="{escape(title)}" width="{width}" '
        f'height="{height}" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12">'
        f'<rect width="100%" height="100%" fill="#fff"/>{"".join(parts)}</svg>\n'
    )


def _panel(name: str, lines: Sequence[Mapping[int, float]], sizes: Sequence[int], top: int) -> str:
    first, last = math.log(sizes[0]), math.log(sizes[-1])

    def x(size: int) -> float:
        return round(_LEFT + (math.log(size) - first) / (last - first) * (_PANEL_WIDTH - _LEFT - _RIGHT - 12), 1)

    def y(error: float) -> float:
        return round(_TOP + (1 - error / top) * (_PANEL_HEIGHT - _TOP - _BOTTOM), 1)

    parts = [f'<text x="{_LEFT}" y="{_TOP - 12}" font-weight="bold">{escape(name)}</text>']
    for error in (0, top // 2, top):
        parts.append(
            f'<line x1="{_LEFT}" x2="{_PANEL_WIDTH - _RIGHT}" y1="{y(error)}" y2="{y(error)}" stroke="#ddd"/>'
            f'<text x="{_LEFT - 6}" y="{y(error) + 4}" text-anchor="end">{error} %</text>'
        )
    base = _PANEL_HEIGHT - _BOTTOM + 16
    parts += [f'<text x="{x(size)}" y="{base}" text-anchor="middle">{size}</text>' for size in sizes]
    for colour, dashes, line in zip(_COLOURS, _DASHES, lines, strict=False):
        points = [(x(size), y(error)) for size, error in sorted(line.items())]
        path = " ".join(f"{across},{down}" for across, down in points)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"{dashes}/>')
        parts += [f'<circle cx="{across}" cy="{down}" r="3" fill="{colour}"/>' for across, down in points]
    return "".join(parts)
