"""A table as a page that stands alone: pictures are drawn into it, nothing is loaded from elsewhere."""

from __future__ import annotations

from html import escape
from typing import Any

from query_reduction.experiments.report import legend, remarks, sections

__all__ = ["to_html"]

_STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; margin: 2rem auto; max-width: 92rem; padding: 0 1rem; color: #1d2730 }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: 13px }
th, td { padding: .2rem .5rem; text-align: right; border-bottom: 1px solid #dde3e8 }
th:first-child, td:first-child { text-align: left }
td { white-space: nowrap }
small { color: #6b7782; font-size: 11px }
tr.summary td { background: #f2f5f7 }
.wide { overflow-x: auto }
svg { display: block; margin: 1rem 0 2rem; max-width: 100%; height: auto }
svg text { font: 11px system-ui, sans-serif; fill: #1d2730 }
@media (prefers-color-scheme: dark) {
  body { background: #14191d; color: #dfe6eb } svg text { fill: #dfe6eb }
  tr.summary td { background: #1f272d } th, td { border-color: #333e46 }
}
"""
_PAPER, _OURS, _DOT = "#9aa7b1", "#1f77b4", "#d9622b"
_HEIGHT, _LEFT, _BAND = 190, 40, 44


def to_html(table: dict[str, Any]) -> str:
    """The page."""
    parts = []
    for section in sections(table):
        width = len(section.below)
        head = "".join(f'<th colspan="{width}">{escape(name)}</th>' for name in section.heads)
        below = "".join(f"<th>{kind}</th>" for _ in section.heads for kind in section.below)
        rows = [_row(label, cells, width, "") for label, cells in section.body]
        rows += [_row(label, cells, width, ' class="summary"') for label, cells in section.summary]
        heading = f"<h2>{escape(section.title)}</h2>" if section.title != table["title"] else ""
        parts.append(
            f'{heading}<div class="wide"><table><thead><tr><th rowspan="2">task</th>{head}</tr>'
            f"<tr>{below}</tr></thead><tbody>{''.join(rows)}</tbody></table></div>"
        )
    several = len(parts) > 1
    for column in table["columns"]:
        if column["measured"]:
            name = column["name"] + (f", errors counted {column['measure']}" if several else "")
            parts.append(f"<h2>{escape(name)}: error by task</h2>{_chart(table['rows'], column)}")
    notes = "".join(f"<p>{escape(note)}</p>" for note in remarks(table))
    commits = sorted({commit for column in table["columns"] for commit in column["commits"]})
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{escape(table["title"])}</title>'
        f'<meta name="viewport" content="width=device-width"><style>{_STYLE}</style>'
        f"<h1>{escape(table['title'])}</h1><p>{escape(legend(table)).replace('`', '')}</p>{notes}{''.join(parts)}"
        f"<p>Computed by {escape(', '.join(commits) or 'nothing yet')}.</p></html>\n"
    )


def _row(label: str, cells: list[str], width: int, kind: str) -> str:
    values = []
    for number, text in enumerate(cells):
        chosen, _, spread = text.partition(" ")
        ours = f"<b>{escape(chosen)}</b> <small>{escape(spread)}</small>"
        values.append(f"<td>{ours if number % width == width - 1 else escape(text)}</td>")
    return f"<tr{kind}><td>{escape(label)}</td>{''.join(values)}</tr>"


def _chart(rows: list[str], column: dict[str, Any]) -> str:
    """Bars for the paper and for ours, and a dot for every restart."""
    shown = [row for row in rows if row in column["measured"]]
    cells = [column["measured"][row] for row in shown]
    published = [column["published"].get(row, 0.0) for row in shown]
    top: float = max([5.0, *published, *(max(cell["errors"]) for cell in cells)])
    width = _LEFT + _BAND * len(shown) + 10

    def y(error: float) -> float:
        return round(10 + _HEIGHT * (1 - error / top), 1)

    parts = []
    for step in range(5):
        error = top * step / 4
        parts.append(
            f'<line x1="{_LEFT}" x2="{width}" y1="{y(error)}" y2="{y(error)}" stroke="#8886" stroke-width=".5"/>'
        )
        parts.append(f'<text x="{_LEFT - 6}" y="{y(error) + 4}" text-anchor="end">{error:.0f}</text>')
    for place, (row, cell, paper) in enumerate(zip(shown, cells, published, strict=True)):
        x = _LEFT + place * _BAND + 6
        for offset, error, colour in ((0, paper, _PAPER), (12, cell["error"], _OURS)):
            height = round(y(0) - y(error), 1)
            parts.append(f'<rect x="{x + offset}" y="{y(error)}" width="11" height="{height}" fill="{colour}"/>')
        parts += [
            f'<circle cx="{x + 30}" cy="{y(error)}" r="2.2" fill="{_DOT}" fill-opacity=".55"/>'
            for error in cell["errors"]
        ]
        parts.append(f'<text x="{x + 14}" y="{_HEIGHT + 26}" text-anchor="middle">{escape(row)}</text>')
    legend_y = _HEIGHT + 46
    for offset, colour, text in ((0, _PAPER, "paper"), (80, _OURS, "ours, chosen"), (200, _DOT, "every restart")):
        parts.append(f'<rect x="{_LEFT + offset}" y="{legend_y - 9}" width="10" height="10" fill="{colour}"/>')
        parts.append(f'<text x="{_LEFT + offset + 15}" y="{legend_y}">{text}</text>')
    label = escape(f"error in percent by task, {column['name']}, paper and ours")
    return (
        f'<svg role="img" aria-label="{label}" width="{width}" height="{legend_y + 8}" '
        f'viewBox="0 0 {width} {legend_y + 8}">{"".join(parts)}</svg>'
    )
