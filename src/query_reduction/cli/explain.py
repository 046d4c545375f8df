"""qrn explain"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from rich.markup import escape

from query_reduction.cli.arguments import POSITIONAL
from query_reduction.cli.output import console, notes, print_json, print_reading
from query_reduction.cli.story_input import sentences_from
from query_reduction.errors import InputError
from query_reduction.explain import html, picture
from query_reduction.explain.terminal import gate_table
from query_reduction.files import write_atomically
from query_reduction.model import DialogModel, load_listed
from query_reduction.settings import Between

__all__ = ["Explain"]


@dataclass(frozen=True)
class Explain:
    """Show how a trained model arrived at an answer: gates, reduced queries and what each sentence contributed.

    Without --html, --png, --svg or --json the picture is drawn in the terminal.
    """

    model: Annotated[str, POSITIONAL]
    """A model file, the folder of a training run, or the name of a ready model ('qrn models' lists them)."""
    question: str
    """The question."""
    story: str | None = None
    """A text file, one sentence per line or prose (or a bAbI or .jsonl file: its first story); - for standard input."""
    html: Path | None = None
    """Write one standalone HTML file."""
    png: Path | None = None
    """Write a picture in the paper's layout."""
    svg: Path | None = None
    """Write the same picture as SVG."""
    sentences: Annotated[int, Between(1, 1_000_000)] = 30
    """How many sentences of a long story the terminal and the pictures show: those that contributed most."""
    vectors: bool = False
    """With --json: also candidates, reduced queries and every unit of vector gates."""
    json: bool = False
    """Print the trace as one JSON object."""

    def run(self) -> int:
        """Explain one answer."""
        model = load_listed(self.model)
        if isinstance(model, DialogModel):
            raise InputError(f"{self.model} holds conversations: use 'qrn chat' and /why")
        trace = model.explain(sentences_from(self.story), self.question)
        if self.html:
            write_atomically(self.html, html.page(trace))
        for path in (self.png, self.svg):
            if path:
                picture.write_picture(trace, path, most=self.sentences)
        written = [path for path in (self.html, self.png, self.svg) if path]
        if self.json:
            print_json(trace.as_json(vectors=self.vectors))
        elif written:
            notes.print(f"{trace.answer} ({trace.confidence:.0%} sure): {', '.join(map(str, written))}", markup=False)
        else:
            console.print(f"[bold]{escape(trace.answer)}[/]  ({trace.confidence:.0%} sure)")
            print_reading(trace.notes())
            console.print(gate_table(trace, width=console.width, most=self.sentences))
        return 0
