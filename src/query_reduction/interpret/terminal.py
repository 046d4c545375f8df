"""Gates as a coloured table in the terminal, laid out as in the paper's figures."""

from __future__ import annotations

import numpy as np
from rich.style import Style
from rich.table import Table
from rich.text import Text

from query_reduction.interpret.trace import Trace

__all__ = ["gate_table"]


def gate_table(trace: Trace, *, most: int = 40) -> Table:
    """One row a sentence, one column a gate; of a long story the ``most`` last sentences."""
    table = Table(title_justify="left", header_style="bold", padding=(0, 1))
    columns: list[np.ndarray] = []
    table.add_column("sentence", overflow="fold", ratio=1)
    for number, layer in enumerate(trace.layers, start=1):
        for mark, gate in (("z", layer.update), ("→r", layer.reset_forward), ("←r", layer.reset_backward)):
            if gate is not None:
                table.add_column(f"{mark}{_superscript(number)}", justify="right")
                columns.append(gate)
    first = max(0, len(trace.sentences) - most)
    if first:
        table.add_row(Text(f"… {first} earlier sentences", style="dim"), *[""] * len(columns))
    for row in range(first, len(trace.sentences)):
        table.add_row(Text(trace.sentences[row]), *(_cell(float(column[row])) for column in columns))
    table.add_section()
    table.add_row(Text.assemble(trace.question, "  ", (trace.answer, "bold")), *[""] * len(columns))
    return table


def _cell(gate: float) -> Text:
    """The gate's value on red that deepens with it, as the paper prints it."""
    fade = round(255 * (1 - gate))
    foreground = "#ffffff" if gate > 0.6 else "#000000"
    return Text(f"{gate:.2f}", style=Style(color=foreground, bgcolor=f"#ff{fade:02x}{fade:02x}"))


def _superscript(number: int) -> str:
    return "".join("⁰¹²³⁴⁵⁶⁷⁸⁹"[int(digit)] for digit in str(number))
