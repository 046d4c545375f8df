"""qrn explain"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from rich.table import Table
from rich.text import Text

from query_reduction.cli.arguments import POSITIONAL
from query_reduction.cli.output import console, headline, notes, print_json, print_reading
from query_reduction.cli.story_input import story_from
from query_reduction.errors import InputError
from query_reduction.explain import html, picture
from query_reduction.explain.terminal import gate_table
from query_reduction.files import write_atomically
from query_reduction.model import DialogModel, load
from query_reduction.pointing.model import PointerModel
from query_reduction.settings import Between

__all__ = ["Explain"]


@dataclass(frozen=True)
class Explain:
    """Show how a trained model arrived at an answer: gates, reduced queries and what each sentence contributed.

    Without --html, --png, --svg or --json the picture is drawn in the terminal.

        qrn explain task2 --story story.txt --question "Where is the milk?"
        qrn explain task2 --story story.txt --question "Where is the milk?" --html page.html
    """

    model: Annotated[str, POSITIONAL]
    """A model file, the folder of a training run, or the name of a ready model ('qrn models' lists them)."""
    question: str
    """The question."""
    story: str | None = None
    """A text file (prose, or one sentence per line; of a bAbI or .jsonl file the first story), - for standard input, or
    the story itself in quotes."""
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
        model = load(self.model)
        if isinstance(model, PointerModel):
            return self._explain_pointing(model)
        if isinstance(model, DialogModel):
            raise InputError(f"{self.model} holds conversations: use 'qrn chat' and /why")
        trace = model.explain(story_from(self.story), self.question)
        if self.html:
            write_atomically(self.html, html.page(trace))
        for path in (self.png, self.svg):
            if path:
                picture.write_picture(trace, path, most=self.sentences)
        written = [path for path in (self.html, self.png, self.svg) if path]
        if self.json:
            print_json(trace.as_json(vectors=self.vectors))
        elif written:
            notes.print(f"{headline(trace.result)}: {', '.join(map(str, written))}", markup=False)
        else:
            console.print(headline(trace.result))
            print_reading(trace.notes())
            console.print(gate_table(trace, width=console.width, most=self.sentences))
        return 0

    def _explain_pointing(self, model: PointerModel) -> int:
        """The answer, where it stands, and how far each sentence replaced the query."""
        if self.html or self.png or self.svg:
            raise InputError("pictures show answers from a list; one that is pointed at has --json and the terminal")
        answer = model.answer(story_from(self.story), self.question)
        if self.json:
            print_json({"question": self.question, "sentences": list(answer.read.story), **answer.as_json()})
            return 0
        console.print(headline(answer))
        print_reading(answer.notes())
        table = Table()
        for title in ("sentence", *(f"gate {layer}" for layer in range(1, len(answer.gates) + 1))):
            table.add_column(title, overflow="fold")
        for number, sentence in enumerate(answer.read.story[: self.sentences]):
            shown = Text(sentence)
            if answer.place is not None and answer.place.sentence == number:
                shown.stylize("bold red", *answer.place.characters)
            table.add_row(shown, *(f"{layer[number]:.2f}" for layer in answer.gates))
        console.print(table)
        return 0
