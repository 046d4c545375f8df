"""A table as a standalone page: pictures are embedded, nothing is loaded from elsewhere."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

from query_reduction_lab.experiments.cells import ColumnResult, Table
from query_reduction_lab.experiments.report import Head, legend, remarks, sections

__all__ = ["to_html"]

_STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; margin: 2rem auto; max-width: 92rem; padding: 0 1rem; color: #1d2730;
  background: #fff }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: 13px }
th, td { padding: .2rem .5rem; text-align: right; border-bottom: 1px solid #dde3e8 }
thead tr:first-child th:first-child { text-align: left }
td { white-space: nowrap }
tbody th { text-align: left; font-weight: 400; position: sticky; left: 0; background: #fff }
small { color: #5c6872; font-size: 11px }
tr.summary > * { background: #f2f5f7 }
.wide { overflow-x: auto; max-width: 100% }
svg { display: block; margin: 1rem 0 2rem }
svg text { font: 11px system-ui, sans-serif; fill: #1d2730 }
@media (prefers-color-scheme: dark) {
  body, tbody th { background: #14191d } body { color: #dfe6eb } svg text { fill: #dfe6eb }
  small { color: #a5b1ba } tr.summary > * { background: #1f272d } th, td { border-color: #333e46 }
}
"""
_PAPER, _OURS, _DOT = "#9aa7b1", "#1f77b4", "#d9622b"
_HEIGHT, _LEFT, _BAND = 190, 40, 44
_LEGEND_WIDTH = 330
_MOST_TICKS = 6


def to_html(table: Table) -> str:
    """The page."""
    parts = []
    for section in sections(table):
        head = "".join(
            f'<th scope="colgroup" colspan="{len(head.below)}">{escape(head.name)}</th>' for head in section.heads
        )
        below = "".join(f'<th scope="col">{kind}</th>' for head in section.heads for kind in head.below)
        rows = [_row(label, cells, section.heads, "") for label, cells in section.body]
        rows += [_row(label, cells, section.heads, ' class="summary"') for label, cells in section.summary]
        heading = f"<h2>{escape(section.title)}</h2>" if section.title != table.title else ""
        parts.append(
            heading
            + _wide(
                section.title,
                f'<table><thead><tr><th scope="col" rowspan="2">task</th>{head}</tr>'
                f"<tr>{below}</tr></thead><tbody>{''.join(rows)}</tbody></table>",
            )
        )
    for column in table.columns:
        if column.measured:
            name = column.name + (f", errors counted {column.measure}" if len(table.measures) > 1 else "")
            title = f"{name}: error by task"
            parts.append(f"<h2>{escape(title)}</h2>{_wide(title, _chart(table.rows, column))}")
    notes = "".join(f"<p>{escape(note)}</p>" for note in remarks(table))
    commits = sorted({commit for column in table.columns for commit in column.commits})
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(table.title)}</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<meta name="color-scheme" content="light dark"><style>{_STYLE}</style></head><body><main>'
        f"<h1>{escape(table.title)}</h1><p>{escape(legend(table)).replace('`', '')}</p>{notes}{''.join(parts)}"
        f"<p>Computed by {escape(', '.join(commits) or 'nothing yet')}.</p></main></body></html>\n"
    )


def _wide(title: str, content: str) -> str:
    """What may be wider than the page scrolls by itself, also by keyboard."""
    return f'<div class="wide" tabindex="0" role="region" aria-label="{escape(title)}">{content}</div>'


def _row(label: str, cells: Sequence[str], heads: Sequence[Head], kind: str) -> str:
    ours = [name == "ours" for head in heads for name in head.below]
    values = []
    for text, own in zip(cells, ours, strict=True):
        chosen, _, spread = text.partition(" ")
        values.append(
            f"<td><b>{escape(chosen)}</b> <small>{escape(spread)}</small></td>" if own else f"<td>{text}</td>"
        )
    return f'<tr{kind}><th scope="row">{escape(label)}</th>{"".join(values)}</tr>'


def _ticks(largest: float) -> list[float]:
    """Round numbers from 0 to at least the largest error."""
    scale = 10.0 ** math.floor(math.log10(largest / _MOST_TICKS))
    step = next(times * scale for times in (1, 2, 5, 10, 20) if times * scale * (_MOST_TICKS - 1) >= largest)
    return [round(step * number, 6) for number in range(math.ceil(largest / step - 1e-9) + 1)]


def _chart(rows: Sequence[str], column: ColumnResult) -> str:
    """Bars for the paper and for ours, and a dot for every restart."""
    shown = [row for row in rows if row in column.measured]
    cells = [column.measured[row] for row in shown]
    published = [column.published.get(row) for row in shown]
    ticks = _ticks(max([5.0, *(error or 0.0 for error in published), *(max(cell.errors) for cell in cells)]))
    # However few the tasks, the legend fits.
    width = max(_LEFT + _BAND * len(shown) + 10, _LEFT + _LEGEND_WIDTH)

    def y(error: float) -> float:
        return round(10 + _HEIGHT * (1 - error / ticks[-1]), 1)

    parts = []
    for error in ticks:
        parts.append(
            f'<line x1="{_LEFT}" x2="{width}" y1="{y(error)}" y2="{y(error)}" stroke="#8886" stroke-width=".5"/>'
        )
        parts.append(f'<text class="tick" x="{_LEFT - 6}" y="{y(error) + 4}" text-anchor="end">{error:g}</text>')
    for place, (row, cell, paper) in enumerate(zip(shown, cells, published, strict=True)):
        x = _LEFT + place * _BAND + 6
        for offset, bar, colour in ((0, paper, _PAPER), (12, cell.error, _OURS)):
            if bar is not None:
                height = round(y(0) - y(bar), 1)
                parts.append(f'<rect x="{x + offset}" y="{y(bar)}" width="11" height="{height}" fill="{colour}"/>')
        parts += [
            f'<circle cx="{x + 30}" cy="{y(error)}" r="2.2" fill="{_DOT}" fill-opacity=".55"/>' for error in cell.errors
        ]
        parts.append(f'<text x="{x + 14}" y="{_HEIGHT + 26}" text-anchor="middle">{escape(row)}</text>')
    legend_y = _HEIGHT + 46
    for offset, colour, text in ((0, _PAPER, "paper"), (80, _OURS, "ours, chosen"), (200, _DOT, "every restart")):
        if text != "paper" or column.published:
            parts.append(f'<rect x="{_LEFT + offset}" y="{legend_y - 9}" width="10" height="10" fill="{colour}"/>')
            parts.append(f'<text class="legend" x="{_LEFT + offset + 15}" y="{legend_y}">{text}</text>')
    label = escape(f"error in percent by task, {column.name}, paper and ours")
    return (
        f'<svg role="img" aria-label="{label}" width="{width}" height="{legend_y + 8}" '
        f'viewBox="0 0 {width} {legend_y + 8}">{"".join(parts)}</svg>'
    )
