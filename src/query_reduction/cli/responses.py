"""The scores of a dialog model as a table: three measures, always all of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.table import Table

__all__ = ["response_table"]


def response_table(scores: Mapping[str, Mapping[str, Any]]) -> Table:
    """One row a set of test dialogs."""
    table = Table(title="accuracy of responses, %", title_justify="left")
    for title in ("dialogs", "exact match", "per slot (the paper's)", "per dialog", "responses"):
        table.add_column(title, justify="left" if title == "dialogs" else "right")
    for name, score in scores.items():
        measures = [f"{score[measure]:.2f}" for measure in ("exact_match", "per_slot", "per_dialog")]
        table.add_row(name, *measures, str(score["responses"]))
    return table
