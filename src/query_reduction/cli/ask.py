"""qrn ask"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Annotated, Any

from rich.markup import escape

from query_reduction.cli.arguments import POSITIONAL
from query_reduction.cli.output import console, print_json, print_reading
from query_reduction.cli.story_input import is_large, is_piped, lines_from, prompt, sentences_from
from query_reduction.errors import InputError
from query_reduction.explain.terminal import gate_table
from query_reduction.explain.trace import Trace
from query_reduction.model import DialogModel, StoryModel, load
from query_reduction.pointing.model import PhraseAnswer, PointerModel
from query_reduction.reading.stories import Answer

__all__ = ["Ask"]


@dataclass(frozen=True)
class Ask:
    """Ask a trained model about a story.

    The story comes from a file, from standard input, or, when neither is given, from the keyboard.
    """

    model: Annotated[str, POSITIONAL]
    """A model file, the folder of a training run, or the name of a ready model ('qrn models' lists them)."""
    story: str | None = None
    """A text file, one sentence per line or prose (or a bAbI or .jsonl file: its first story); - for standard input."""
    question: str | None = None
    """The question; without one (and with the story in a file) questions are read from the keyboard."""
    stream: bool = False
    """Read the story line by line, however long it is, without showing gates; text files of more than a megabyte are
    always read like that."""
    gates: bool = True
    """Show the gates behind the answer."""
    json: bool = False
    """Print the answer as one JSON object."""

    def run(self) -> int:
        """Answer one question, or start an interactive session."""
        model = load(self.model)
        if isinstance(model, DialogModel):
            raise InputError(f"{self.model} holds conversations: use 'qrn chat'")
        if is_piped(self.story) and self.question is None:
            raise InputError("a story on standard input needs --question")
        if isinstance(model, PointerModel) and (self.stream or is_large(self.story)):
            raise InputError(f"{self.model} points at the text and reads it as a whole: give a shorter story")
        if isinstance(model, StoryModel) and (self.stream or is_large(self.story)):
            questions = iter(lambda: prompt("question (empty line to end): "), "")
            for question in questions if self.question is None else [self.question]:
                with lines_from(self.story) as lines:
                    answer = model.answer_from(lines, question)
                self._show(answer, question)  # where the progress bar was
            return 0
        sentences = sentences_from(self.story)
        if self.question is not None:
            self._answer(model, sentences, self.question)
            return 0
        while question := prompt("question (empty line to end): "):
            self._answer(model, sentences, question)
        return 0

    def _answer(self, model: StoryModel | PointerModel, sentences: list[str], question: str) -> None:
        trace = None
        if isinstance(model, StoryModel) and self.gates and model.shows_reading:
            # Only the JSON object has the answers at earlier endings, for which the story is read again.
            trace = model.explain(sentences, question, endings=self.json)
        self._show(trace.as_answer() if trace else model.answer(sentences, question), question, trace)

    def _show(self, answer: Answer, question: str, trace: Trace | None = None) -> None:
        if self.json:
            value: dict[str, Any] = {"question": question, **asdict(answer), "notes": answer.notes()}
            if trace:
                value["trace"] = trace.as_json()
            print_json(value)
            return
        console.print(f"[bold]{escape(answer.text)}[/]  ({answer.confidence:.0%} sure)")
        if isinstance(answer, PhraseAnswer) and answer.place:
            start, end = answer.place.characters
            where = f"sentence {answer.place.sentence + 1}, characters {start} to {end}"
            console.print(f"it stands in {where}", style="dim", markup=False)
        if answer.runners_up:
            others = ", ".join(f"{text} {probability:.1%}" for text, probability in answer.runners_up)
            console.print(f"then: {others}", style="dim", markup=False)
        print_reading(answer.notes())
        if trace:
            console.print(gate_table(trace, width=console.width))
