"""qrn models"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from query_reduction.cli.output import console, print_json
from query_reduction.models import ReadyModel, ready_models

__all__ = ["Models"]


@dataclass(frozen=True)
class Models:
    """List the models that come with the package.

    Their names work wherever a verb takes a model.

        qrn models
    """

    json: bool = False
    """Print them, with their whole cards, as one JSON object."""

    def run(self) -> int:
        """List."""
        models = ready_models()
        if self.json:
            print_json({"models": [{"name": m.name, "bytes": m.size, "card": dict(m.card)} for m in models]})
            return 0
        table = Table(box=SIMPLE_HEAD, header_style="bold", padding=(0, 1), pad_edge=False)
        for title in ("name", "what it answers", "network", "size", "error, generated", "error, published"):
            table.add_column(
                title,
                justify="right" if title.startswith(("size", "error")) else "left",
                no_wrap=title == "what it answers",
            )
        for model in models:
            table.add_row(*_row(model))
        console.print(table)
        if not models:
            console.print("this copy of the package contains no models; 'qrn train' makes one")
        return 0


def _row(model: ReadyModel) -> list[Text]:
    card = model.card
    cells = [
        model.name,
        str(card.get("title", "")),
        str(card.get("network", "")),
        f"{model.size / 1000:.0f} kB",
        _percent(card.get("errors", {}).get("generated")),
        _percent(card.get("errors", {}).get("published")),
    ]
    return [Text(cell) for cell in cells]


def _percent(error: Any) -> str:
    return f"{error:.1f} %" if isinstance(error, int | float) else "–"
