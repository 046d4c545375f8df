"""A trace as HTML: one standalone file without scripts or outside resources, or a fragment for a notebook.

A long story stays readable: the sentences that contributed most come first, the whole story is folded below.
"""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from importlib.resources import files

from query_reduction.explain.columns import GateColumn, gate_columns, legend, word_columns
from query_reduction.explain.trace import Trace
from query_reduction.reading.stories import Ranked

__all__ = ["fragment", "page", "style"]

_SHORT_STORY = 30
"""Stories up to this long are shown whole."""
_MOST_SHOWN = 20
"""For longer ones, this many sentences are shown above the fold."""


def page(trace: Trace) -> str:
    """A whole document."""
    title = escape(f"{trace.question} {trace.answer}")
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        f"<title>{title}</title>\n</head>\n<body>\n<main>\n{_section(trace, 'h1')}</main>\n</body>\n</html>\n"
    )


def style() -> str:
    """The style sheet of everything in a ``qrn-trace``."""
    return files(__package__).joinpath("trace.css").read_text(encoding="utf-8")


def fragment(trace: Trace) -> str:
    """The trace as a section with its own style, for a notebook cell."""
    return _section(trace, "p")


def _section(trace: Trace, heading: str) -> str:
    parts = [f'<style>{style()}</style>\n<section class="qrn-trace">\n', _head(trace, heading)]
    positions = range(len(trace.sentences))
    if len(trace.sentences) <= _SHORT_STORY:
        parts.append(_table(trace, positions, whole=True))
    else:
        parts.append(f"<h2>The {_MOST_SHOWN} sentences that contributed most</h2>\n")
        parts.append(_table(trace, trace.ranking()[:_MOST_SHOWN]))
        parts.append(f"<details><summary>All {len(trace.sentences)} sentences, in story order</summary>\n")
        parts.append(_table(trace, positions, whole=True))
        parts.append("</details>\n")
    parts += [f'<p class="note">{escape(line)}</p>\n' for line in legend(gate_columns(trace), word_columns(trace))]
    parts.append("</section>\n")
    return "".join(parts)


def _head(trace: Trace, heading: str) -> str:
    others = ", ".join(f"{escape(answer)} {probability:.1%}" for answer, probability in trace.ranked[1:4])
    lines = [
        f'<{heading} class="question">{escape(trace.question)}</{heading}>\n',
        f'<p class="answer"><strong>{escape(trace.answer)}</strong> <span>{trace.confidence:.1%} sure</span></p>\n',
    ]
    if others:
        lines.append(f'<p class="note">then {others}</p>\n')
    lines += [f'<p class="note">{escape(note)}</p>\n' for note in trace.notes()]
    return "".join(lines)


def _table(trace: Trace, positions: Iterable[int], *, whole: bool = False) -> str:
    """The sentences at these places among those read; of the whole story also those that were left out, greyed."""
    columns = gate_columns(trace)
    spoken = word_columns(trace)
    shares = trace.shares().tolist()
    highest = max(shares, default=0.0) or 1.0
    head = [
        '<div class="scroll" tabindex="0" role="region" aria-label="the sentences and their gates"><table>\n',
        '<thead><tr><th scope="col" class="number">#</th><th scope="col">sentence</th>',
        *(f'<th scope="col" class="gate">{_heading(column)}</th>' for column in columns),
        '<th scope="col">share</th>',
        *(f'<th scope="col" class="query">{title}</th>' for title, _ in spoken),
        '<th scope="col" title="the answer if the story ended after this sentence">ending here</th>'
        if trace.ending_here
        else "",
        "</tr></thead>\n<tbody>\n",
    ]
    values = [column.values.tolist() for column in columns]
    rows: dict[int, str] = {}
    for row in positions:
        width = 100 * shares[row] / highest
        cells = [
            f'<tr><td class="number">{trace.positions[row] + 1}</td>',
            f'<th scope="row" class="sentence">{escape(trace.sentences[row])}</th>',
            *(_gate_cell(gate[row]) for gate in values),
            f'<td class="share"><span><i style="width:{width:.0f}%"></i></span><b>{shares[row]:.1%}</b></td>',
            *(f'<td class="query">{escape(texts[row])}</td>' for _, texts in spoken),
            f'<td class="ending">{_ending(trace.ending_here[row])}</td>' if trace.ending_here else "",
            "</tr>\n",
        ]
        rows[trace.positions[row]] = "".join(cells)
    if whole:
        rows |= {place: _omitted(place + 1, trace.story[place]) for place in trace.omitted}
        rows = dict(sorted(rows.items()))
    return "".join([*head, *rows.values(), "</tbody></table></div>\n"])


def _omitted(number: int, sentence: str) -> str:
    return (
        f'<tr class="unread" title="could not be read and was left out"><td class="number">{number}</td>'
        f'<th scope="row" class="sentence">{escape(sentence)}</th></tr>\n'
    )


def _heading(column: GateColumn) -> str:
    """The symbol for the eye, the name for the ear."""
    symbol = f'<span aria-hidden="true">{column.mark}<sup>{column.layer}</sup></span>'
    return f'{symbol}<span class="spoken">{escape(column.name)}</span>'


def _gate_cell(gate: float) -> str:
    return f'<td class="gate" style="--g:{100 * gate:.0f}%">{gate:.2f}</td>'


def _ending(ranked: Ranked) -> str:
    answer, probability = ranked[0]
    return f"{escape(answer)} <small>{probability:.0%}</small>"
