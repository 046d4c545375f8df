"""A trace as a coloured table in the terminal, laid out as in the paper's figures, with a legend."""

from __future__ import annotations

from rich.box import SIMPLE_HEAD
from rich.console import Group
from rich.style import Style
from rich.table import Table
from rich.text import Text

from query_reduction.explain.columns import GateColumn, WordColumn, gate_columns, legend, red, word_columns
from query_reduction.explain.path import path_of
from query_reduction.explain.trace import Trace

__all__ = ["gate_table"]

_BAR_WIDTH = 4
# Widths of columns in characters, with the space between columns. Sentences and queries wrap to no less than theirs.
_SENTENCE_ROOM, _SHARE_ROOM, _GATE_ROOM, _WORDS_ROOM = 30, 10, 5, 18
_EIGHTHS = " ▏▎▍▌▋▊▉█"


def gate_table(trace: Trace, *, width: int, most: int = 40) -> Group:
    """One row per sentence: its gates, its share and, where the model can decode it, the reduced query; a legend below.

    For a story longer than ``most`` the sentences that contributed most are shown, in story order. If ``width`` is too
    small for all columns, the sentences stay readable: reset gates and halting are left out first, then queries in
    words.
    """
    columns, spoken = _fitting(gate_columns(trace), word_columns(trace), width)
    table = Table(box=SIMPLE_HEAD, header_style="bold", padding=0, show_edge=False)
    table.add_column("sentence", overflow="fold", ratio=3)
    for column in columns:
        table.add_column(column.title, justify="right", no_wrap=True)
    table.add_column("share", justify="right", no_wrap=True)
    for title, _ in spoken:
        table.add_column(title, overflow="fold", ratio=2, style="italic")
    shares = trace.shares()
    empty = [""] * (len(columns) + 1 + len(spoken))
    shown = sorted(trace.ranking()[:most])
    before = -1
    for row in shown:
        if row > before + 1:
            table.add_row(_omitted(row - before - 1), *empty)
        before = row
        table.add_row(
            Text(trace.sentences[row]),
            *(_gate(float(column.values[row])) for column in columns),
            _share(float(shares[row])),
            *(Text(texts[row]) for _, texts in spoken),
        )
    if before < len(trace.sentences) - 1:
        table.add_row(_omitted(len(trace.sentences) - 1 - before), *empty)
    asked = Text.assemble(trace.question, "  ", (trace.answer, "bold"))
    path = path_of(trace)
    followed: list[Text | str] = [Text(str(path)), ""] if path else []
    return Group(table, asked, "", *followed, *(Text(line, style="dim") for line in legend(columns, spoken)))


def _fitting(
    columns: list[GateColumn], words: list[WordColumn], width: int
) -> tuple[list[GateColumn], list[WordColumn]]:
    """The gates and queries in words that fit beside the sentences: the last queries are the most reduced ones."""
    room = width - _SENTENCE_ROOM - _SHARE_ROOM
    if len(columns) * _GATE_ROOM > room:
        columns = [column for column in columns if column.mark not in ("→r", "←r", "h")]
    fitting = max(room - len(columns) * _GATE_ROOM, 0) // _WORDS_ROOM
    words = [(title, texts) for title, texts in words if any(texts)]
    return columns, words[max(len(words) - fitting, 0) :]


def _omitted(count: int) -> Text:
    return Text(f"… {count} sentence{'s' * (count != 1)} that contributed less", style="dim")


def _gate(gate: float) -> Text:
    """The gate's value on red that deepens with it; black is readable on all of it."""
    return Text(f"{gate:.2f}", style=Style(color="#000000", bgcolor=red(gate)))


def _share(share: float) -> Text:
    eighths = round(share * _BAR_WIDTH * 8)
    bar = "█" * (eighths // 8) + (_EIGHTHS[eighths % 8] if eighths % 8 else "")
    return Text.assemble((f"{bar:<{_BAR_WIDTH}}", "blue"), f"{share:5.0%}")
