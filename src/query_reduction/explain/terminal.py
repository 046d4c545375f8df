"""A trace as a coloured table in the terminal, laid out as in the paper's figures."""

from __future__ import annotations

from rich.style import Style
from rich.table import Table
from rich.text import Text

from query_reduction.explain.columns import gate_columns, red, word_columns
from query_reduction.explain.trace import Trace

__all__ = ["gate_table"]

_BAR_WIDTH = 8
# Widths of columns in characters, their frames included; sentences and queries wrap to no less.
_SENTENCE_ROOM, _BAR_ROOM, _GATE_ROOM, _WORDS_ROOM = 13, 16, 7, 11
_EIGHTHS = " ▏▎▍▌▋▊▉█"


def gate_table(trace: Trace, *, width: int, most: int = 40) -> Table:
    """One row per sentence: its gates, its contribution and, where the model can decode it, the reduced query.

    For a story longer than ``most`` the sentences that contributed most are shown, in story order. If ``width`` is too
    small for all columns, the last reduced queries are kept, then the update gates.
    """
    table = Table(title_justify="left", header_style="bold", padding=(0, 1))
    columns = gate_columns(trace)
    shares = trace.shares()
    room = width - _SENTENCE_ROOM - _BAR_ROOM
    if len(columns) * _GATE_ROOM > room:
        columns = [column for column in columns if column.mark not in ("→r", "←r")]
    words = word_columns(trace)
    fitting = max(room - len(columns) * _GATE_ROOM, 0) // _WORDS_ROOM
    spoken = words[max(len(words) - fitting, 0) :]
    table.add_column("sentence", overflow="fold", ratio=2)
    for column in columns:
        table.add_column(column.title, justify="right", no_wrap=True)
    table.add_column("contributed", no_wrap=True)
    for title, _ in spoken:
        table.add_column(title, overflow="fold", ratio=1, style="italic")
    empty = [""] * (len(columns) + 1 + len(spoken))
    shown = sorted(trace.ranking()[:most])
    before = -1
    for row in shown:
        if row > before + 1:
            table.add_row(_left_out(row - before - 1), *empty)
        before = row
        table.add_row(
            Text(trace.sentences[row]),
            *(_gate(float(column.values[row])) for column in columns),
            _bar(float(shares[row])),
            *(Text(texts[row]) for _, texts in spoken),
        )
    if before < len(trace.sentences) - 1:
        table.add_row(_left_out(len(trace.sentences) - 1 - before), *empty)
    table.add_section()
    table.add_row(Text.assemble(trace.question, "  ", (trace.answer, "bold")), *empty)
    return table


def _left_out(count: int) -> Text:
    return Text(f"… {count} sentence{'s' * (count != 1)} that contributed less", style="dim")


def _gate(gate: float) -> Text:
    """The gate's value on red that deepens with it."""
    return Text(f"{gate:.2f}", style=Style(color="#ffffff" if gate > 0.6 else "#000000", bgcolor=red(gate)))


def _bar(share: float) -> Text:
    eighths = round(share * _BAR_WIDTH * 8)
    bar = "█" * (eighths // 8) + (_EIGHTHS[eighths % 8] if eighths % 8 else "")
    return Text.assemble((f"{bar:<{_BAR_WIDTH}}", "blue"), f"{share:5.0%}")
